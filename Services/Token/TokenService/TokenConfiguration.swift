import Effects

/// `[token]` of `etc/fusion.toml`.
package struct TokenConfiguration: DaemonConfiguration {
    package static let section = "token"

    /// `iss` of every auth token. Backends may compare it; changing it changes nothing for us.
    package var issuer: String = "fusionbus"
    /// For owners that register their own; operators may register more for them.
    package var schemesPerOwnerMax: Int = 100
    /// Between two sweeps of rows that mean nothing any more.
    package var sweepIntervalSeconds: Int = 10
    /// Rows that one sweep removes from each table.
    package var sweepRowsMax: Int = 5_000

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        if !(1...256).contains(issuer.utf8.count) {
            problems.append("token.issuer takes 1 to 256 bytes")
        }
        if !(0...1_000).contains(schemesPerOwnerMax) {
            problems.append("token.schemesPerOwnerMax must lie in 0…1000")
        }
        if !(1...3_600).contains(sweepIntervalSeconds) {
            problems.append("token.sweepIntervalSeconds must lie in 1…3600")
        }
        if !(1...100_000).contains(sweepRowsMax) {
            problems.append("token.sweepRowsMax must lie in 1…100000")
        }
        return problems
    }
}
