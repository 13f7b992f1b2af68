import Effects

/// `[bus]` of `etc/fusion.toml`: where the brokers are, for daemons and for `fusionctl`.
package struct BusSettings: DaemonConfiguration {
    package static let section = "bus"

    /// One broker elsewhere.
    package struct Broker: DefaultedConfiguration {
        /// `ipc://path` or `tcp://host:port`.
        package var endpoint = ""
        /// The broker's public key, Z85; needed on tcp.
        package var key = ""

        package init() {}
    }

    /// Empty: the broker of this home, over ipc. Daemons register with every one.
    package var brokers: [Broker] = []
    /// A peer file of `fusionctl peer add`, for this process's own keys on tcp.
    package var peerFile = ""
    /// Requests that a worker takes at once.
    package var creditMax = 64

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        for broker in brokers {
            let isTCP = broker.endpoint.hasPrefix("tcp://")
            if !isTCP, !broker.endpoint.hasPrefix("ipc://") {
                problems.append("brokers: an endpoint begins with ipc:// or tcp://")
            }
            if isTCP, broker.key.utf8.count != 40 {
                problems.append("brokers: tcp needs the broker's key, 40 characters of Z85")
            }
            if isTCP, peerFile.isEmpty {
                problems.append("peerFile: tcp needs keys; fusionctl peer add makes the file")
            }
        }
        if !(1...1024).contains(creditMax) {
            problems.append("creditMax must lie in 1…1024, not \(creditMax)")
        }
        return problems
    }
}

/// `[store]` of `etc/fusion.toml`.
package struct StoreSettings: DaemonConfiguration {
    package static let section = "store"

    /// Decisions that may wait for the writer; one more is refused as overloaded.
    package var queueCountMax = 8_192
    /// Decisions of one commit, 1…256.
    package var groupCountMax = 256

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        if !(1...1_000_000).contains(queueCountMax) {
            problems.append("queueCountMax must lie in 1…1000000, not \(queueCountMax)")
        }
        if !(1...256).contains(groupCountMax) {
            problems.append("groupCountMax must lie in 1…256, not \(groupCountMax)")
        }
        return problems
    }
}
