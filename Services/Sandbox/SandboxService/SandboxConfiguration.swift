import Effects

/// `[sandbox]` of `etc/fusion.toml`.
package struct SandboxConfiguration: DaemonConfiguration {
    package static let section = "sandbox"

    /// ISO 3166 two letters, for numbers written without country code; empty: none.
    package var defaultRegion: String = ""
    /// Tell the code service of every delivery, as a real provider does. Benchmarks may leave it out.
    package var deliveryReceipts: Bool = true

    package init() {}

    package func problems(isProduction: Bool) -> [String] {
        guard isProduction else { return [] }
        return [
            "* is not for production = true: the sandbox hands out numbers to anyone and does not "
                + "start there"
        ]
    }
}
