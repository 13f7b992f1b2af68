import Effects

/// `[scene]` of `etc/fusion.toml`. Every default is the design's.
package struct SceneConfiguration: DaemonConfiguration, Equatable {
    package static let section = "scene"

    /// A run ends this long after the last thing that its client did. 60…7200.
    package var idleSeconds: Int64 = 1_800
    /// A run ends this long after its start at the latest. 60…86400, not below `idleSeconds`.
    package var runSeconds: Int64 = 7_200
    /// How long an ended run can still be read. 60…2592000; a week.
    package var keptSeconds: Int64 = 604_800
    /// Scene starts by one address (IPv4, IPv6 /64) per rolling hour; 0 allows none. Loopback is
    /// never counted.
    package var startsByAddressPerHour = 300
    /// How often runs whose time is over are ended and open requests are carried on. 1…3600.
    package var sweepSeconds: Int64 = 10
    /// An open request whose callee never answers is given up after so long. 10…3600.
    package var giveUpSeconds: Int64 = 120

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        func check(_ name: String, _ value: Int64, _ range: ClosedRange<Int64>) {
            if !range.contains(value) {
                problems.append("scene.\(name) must lie in \(range.lowerBound)…\(range.upperBound)")
            }
        }
        check("idleSeconds", idleSeconds, 60...7_200)
        check("runSeconds", runSeconds, 60...86_400)
        check("keptSeconds", keptSeconds, 60...2_592_000)
        check("startsByAddressPerHour", Int64(startsByAddressPerHour), 0...10_000)
        check("sweepSeconds", sweepSeconds, 1...3_600)
        check("giveUpSeconds", giveUpSeconds, 10...3_600)
        if runSeconds < idleSeconds {
            problems.append("scene.runSeconds is below scene.idleSeconds")
        }
        return problems
    }

    var retention: RunRetention {
        RunRetention(
            limits: RunLimits(idle: .seconds(idleSeconds), total: .seconds(runSeconds)),
            kept: .seconds(keptSeconds))
    }
}
