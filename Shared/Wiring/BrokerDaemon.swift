import Broker
import DaemonKit
import Effects
import Glibc
import Majordomo
import Primitives
import ZeroMQTransport

/// `fusion-broker`: the bus itself.
package enum BrokerDaemon {
    /// Runs the daemon and never returns. Call it from a synchronous `main`.
    @available(*, noasync)
    package static func run(_ name: String) -> Never {
        Daemon.run(name) { (configuration: BrokerConfiguration, context) in
            [try BrokerPart(configuration, context)]
        }
    }
}

/// The broker as a part: bound before it is made, so that a taken port ends the start with its reason.
private final class BrokerPart: DaemonPart {
    let name = "broker"
    private let server: BrokerServer
    private let endpointsFile: EndpointsFile
    private let end: AsyncStream<Void>
    private let ended: AsyncStream<Void>.Continuation

    init(_ configuration: BrokerConfiguration, _ context: DaemonContext) throws {
        let home = context.home
        let curve = configuration.tcpEnabled ? try BrokerKey.read(home) : nil
        var settings = BrokerServer.Settings(
            ipcPath: home.brokerSocket, tcpAddress: configuration.tcpAddress, curve: curve,
            policy: try PolicyBook(home: home).policy())
        let memory =
            configuration.tcpEnabled && configuration.tcpPort == 0
            ? PortMemory(home: home, daemon: context.daemon) : nil
        settings.tcpPortFirst = memory?.port
        settings.limits = configuration.limits
        settings.spinMicroseconds = Int64(configuration.spinMicroseconds)
        settings.drainMax = .seconds(configuration.drainSeconds)
        let server: BrokerServer
        do {
            server = try BrokerServer.start(settings, context: ZeroMQContext(), log: context.log)
        } catch {
            throw Self.explained(error, configuration)
        }
        self.server = server
        if let memory, let port = server.tcpEndpoint?.split(separator: ":").last {
            try Int(port).map(memory.keep)
        }
        endpointsFile = EndpointsFile(home: home)
        (end, ended) = AsyncStream.makeStream(of: Void.self)
        try endpointsFile.write(
            ipc: server.ipcEndpoint, tcp: server.tcpEndpoint, brokerKey: curve?.publicKey)
        context.hooks.onReload("policy") {
            try PolicyBook(home: home).readAndMark { server.reload($0) }
        }
        context.hooks.onClose("broker") { server.stop() }
    }

    func run() async throws {
        for await _ in end { break }
    }

    func drain() async {
        await server.drain()
        endpointsFile.removeBroker()
        ended.finish()
    }

    private static func explained(
        _ error: any Error, _ configuration: BrokerConfiguration
    ) -> any Error {
        guard let fault = error as? ZeroMQFault, fault.code == EADDRINUSE,
            let address = configuration.tcpAddress
        else { return error }
        return WiringProblem(
            "\(address) is taken by another program",
            next: "fusionctl init --port-base N, or stop what listens there (ss -ltnp)")
    }
}
