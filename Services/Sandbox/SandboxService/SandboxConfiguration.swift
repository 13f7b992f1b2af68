import Effects

/// `[sandbox]` of `etc/fusion.toml`.
package struct SandboxConfiguration: DaemonConfiguration {
    package static let section = "sandbox"

    /// Set on machines that serve real people: the sandbox does not start there.
    package var production: Bool = false
    /// ISO 3166 two letters, for numbers written without country code; empty: none.
    package var defaultRegion: String = ""
    /// Tell the code service of every delivery, as a real provider does. Benchmarks may leave it out.
    package var deliveryReceipts: Bool = true

    package init() {}

    package func problems() -> [String] {
        production
            ? ["production is true: the sandbox hands out numbers to anyone and must not run there"]
            : []
    }
}
