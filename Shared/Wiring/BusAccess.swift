package import Bus
import Cryptography
package import DaemonKit
package import Effects
import Primitives
package import ZeroMQTransport

/// The process's end of the bus: one libzmq context, one socket thread, the brokers it knows.
package final class BusAccess: Sendable {
    private let context: ZeroMQContext
    private let thread: SocketThread
    private let endpoints: [BrokerEndpoint]

    package init(_ endpoints: [BrokerEndpoint]) throws {
        self.endpoints = endpoints
        context = try ZeroMQContext()
        thread = try SocketThread(context)
    }

    package convenience init(home: Home, settings: BusSettings) throws {
        try self.init(try Self.endpoints(home, settings))
    }

    package func link() -> any BusLink { ZeroMQLink(endpoints, thread: thread) }

    package func listener() -> any BusListener { ZeroMQListener(endpoints, thread: thread) }

    package func caller(pause: any Pause = SystemPause()) -> LinkCaller {
        LinkCaller(link: link(), pause: pause, random: SodiumRandom())
    }

    /// Closes all sockets; calls that wait are cancelled.
    package func close() {
        thread.stop()
        context.end()
    }

    private static func endpoints(
        _ home: Home, _ settings: BusSettings
    ) throws -> [BrokerEndpoint] {
        guard !settings.brokers.isEmpty else {
            return [BrokerEndpoint(address: "ipc://\(home.brokerSocket)")]
        }
        let peer = settings.peerFile.isEmpty ? nil : try PeerFile(path: settings.peerFile)
        return try settings.brokers.map { broker in
            guard broker.endpoint.hasPrefix("tcp://") else {
                return BrokerEndpoint(address: broker.endpoint)
            }
            guard let serverKey = Z85.decode(broker.key), let peer else {
                throw WiringProblem(
                    "\(broker.endpoint) needs the broker's key and a peer file",
                    next: "fusionctl peer add NAME --role service --out FILE")
            }
            return BrokerEndpoint(
                address: broker.endpoint, curve: (serverKey, try peer.ownKeys()))
        }
    }
}

/// Why this process cannot be wired together, and what a person does about it.
package struct WiringProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let message: String
    package let next: String?

    package init(_ message: String, next: String? = nil) {
        self.message = message
        self.next = next
    }

    package var description: String { message + (next.map { " → \($0)" } ?? "") }
}

/// Random bytes for tools that have no parts.
package enum ToolRandom {
    package static let source: any RandomSource = SodiumRandom()
}

/// Signatures of requests, for tools that have no parts.
package enum ToolSecrets {
    package static let authenticator: any MessageAuthenticator = SodiumAuthenticator()
}
