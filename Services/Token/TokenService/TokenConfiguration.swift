import Effects

/// `[token]` of `etc/fusion.toml`.
package struct TokenConfiguration: DaemonConfiguration {
    package static let section = "token"

    /// `iss` of every auth token. Backends may compare it; changing it changes nothing for us.
    package var issuer: String = "fusionbus"
    /// For owners that register their own; operators may register more for them.
    package var schemesPerOwnerMax: Int = 100

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        if !(1...256).contains(issuer.utf8.count) {
            problems.append("token.issuer takes 1 to 256 bytes")
        }
        if !(0...1_000).contains(schemesPerOwnerMax) {
            problems.append("token.schemesPerOwnerMax must lie in 0…1000")
        }
        return problems
    }
}
