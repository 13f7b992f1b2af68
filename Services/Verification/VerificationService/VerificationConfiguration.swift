import Effects

/// `[verification]` of `etc/fusion.toml`.
package struct VerificationConfiguration: DaemonConfiguration {
    package static let section = "verification"

    /// How long a carrier may take. The lease of a verification is one second longer.
    package var carrierTimeoutMilliseconds: Int64 = 3_000
    /// How long a scorer may take on a PASS; later the PASS goes without a score.
    package var scoreTimeoutMilliseconds: Int64 = 500
    /// How long a verification stays on record after its token has expired. It covers the longest
    /// run, so that a scene finds its PASS; the key versions that rows name must live as long.
    package var recordHours: Int64 = 24

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        if !(100...30_000).contains(carrierTimeoutMilliseconds) {
            problems.append("carrierTimeoutMilliseconds must lie in 100…30000")
        }
        if !(0...5_000).contains(scoreTimeoutMilliseconds) {
            problems.append("scoreTimeoutMilliseconds must lie in 0…5000")
        }
        if !(3...720).contains(recordHours) {
            problems.append("recordHours must lie in 3…720: a run lasts up to 2 hours")
        }
        return problems
    }

    var carrierTimeout: Duration { .milliseconds(carrierTimeoutMilliseconds) }
    var scoreTimeout: Duration { .milliseconds(scoreTimeoutMilliseconds) }
    var recordLifetime: Duration { .seconds(recordHours * 3600) }
    /// A second beyond the longest call under it.
    var leaseFor: Duration { carrierTimeout + .seconds(1) }
}
