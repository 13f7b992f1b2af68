import Effects
package import Majordomo

/// `[broker]` of `etc/fusion.toml`. The socket's path and the keys come from the home.
package struct BrokerConfiguration: DaemonConfiguration {
    package static let section = "broker"

    /// A named local address, never a wildcard: the bus is for known machines.
    package var tcpHost = "127.0.0.1"
    /// 0 for any free port; `run/endpoints.json` tells which.
    package var tcpPort = 5570
    /// Without tcp the broker serves this machine alone.
    package var tcpEnabled = true
    /// How long the broker looks for more before it sleeps while traffic is recent; 0 turns it off.
    /// 100 halves the latency of single calls and costs nothing at rest.
    package var spinMicroseconds = 100
    /// In-flight requests may take this long when the broker ends.
    package var drainSeconds = 10
    /// Requests waiting for workers, per service name.
    package var queuedPerServiceMax = 10_000
    /// Bytes of bodies waiting, per service name, in MiB.
    package var queuedMebibytesPerServiceMax = 64
    /// Requests of one client without a final reply. Below every peer's pipe, so that none
    /// overflows.
    package var inFlightPerClientMax = 1_024
    /// Requests of all clients without a final reply.
    package var requestsMax = 100_000
    /// Bytes of all bodies held, in MiB.
    package var heldMebibytesMax = 512
    package var clientsMax = 65_536
    package var workersMax = 4_096
    /// Service names known at once.
    package var servicesMax = 4_096
    /// How long a request for a name without workers waits.
    package var unknownServiceMilliseconds = 5_000
    /// The deadline of a request that names none, and how long a plain worker may take.
    package var requestSeconds = 30

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) {
            if !range.contains(value) {
                problems.append("\(name): lies in \(range.lowerBound)…\(range.upperBound)")
            }
        }
        if tcpEnabled, tcpHost.isEmpty || tcpHost == "*" || tcpHost == "0.0.0.0" {
            problems.append("tcpHost: name one address of this machine, not all of them")
        }
        check("tcpPort", tcpPort, 0...65_535)
        check("spinMicroseconds", spinMicroseconds, 0...10_000)
        check("drainSeconds", drainSeconds, 0...300)
        check("queuedPerServiceMax", queuedPerServiceMax, 1...1_000_000)
        check("queuedMebibytesPerServiceMax", queuedMebibytesPerServiceMax, 1...16_384)
        check("inFlightPerClientMax", inFlightPerClientMax, 1...4_000)
        check("requestsMax", requestsMax, 1...10_000_000)
        check("heldMebibytesMax", heldMebibytesMax, 1...65_536)
        check("clientsMax", clientsMax, 1...1_000_000)
        check("workersMax", workersMax, 1...65_536)
        check("servicesMax", servicesMax, 2...65_536)
        check("unknownServiceMilliseconds", unknownServiceMilliseconds, 0...600_000)
        check("requestSeconds", requestSeconds, 1...600)
        return problems
    }

    package var limits: BrokerLimits {
        var limits = BrokerLimits()
        limits.queuedPerServiceMax = queuedPerServiceMax
        limits.queuedBytesPerServiceMax = queuedMebibytesPerServiceMax << 20
        limits.inFlightPerClientMax = inFlightPerClientMax
        limits.requestsMax = requestsMax
        limits.heldBytesMax = heldMebibytesMax << 20
        limits.clientsMax = clientsMax
        limits.workersMax = workersMax
        limits.servicesMax = servicesMax
        limits.unknownServiceWait = .milliseconds(unknownServiceMilliseconds)
        limits.requestTime = .seconds(requestSeconds)
        return limits
    }

    /// nil without tcp.
    package var tcpAddress: String? { tcpEnabled ? "tcp://\(tcpHost):\(tcpPort)" : nil }
}
