/// Counters and distributions. Names and label values are constants or come from small closed sets.
package protocol Metrics: Sendable {
    func add(_ amount: Int64, to counter: String, labels: [(String, String)])
    /// - Parameter value: in the unit that ends the name (`…_seconds`, `…_bytes`).
    func observe(_ value: Double, in distribution: String, labels: [(String, String)])
    /// Everything recorded so far, ordered by name, for `stats`.
    func snapshot() -> [(name: String, value: Double)]
}

extension Metrics {
    package func count(_ counter: String, _ labels: (String, String)...) {
        add(1, to: counter, labels: labels)
    }
}

package struct NoMetrics: Metrics {
    package init() {}
    package func add(_ amount: Int64, to counter: String, labels: [(String, String)]) {}
    package func observe(_ value: Double, in distribution: String, labels: [(String, String)]) {}
    package func snapshot() -> [(name: String, value: Double)] { [] }
}
