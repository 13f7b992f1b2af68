import Majordomo
import Primitives
import Testing

@Suite("A request's way through the broker")
struct BrokerMachineTests {
    typealias Bus = BrokerUnderTest

    @Test(
        "the exact frames: plain client, plain worker, both versions, 0.2 also with an empty frame in front",
        arguments: [Dialect.v01, .v02, .v02Delimited], [Dialect.v01, .v02, .v02Delimited])
    func plainPeers(client: Dialect, worker: Dialect) throws {
        let bus = Bus()
        #expect(bus.ready(dialect: worker).isEmpty)
        let request = try #require(bus.request("hi", dialect: client).first)
        let address = Frames(request).address
        let workerStart: [[UInt8]] =
            (worker.isDelimited ? [[]] : []) + [Array((worker.is01 ? "MDPW01" : "MDPW02").utf8)]
        #expect(request.peer == Bus.worker)
        #expect(request.frames == workerStart + [[2], address, [], Array("hi".utf8)])
        #expect(address.count == 16)
        #expect(address.allSatisfy { Array("0123456789abcdefghijklmnopqrstuv".utf8).contains($0) })

        let reply = try #require(bus.reply("ho", to: request, dialect: worker).first)
        let clientStart: [[UInt8]] =
            (client.isDelimited ? [[]] : [])
            + (client.is01 ? [Array("MDPC01".utf8)] : [Array("MDPC02".utf8), [3]])
        #expect(reply.peer == Bus.client)
        #expect(reply.frames == clientStart + [Array("echo".utf8), Array("ho".utf8)])
        #expect(bus.broker.payloadsCount == 0)
    }

    @Test("the header is stripped before a plain worker and restored in the reply")
    func headerAndPlainWorker() throws {
        let bus = Bus()
        _ = bus.ready()
        let request = try #require(bus.request("hi", header: Bus.header()).first)
        #expect(Frames(request).header == nil)
        #expect(Frames(request).body == "hi")
        let reply = try #require(bus.reply("ho", to: request).first)
        #expect(Frames(reply).header?.kind == .final)
        #expect(Frames(reply).header?.requestID == Bus.header().requestID)
        #expect(Frames(reply).header?.status == 0)
        #expect(Frames(reply).body == "ho")
    }

    @Test("a credit worker gets a header also for a plain client, whose reply has none")
    func plainClientAndCreditWorker() throws {
        let bus = Bus()
        _ = bus.ready(credit: 4)
        let request = try #require(bus.request("hi", dialect: .v01).first)
        let header = try #require(Frames(request).header)
        #expect(header.attempt == 1)
        // The client named no deadline: the broker does not make one up for the service.
        #expect(header.timeLeftMilliseconds == BusHeader.noDeadline)
        #expect(header.principal?.description == "operator:all")
        #expect(header.requestID != [UInt8](repeating: 0, count: 16))
        let answer = BusHeader(kind: .final, requestID: header.requestID, status: 100)
        let reply = try #require(bus.reply("no", to: request, header: answer).first)
        #expect(Frames(reply).header == nil)
        #expect(Frames(reply).body == "no")
    }

