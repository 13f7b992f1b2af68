import Bus
import Glibc
import Majordomo
import Primitives
import Synchronization

@testable import ZeroMQTransport

/// A process has one libzmq context; so have the tests.
enum TestContext {
    static let context: ZeroMQContext = {
        guard let context = try? ZeroMQContext() else { preconditionFailure("no libzmq") }
        return context
    }()
    static let counter = Atomic<UInt64>(0)

    static func path() -> String {
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        return "/tmp/fusion-test-\(getpid())/bus-\(number).ipc"
    }
}

/// A broker on an ipc path and a free tcp port of its own. The tests' uid is the owner; two keys
/// are known.
struct TestBus {
    let server: BrokerServer
    let settings: BrokerServer.Settings
    let context: ZeroMQContext
    let brokerKeys: CurveKeyPair
    let integrator: CurveKeyPair

    static func start(
        at path: String = TestContext.path(), limits: BrokerLimits = BrokerLimits()
    ) throws -> TestBus {
        let keys = CurveKeyPair.generate()
        let integrator = CurveKeyPair.generate()
        var settings = BrokerServer.Settings(
            ipcPath: path, tcpAddress: "tcp://127.0.0.1:0", curve: keys,
            policy: policy(integrator, mayCall: ["echo"]))
        settings.limits = limits
        return TestBus(
            server: try BrokerServer.start(settings, context: TestContext.context),
            settings: settings, context: TestContext.context, brokerKeys: keys,
            integrator: integrator)
    }

    static func policy(_ integrator: CurveKeyPair, mayCall: [String]) -> BrokerPolicy {
        var grants: [PeerIdentity: BrokerGrant] = [:]
        if let owner = Principal(roles: [.operator], name: "owner") {
            grants[.user(getuid())] = BrokerGrant(
                principal: owner, call: [.all], serve: [.all])
        }
        if let shop = Principal(roles: [.integrator], name: "shop") {
            grants[.key(integrator.publicKey)] = BrokerGrant(
                principal: shop, call: mayCall.compactMap { NamePattern($0) }, serve: [])
        }
        return BrokerPolicy(grants)
    }

    var ipc: BrokerEndpoint { BrokerEndpoint(address: server.ipcEndpoint ?? "") }

    func tcp(_ own: CurveKeyPair) -> BrokerEndpoint {
        BrokerEndpoint(
            address: server.tcpEndpoint ?? "", curve: (brokerKeys.publicKey, own))
    }

    struct Serving {
        let link: ZeroMQLink
        let listener: ZeroMQListener
    }

    /// Runs `body` while one worker serves `service`; by default it answers who called and the
    /// body.
    func serving(
        _ service: String, credit: Int = 64, isRetrySafe: Bool = true,
        handler: @escaping BusHandler = TestBus.echo, _ body: (Serving) async throws -> Void
    ) async throws {
        let thread = try SocketThread(context)
        let listener = ZeroMQListener([ipc], thread: thread)
        let serving = Serving(link: ZeroMQLink([ipc], thread: thread), listener: listener)
        let registration = ServiceRegistration(
            service: service, instanceID: "i1", version: "1.0.0", credit: credit,
            isRetrySafe: isRetrySafe)
        let task = Task { try await listener.serve([registration], handler) }
        try await body(serving)
        await listener.drain()
        try await task.value
        thread.stop()
        server.stop()
    }

    static let echo: BusHandler = { _, header, body in
        let caller = header.principal?.description ?? "nobody"
        return BusReply(status: .ok, body: Array("\(caller) ".utf8) + body)
    }
}

extension BusLink {
    func call(
        _ service: String, _ body: [UInt8], milliseconds: UInt32 = 5_000
    ) async -> BusReply {
        await exchange(
            service,
            BusHeader(
                kind: .request, requestID: systemRandom(16), timeLeftMilliseconds: milliseconds),
            body)
    }
}
