import Bus
import Glibc
import Majordomo
import Primitives
import ZeroMQTransport

/// A real broker in a fresh folder: ipc for the workers, whose uid is ours, and a free tcp port for
/// callers, because there each key is a principal.
final class SocketBus: Sendable {
    private struct State {
        var grants: [PeerIdentity: BrokerGrant]
        var links: [Principal: ZeroMQLink] = [:]
        var processes: [(host: String, thread: SocketThread)] = []
    }

    /// A process has one libzmq context; so have the tests.
    private static let context: ZeroMQContext = {
        guard let context = try? ZeroMQContext() else { preconditionFailure("no libzmq") }
        return context
    }()

    private let folder: TemporaryFolder
    private let server: BrokerServer
    private let keys: CurveKeyPair
    private let callers: SocketThread
    private let state: Lock<State>

    private init(
        _ folder: TemporaryFolder, _ server: BrokerServer, _ keys: CurveKeyPair,
        _ callers: SocketThread, _ grants: [PeerIdentity: BrokerGrant]
    ) {
        self.folder = folder
        self.server = server
        self.keys = keys
        self.callers = callers
        state = Lock(State(grants: grants))
    }

    static func start() -> SocketBus {
        guard let daemons = Principal(roles: .service, name: "daemons") else {
            preconditionFailure("a name of its own")
        }
        let grants: [PeerIdentity: BrokerGrant] = [
            .user(getuid()): BrokerGrant(principal: daemons, call: [], serve: [.all])
        ]
        let keys = CurveKeyPair.generate()
        let folder = TemporaryFolder()
        do {
            var settings = BrokerServer.Settings(
                ipcPath: folder.path + "/bus.ipc", tcpAddress: "tcp://127.0.0.1:0", curve: keys,
                policy: BrokerPolicy(grants))
            // A busy machine makes no test fail; what the real bounds do, the bus's own tests say.
            settings.limits.unknownServiceWait = .seconds(30)
            settings.limits.silentIntervalsMax = 40
            return SocketBus(
                folder, try BrokerServer.start(settings, context: context), keys,
                try SocketThread(context), grants)
        } catch {
            preconditionFailure("no broker on this machine: \(error)")
        }
    }

    func link(as principal: Principal) -> any BusLink {
        state.withLock { state in
            if let link = state.links[principal] { return link }
            let own = CurveKeyPair.generate()
            state.grants[.key(own.publicKey)] = BrokerGrant(
                principal: principal, call: [.all], serve: [])
            server.reload(BrokerPolicy(state.grants))
            let broker = BrokerEndpoint(
                address: server.tcpEndpoint ?? "", curve: (keys.publicKey, own))
            let link = ZeroMQLink([broker], thread: callers)
            state.links[principal] = link
            return link
        }
    }

    func listener(host: String) -> any BusListener {
        guard let thread = try? SocketThread(Self.context) else {
            preconditionFailure("no thread on this machine")
        }
        state.withLock { $0.processes.append((host, thread)) }
        return ZeroMQListener(
            [BrokerEndpoint(address: server.ipcEndpoint ?? "")], thread: thread)
    }

    func crash(host: String) {
        let gone = state.withLock { state in
            let gone = state.processes.filter { $0.host == host }
            state.processes.removeAll { $0.host == host }
            return gone
        }
        for process in gone { process.thread.stop() }
    }

    /// Returns when the endpoints and the folder are gone.
    func close() async {
        let processes = state.withLock { state in
            state.links = [:]
            defer { state.processes = [] }
            return state.processes
        }
        for process in processes { process.thread.stop() }
        callers.stop()
        await server.stopAndWait()
        folder.remove()
    }
}
