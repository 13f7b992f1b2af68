import Broker
import Bus
import CZeroMQ
import Glibc
import Majordomo
import Primitives
import Testing

@testable import ZeroMQTransport

@Suite("What a broker refuses to start on, and how it holds its place", .timeLimit(.minutes(1)))
struct EndpointTests {
    @Test("a second broker on the same path is refused, and the first goes on")
    func samePath() async throws {
        let path = TestContext.path()
        let bus = try TestBus.start(at: path)
        #expect(throws: SocketFile.Problem.inUse(path)) { try TestBus.start(at: path) }
        try await bus.serving("echo") { serving in
            #expect(await serving.link.call("echo", [1]).status == .ok)
        }
    }

    @Test("a path of more than 107 bytes is refused by name")
    func longPath() {
        let path = "/tmp/" + String(repeating: "x", count: 103)
        #expect(throws: SocketFile.Problem.pathTooLong(path)) { try TestBus.start(at: path) }
    }

    @Test("a stale socket is replaced, another file is not")
    func staleFile() async throws {
        let stale = TestContext.path()
        let first = try TestBus.start(at: stale)
        await first.server.stopAndWait()
        let bus = try TestBus.start(at: stale)
        bus.server.stop()
        let file = TestContext.path()
        close(creat(file, 0o600))
        #expect(throws: SocketFile.Problem.notASocket(file)) { try TestBus.start(at: file) }
        unlink(file)
    }

    @Test("tcp without keys, and no endpoint at all, are refused")
    func settings() throws {
        let policy = BrokerPolicy([:])
        #expect(throws: BrokerServer.Problem.noEndpoint) {
            try BrokerServer.start(.init(policy: policy), context: TestContext.context)
        }
        #expect(throws: BrokerServer.Problem.tcpWithoutCurve) {
            try BrokerServer.start(
                .init(tcpAddress: "tcp://127.0.0.1:0", policy: policy),
                context: TestContext.context)
        }
    }

    @Test("an ipc peer whose uid is not in the policy is not let in")
    func unknownUser() async throws {
        var settings = BrokerServer.Settings(
            ipcPath: TestContext.path(), policy: BrokerPolicy([:]))
        settings.limits.requestTime = .seconds(1)
        let server = try BrokerServer.start(settings, context: TestContext.context)
        let thread = try SocketThread(TestContext.context)
        let link = ZeroMQLink([BrokerEndpoint(address: server.ipcEndpoint ?? "")], thread: thread)
        #expect(await link.call("mmi.service", [], milliseconds: 10_000).status == .notAllowed)
        thread.stop()
        server.stop()
    }

    @Test("a peer without CURVE is not let in over tcp")
    func plainOverTCP() throws {
        let bus = try TestBus.start()
        defer { bus.server.stop() }
        let peer = try RawPeer(BrokerEndpoint(address: bus.server.tcpEndpoint ?? ""), bus.context)
        defer { peer.kill() }
        peer.send(["MDPC02", "\u{1}", "mmi.service", "x"])
        #expect(peer.receive(milliseconds: 200) == nil)
    }

    @Test("options are what was set")
    func options() throws {
        let socket = try ZeroMQSocket(TestContext.context.raw, type: ZMQ_DEALER)
        defer { socket.close() }
        try socket.setPeerOptions(isTCP: true, immediate: true, receiveHighWaterMark: 128)
        #expect(try socket.value(.linger) == 0)
        #expect(try socket.value(.sendHighWaterMark) == 1_024)
        #expect(try socket.value(.receiveHighWaterMark) == 128)
        #expect(try socket.value(.immediate) == 1)
        #expect(try socket.value(.heartbeatInterval) == 2_000)
        #expect(try socket.value(.reconnectIntervalMax) == 1_000)
        #expect(throws: ZeroMQFault.self) { try socket.set(.curveServerKey, [1, 2, 3]) }
    }

    @Test("CURVE keys survive their text form")
    func keys() {
        let pair = CurveKeyPair.generate()
        let text = Z85.encode(pair.publicKey)
        #expect(text.utf8.count == 40)
        #expect(Z85.decode(text) == pair.publicKey)
        // The vector of RFC 32.
        #expect(Z85.decode("HelloWorld") == [0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b])
        #expect(Z85.decode("Hello\"orld") == nil)
        #expect(Z85.decode("#####") == nil)
    }
}

@Suite("The policy files")
struct PolicyFileTests {
    private func user(_ uid: Int, _ roles: [String], serve: [String] = []) -> PolicyFile.User {
        var user = PolicyFile.User()
        user.uid = uid
        user.roles = roles
        user.serve = serve
        return user
    }

    @Test("uids and keys become grants by the defaults of their roles")
    func defaults() throws {
        let pair = CurveKeyPair.generate()
        var policy = PolicyFile()
        policy.uid = [
            user(0, ["operator", "service", "gateway", "integrator"], serve: ["*"]),
            user(7, ["service"], serve: ["token", "key.*"]),
        ]
        var peers = PeersFile()
        var shop = PeersFile.Peer()
        shop.name = "shop"
        shop.publicKey = Z85.encode(pair.publicKey)
        shop.role = "integrator"
        peers.peer = [shop]
        let read = try PolicyReader.read(policy, peers)
        let owner = try #require(read.grant(for: .user(0)))
        #expect(owner.principal.name == "uid-0")
        #expect(owner.mayServe("anything") && owner.mayCall("key.internal"))
        let service = try #require(read.grant(for: .user(7)))
        #expect(service.mayServe("token@i1") && service.mayServe("key.internal"))
        #expect(!service.mayServe("key") && !service.mayCall("key"))
        let integrator = try #require(read.grant(for: .key(pair.publicKey)))
        #expect(integrator.mayCall("smscode") && integrator.mayCall("mmi.service"))
        #expect(!integrator.mayCall("smscode.internal") && !integrator.mayCall("mmi.stats"))
        #expect(!integrator.mayServe("smscode"))
    }

    @Test("everything that is wrong is told at once")
    func problems() {
        var policy = PolicyFile()
        policy.uid = [user(0, ["chief"]), user(0, ["service"], serve: ["a*b"])]
        var peers = PeersFile()
        peers.peer = [PeersFile.Peer()]
        do throws(PolicyProblems) {
            _ = try PolicyReader.read(policy, peers)
            #expect(Bool(false))
        } catch {
            #expect(error.sentences.count == 4)
        }
    }

    @Test("a role's list in the file replaces the default")
    func roles() throws {
        var policy = PolicyFile()
        var role = PolicyFile.Role()
        role.name = "integrator"
        role.call = ["token"]
        policy.role = [role]
        policy.uid = [user(5, ["integrator"])]
        let grant = try #require(
            try PolicyReader.read(policy, PeersFile()).grant(for: .user(5)))
        #expect(grant.mayCall("token") && !grant.mayCall("smscode"))
    }
}