    @Test("the principal is the broker's word: what a client writes is overwritten")
    func principal() throws {
        let bus = Bus()
        _ = bus.ready(credit: 4)
        var forged = Bus.header()
        forged.principal = Principal(roles: [.operator, .gateway], name: "root")
        let request = try #require(
            bus.request("hi", header: forged, as: Bus.echoOnly).first)
        let header = try #require(Frames(request).header)
        #expect(header.principal?.description == "integrator:some")
        #expect(header.requestID == forged.requestID)
    }

    @Test("a worker cannot change whose answer it gives, and its status goes through")
    func replyHeader() throws {
        let bus = Bus()
        _ = bus.ready(credit: 4)
        let request = try #require(bus.request("hi", header: Bus.header()).first)
        let answer = BusHeader(
            kind: .final, requestID: [UInt8](repeating: 1, count: 16), status: 100,
            principal: Principal(roles: [.operator], name: "x"))
        let reply = try #require(bus.reply("no", to: request, header: answer).first)
        let header = try #require(Frames(reply).header)
        #expect(header.requestID == Bus.header().requestID)
        #expect(header.status == 100)
        #expect(header.principal == nil)
    }

    @Test("partial answers pass to 0.2 clients, and stop a requeue")
    func partials() throws {
        let bus = Bus()
        _ = bus.ready(credit: 4)
        let request = try #require(bus.request("hi", header: Bus.header()).first)
        #expect(bus.reply("1", to: request, command: .partial).kinds == [.partial])
        #expect(bus.reply("2", to: request, command: .partial).bodies == ["2"])
        let lost = bus.unreachable(Bus.worker)
        #expect(Frames(try #require(lost.first)).header?.status == BusStatus.workerLost.rawValue)
        #expect(bus.broker.payloadsCount == 0)
    }

    @Test("a credit worker holds exactly its window; a plain one holds one")
    func credit() {
        let bus = Bus()
        _ = bus.ready(credit: 3)
        let sent = (1...5).flatMap { bus.request("\($0)") }
        #expect(sent.bodies == ["1", "2", "3"])
        #expect(bus.reply("x", to: sent.first).kinds == [.reply, .request])

        let plain = Bus()
        _ = plain.ready()
        let first = plain.request("1")
        #expect(plain.request("2").isEmpty)
        #expect(plain.reply("x", to: first.first).bodies == ["x", "2"])
    }

    @Test("a heartbeat sets the window anew, the broker confirms, and 0 takes no more")
    func window() {
        let bus = Bus()
        _ = bus.ready(credit: 1)
        _ = bus.request("1")
        #expect(bus.request("2").isEmpty)
        let wider = bus.send(
            PeerFrames.heartbeat(.v02, window: "credit=2 hb=250"), from: Bus.worker)
        #expect(wider.kinds == [.heartbeat, .request])
        #expect(Frames(wider[0]).text == "credit=2 hb=250")
        let none = bus.send(
            PeerFrames.heartbeat(.v02, window: "credit=0 hb=250"), from: Bus.worker)
        #expect(none.kinds == [.heartbeat])
        #expect(bus.request("3").isEmpty)
    }

    @Test("READY with an extension is answered by the grant at once, a plain READY by nothing")
    func grant() {
        let bus = Bus()
        let granted = bus.ready(credit: 64)
        #expect(granted.kinds == [.heartbeat])
        #expect(Frames(granted[0]).text == "credit=64 hb=250")
        #expect(bus.ready(Bus.otherWorker).isEmpty)
    }

    @Test("the worker with the most free credit is chosen; equals take turns")
    func choice() {
        let bus = Bus()
        _ = bus.ready(Bus.worker, credit: 4)
        _ = bus.ready(Bus.otherWorker, credit: 2)
        let peers = (1...6).flatMap { bus.request("\($0)") }.map(\.peer)
        #expect(peers.filter { $0 == Bus.worker }.count == 4)
        #expect(peers.prefix(2).allSatisfy { $0 == Bus.worker })

        let equal = Bus()
        _ = equal.ready(Bus.worker, credit: 8)
        _ = equal.ready(Bus.otherWorker, credit: 8)
        let turns = (1...4).flatMap { equal.request("\($0)") }.map(\.peer)
        #expect(turns[0] != turns[1])
        #expect(turns[2] != turns[3])
    }

    @Test("a flood of one client does not starve another")
    func fairness() {
        let bus = Bus()
        _ = bus.ready()
        let first = bus.request("a0")
        for number in 1...5 { _ = bus.request("a\(number)") }
        _ = bus.request("b1", from: Bus.otherClient)
        var order: [String] = []
        var inHand = first.first
        for _ in 1...6 {
            let messages = bus.reply("x", to: inHand)
            inHand = messages.first { Frames($0).kind == .request }
            if let inHand { order.append(Frames(inHand).body) }
        }
        #expect(order == ["a1", "b1", "a2", "a3", "a4", "a5"])
    }

    @Test("a request of a dead worker goes to another once, then fails as worker lost")
    func requeueOnce() throws {
        let bus = Bus()
        _ = bus.ready(Bus.worker, credit: 4)
        _ = bus.request("1", header: Bus.header(1))
        _ = bus.request("2", header: Bus.header(2))
        #expect(bus.unreachable(Bus.worker).isEmpty)
        _ = bus.request("3", header: Bus.header(3))
        let again = bus.ready(Bus.otherWorker, credit: 2).filter { Frames($0).kind == .request }
        #expect(again.bodies == ["1", "2"])
        #expect(again.map { Frames($0).header?.attempt } == [2, 2])
        #expect(Frames(again[0]).header?.requestID == Bus.header(1).requestID)
        let lost = bus.unreachable(Bus.otherWorker)
        #expect(lost.count == 2)
        #expect(lost.allSatisfy { Frames($0).header?.status == BusStatus.workerLost.rawValue })
        #expect(lost.bodies.allSatisfy { $0.contains(#""reason":"worker_lost""#) })
        #expect(bus.broker.machine.counters.requeued == 2)
    }

    @Test("a worker with retry=never is never repeated")
    func retryNever() throws {
        let bus = Bus()
        _ = bus.ready(credit: 4, retry: false)
        _ = bus.request("1", header: Bus.header())
        let lost = bus.unreachable(Bus.worker)
        #expect(Frames(try #require(lost.first)).header?.status == 14)
        #expect(bus.broker.payloadsCount == 0)
    }

    @Test("an old token after a requeue is dropped: one request, one answer")
    func lateReply() throws {
        let bus = Bus()
        _ = bus.ready(Bus.worker, credit: 1)
        _ = bus.ready(Bus.otherWorker, credit: 1)
        let first = try #require(bus.request("1").first)
        // The same connection registers again: the broker takes it for a new life.
        let moved = bus.send(PeerFrames.disconnect(.v02), from: first.peer)
        let second = try #require(moved.first)
        #expect(second.peer != first.peer)
        _ = bus.ready(first.peer, credit: 1)
        #expect(bus.reply("late", to: first).isEmpty)
        #expect(bus.broker.machine.counters.repliesForeign == 1)
        #expect(bus.reply("right", to: second).bodies == ["right"])
        #expect(bus.reply("again", to: second).isEmpty)
        #expect(bus.broker.machine.counters.repliesLate == 1)
    }

    @Test("mixed versions of one worker are refused")
    func mixedDialects() {
        let bus = Bus()
        _ = bus.ready(dialect: .v01)
        #expect(
            bus.send(PeerFrames.heartbeat(.v02, window: nil), from: Bus.worker).kinds
                == [.disconnect])
    }
}
