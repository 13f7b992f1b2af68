import Majordomo
import Primitives
import Testing

/// The table of RFC 18 as bus.md states it: state × what arrives.
@Suite("The worker's states at the broker")
struct WorkerStateTests {
    typealias Bus = BrokerUnderTest
    private let token = AddressToken(slot: 0, generation: 0, random: 0).bytes

    private func reply(_ command: WorkerCommand) -> [[UInt8]] {
        PeerFrames.reply(.v02, command, address: token, header: nil, body: [])
    }

    @Test(
        "unknown: READY registers; replies and heartbeats are answered by DISCONNECT; DISCONNECT by nothing"
    )
    func unknown() {
        let bus = Bus()
        #expect(bus.send(reply(.final), from: Bus.worker).kinds == [.disconnect])
        #expect(bus.send(reply(.partial), from: Bus.worker).kinds == [.disconnect])
        #expect(
            bus.send(PeerFrames.heartbeat(.v02, window: nil), from: Bus.worker).kinds
                == [.disconnect])
        #expect(bus.send(PeerFrames.disconnect(.v02), from: Bus.worker).isEmpty)
        #expect(bus.ready().isEmpty)
        #expect(bus.request("echo", service: "mmi.service").bodies == ["200"])
    }

    @Test("idle: a second READY disconnects and deletes")
    func idleReady() {
        let bus = Bus()
        _ = bus.ready()
        #expect(bus.ready().kinds == [.disconnect])
        #expect(bus.request("echo", service: "mmi.service").bodies == ["404"])
    }

    @Test("idle: a stray reply is counted and the worker stays")
    func idleReply() {
        let bus = Bus()
        _ = bus.ready()
        #expect(bus.send(reply(.final), from: Bus.worker).isEmpty)
        #expect(bus.broker.machine.counters.repliesLate == 1)
        #expect(bus.request("echo", service: "mmi.service").bodies == ["200"])
    }

    @Test("idle: heartbeats refresh, DISCONNECT deletes")
    func idleHeartbeat() {
        let bus = Bus()
        _ = bus.ready()
        _ = bus.pass(.seconds(8))
        _ = bus.send(PeerFrames.heartbeat(.v02, window: nil), from: Bus.worker)
        #expect(!bus.pass(.seconds(8)).kinds.contains(.disconnect))
        #expect(bus.send(PeerFrames.disconnect(.v02), from: Bus.worker).isEmpty)
        #expect(bus.request("echo", service: "mmi.service").bodies == ["404"])
    }

    @Test("busy: a second READY disconnects, deletes and requeues")
    func busyReady() {
        let bus = Bus()
        _ = bus.ready()
        _ = bus.request("1")
        #expect(bus.ready().kinds == [.disconnect])
        #expect(bus.ready(Bus.otherWorker).bodies == ["1"])
    }

    @Test("busy: a final reply is forwarded and the worker is idle again")
    func busyReply() {
        let bus = Bus()
        _ = bus.ready()
        let request = bus.request("1")
        #expect(bus.reply("x", to: request.first).bodies == ["x"])
        #expect(bus.request("2").bodies == ["2"])
    }

    @Test("busy: DISCONNECT deletes and requeues")
    func busyDisconnect() {
        let bus = Bus()
        _ = bus.ready()
        _ = bus.request("1")
        #expect(bus.send(PeerFrames.disconnect(.v02), from: Bus.worker).isEmpty)
        #expect(bus.ready(Bus.otherWorker).bodies == ["1"])
    }

    @Test("a reply of one worker to another's request is dropped and counted")
    func foreign() throws {
        let bus = Bus()
        _ = bus.ready(Bus.worker)
        _ = bus.ready(Bus.otherWorker)
        let request = try #require(bus.request("1").first)
        let thief = request.peer == Bus.worker ? Bus.otherWorker : Bus.worker
        #expect(bus.reply("stolen", to: request, from: thief).isEmpty)
        #expect(bus.broker.machine.counters.repliesForeign == 1)
        #expect(bus.reply("right", to: request).bodies == ["right"])
    }

    @Test("a worker may not register a name of the broker, nor one it may not serve")
    func registration() {
        let bus = Bus()
        #expect(bus.ready(service: "mmi.echo").kinds == [.disconnect])
        #expect(bus.ready(service: "other", as: Bus.echoOnly).kinds == [.disconnect])
        #expect(bus.ready(service: "echo", as: Bus.echoOnly).isEmpty)
        #expect(
            bus.ready(Bus.otherWorker, service: "echo", as: CallerNumber(rawValue: 2)).kinds
                == [.disconnect])
    }

    @Test("a caller may call what its grant names, one instance of it included")
    func calls() {
        let bus = Bus()
        #expect(
            bus.request("1", service: "token", as: Bus.echoOnly).bodies[0].contains("not_allowed"))
        #expect(bus.request("1", service: "echo@i1", as: Bus.echoOnly).isEmpty)
        #expect(bus.request("1", as: CallerNumber(rawValue: 2)).bodies[0].contains("not_allowed"))
        #expect(bus.request("1", as: CallerNumber(rawValue: -1)).bodies[0].contains("not_allowed"))
        #expect(
            bus.request("x", service: "mmi.stats", as: Bus.echoOnly).bodies[0].contains(
                "not_allowed"))
        #expect(bus.broker.machine.counters.failedNotAllowed == 4)
    }

    @Test(
        "a right that is taken away counts from the next message on, for whoever is there already")
    func revocation() {
        let bus = Bus()
        _ = bus.ready(as: Bus.echoOnly)
        _ = bus.request("1")
        _ = bus.request("2", from: Bus.otherClient, header: Bus.header(), as: Bus.echoOnly)
        let changed = bus.replaceGrants([BrokerUnderTest.grants[0], nil])
        #expect(changed.kinds == [.disconnect, .reply])
        #expect(Frames(changed[1]).header?.status == BusStatus.notAllowed.rawValue)
        #expect(bus.request("3", as: Bus.echoOnly).bodies[0].contains("not_allowed"))
        #expect(bus.ready(Bus.otherWorker).bodies == ["1"])
    }
}
