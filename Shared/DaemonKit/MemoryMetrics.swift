import Effects
import Primitives

/// Counters and distributions of one process, in memory.
///
/// A distribution keeps counts per bucket, four buckets for each power of two (so a quantile is at
/// most a quarter too high), from 2⁻²⁰ to 2⁴⁰ of its unit. Series are bounded: once the bound is
/// reached, new ones go into `metrics_dropped` and existing ones live on.
package final class MemoryMetrics: Metrics {
    package static let seriesCountMaxDefault = 512

    private enum Series {
        case counter(Int64)
        case distribution(Distribution)
    }

    private struct State {
        var series: [String: Series] = [:]
        var droppedCount: Int64 = 0
    }

    private let seriesCountMax: Int
    private let state = Lock(State())

    package init(seriesCountMax: Int = MemoryMetrics.seriesCountMaxDefault) {
        self.seriesCountMax = seriesCountMax
    }

    package func add(_ amount: Int64, to counter: String, labels: [(String, String)]) {
        update(counter, labels, from: .counter(0)) { series in
            guard case .counter(let sum) = series else { return }
            series = .counter(sum.addingReportingOverflow(amount).partialValue)
        }
    }

    package func observe(_ value: Double, in distribution: String, labels: [(String, String)]) {
        update(distribution, labels, from: .distribution(Distribution())) { series in
            guard case .distribution(var known) = series else { return }
            // Taken out, so that its counts are not copied.
            series = .counter(0)
            known.add(value)
            series = .distribution(known)
        }
    }

    /// A distribution `d` gives `d_count`, `d_sum`, `d_p50`, `d_p99` and `d_max`.
    package func snapshot() -> [(name: String, value: Double)] {
        let (series, droppedCount) = state.withLock { ($0.series, $0.droppedCount) }
        var lines: [(name: String, value: Double)] = []
        for name in series.keys.sorted() {
            switch series[name] {
            case .counter(let sum): lines.append((name, Double(sum)))
            case .distribution(let distribution): lines += distribution.lines(name)
            case nil: break
            }
        }
        if droppedCount > 0 { lines.append(("metrics_dropped", Double(droppedCount))) }
        return lines.sorted { $0.name < $1.name }
    }

    private func update(
        _ name: String, _ labels: [(String, String)], from first: @autoclosure () -> Series,
        _ change: (inout Series) -> Void
    ) {
        let key = Self.key(name, labels)
        state.withLock { state in
            if let index = state.series.index(forKey: key) {
                change(&state.series.values[index])
            } else if state.series.count >= seriesCountMax {
                state.droppedCount += 1
            } else {
                var series = first()
                change(&series)
                state.series[key] = series
            }
        }
    }

    /// `name{a="b",c="d"}`, as text expositions write it.
    static func key(_ name: String, _ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return name }
        var key = name
        for (index, label) in labels.enumerated() {
            key += index == 0 ? "{" : ","
            key += label.0
            key += "=\""
            key += label.1.utf8.contains(where: isUnfit) ? fit(label.1) : label.1
            key += "\""
        }
        return key + "}"
    }

    private static func fit(_ value: String) -> String {
        String(decoding: value.utf8.filter { !isUnfit($0) }, as: UTF8.self)
    }

    private static func isUnfit(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\n")
    }
}

struct Distribution: Sendable {
    private static let exponentMin = -20
    private static let exponentMax = 40
    private static let stepsPerPower = 4

    private var counts = [UInt32](
        repeating: 0, count: (exponentMax - exponentMin) * stepsPerPower + 1)
    private var count: Int64 = 0
    private var sum = 0.0
    private var largest = 0.0

    mutating func add(_ value: Double) {
        guard value.isFinite, value >= 0 else { return }
        count += 1
        sum += value
        largest = max(largest, value)
        let bucket = Self.bucket(value)
        if counts[bucket] < .max { counts[bucket] += 1 }
    }

    /// The upper bound of the bucket in which the value of that rank lies, never above the largest
    /// seen.
    func quantile(_ share: Double) -> Double {
        guard count > 0 else { return 0 }
        let rank = Int64((share * Double(count)).rounded(.up))
        var passed: Int64 = 0
        for (bucket, held) in counts.enumerated() {
            passed += Int64(held)
            if passed >= rank { return min(largest, Self.upperBound(bucket)) }
        }
        return largest
    }

    func lines(_ name: String) -> [(name: String, value: Double)] {
        // Labels stay at the end: `d_count{a="b"}`.
        let base = name.prefix { $0 != "{" }
        let labels = name.dropFirst(base.count)
        return [
            ("\(base)_count\(labels)", Double(count)), ("\(base)_sum\(labels)", sum),
            ("\(base)_p50\(labels)", quantile(0.5)), ("\(base)_p99\(labels)", quantile(0.99)),
            ("\(base)_max\(labels)", largest),
        ]
    }

    private static func bucket(_ value: Double) -> Int {
        guard value > 0 else { return 0 }
        let exponent = Int(value.exponent)
        if exponent < exponentMin { return 0 }
        if exponent >= exponentMax { return (exponentMax - exponentMin) * stepsPerPower }
        let step = Int((value.significand - 1) * Double(stepsPerPower))
        return (exponent - exponentMin) * stepsPerPower + min(step, stepsPerPower - 1)
    }

    private static func upperBound(_ bucket: Int) -> Double {
        let (power, step) = bucket.quotientAndRemainder(dividingBy: stepsPerPower)
        let base = Double(sign: .plus, exponent: exponentMin + power, significand: 1)
        return base * (1 + Double(step + 1) / Double(stepsPerPower))
    }
}
