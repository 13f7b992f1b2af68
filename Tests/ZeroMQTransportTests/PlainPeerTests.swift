import Bus
import Majordomo
import Primitives
import Testing

@testable import ZeroMQTransport

@Suite("Peers of other makes, by the frames of the published protocol", .timeLimit(.minutes(1)))
struct PlainPeerTests {
    @Test("client and worker of MDP/0.1")
    func version01() throws {
        let bus = try TestBus.start()
        defer { bus.server.stop() }
        let worker = try RawPeer(bus.ipc, bus.context)
        let client = try RawPeer(bus.ipc, bus.context)
        defer {
            worker.kill()
            client.kill()
        }
        worker.send(["", "MDPW01", "\u{1}", "echo"])
        client.send(["", "MDPC01", "echo", "hi"])
        let request = try #require(worker.receive())
        #expect(request.count == 6)
        #expect(Array(request.prefix(3)) == ["", "MDPW01", "\u{2}"])
        #expect(request[3].utf8.count == 16 && request[4].isEmpty && request[5] == "hi")
        worker.send(["", "MDPW01", "\u{3}", request[3], "", "ho"])
        #expect(client.receive() == ["", "MDPC01", "echo", "ho"])
        client.send(["", "MDPC01", "mmi.service", "echo"])
        #expect(client.receive() == ["", "MDPC01", "mmi.service", "200"])
    }

    @Test("client and worker of MDP/0.2, with partial answers; a worker without the empty frame")
    func version02() throws {
        let bus = try TestBus.start()
        defer { bus.server.stop() }
        let worker = try RawPeer(bus.ipc, bus.context)
        let client = try RawPeer(bus.ipc, bus.context)
        defer {
            worker.kill()
            client.kill()
        }
        worker.send(["MDPW02", "\u{1}", "echo"])
        client.send(["MDPC02", "\u{1}", "echo", "hi"])
        let request = try #require(worker.receive())
        #expect(Array(request.prefix(2)) == ["MDPW02", "\u{2}"])
        worker.send(["MDPW02", "\u{3}", request[2], "", "1"])
        worker.send(["MDPW02", "\u{4}", request[2], "2"])
        #expect(client.receive() == ["MDPC02", "\u{2}", "echo", "1"])
        #expect(client.receive() == ["MDPC02", "\u{3}", "echo", "2"])
    }

    @Test("one-frame messages, rubbish and far too many frames are dropped; the broker goes on")
    func rubbish() throws {
        let bus = try TestBus.start()
        defer { bus.server.stop() }
        let peer = try RawPeer(bus.ipc, bus.context)
        defer { peer.kill() }
        for frames in [["x"], [""], ["", ""], ["MDPC02"], Array(repeating: "y", count: 40)] {
            peer.send(frames)
        }
        peer.send(["MDPC02", "\u{1}", "mmi.service", "none"])
        #expect(peer.receive() == ["MDPC02", "\u{3}", "mmi.service", "404"])
    }

    @Test("a frame above one mebibyte cuts its sender off; others go on")
    func hugeFrame() throws {
        let bus = try TestBus.start()
        defer { bus.server.stop() }
        let peer = try RawPeer(bus.ipc, bus.context)
        let other = try RawPeer(bus.ipc, bus.context)
        defer {
            peer.kill()
            other.kill()
        }
        peer.send(["MDPC02", "\u{1}", "mmi.service", String(repeating: "x", count: 1 << 21)])
        other.send(["MDPC02", "\u{1}", "mmi.service", "none"])
        #expect(other.receive() == ["MDPC02", "\u{3}", "mmi.service", "404"])
        #expect(peer.receive(milliseconds: 100) == nil)
    }

    @Test("a killed worker's request goes to the next one at once")
    func killedWorker() throws {
        let bus = try TestBus.start()
        defer { bus.server.stop() }
        let first = try RawPeer(bus.ipc, bus.context)
        let second = try RawPeer(bus.ipc, bus.context)
        let client = try RawPeer(bus.ipc, bus.context)
        defer {
            second.kill()
            client.kill()
        }
        first.send(["MDPW02", "\u{1}", "echo", "credit=4 hb=250 retry=safe"])
        #expect(first.receive() == ["MDPW02", "\u{5}", "credit=4 hb=250"])
        client.send(["MDPC02", "\u{1}", "echo", "hi"])
        var message = try #require(first.receive())
        while message[1] != "\u{2}" { message = try #require(first.receive()) }
        first.kill()
        second.send(["MDPW02", "\u{1}", "echo", "credit=4 hb=250 retry=safe"])
        var again = try #require(second.receive())
        while again[1] != "\u{2}" { again = try #require(second.receive()) }
        #expect(again.last == "hi")
        second.send(["MDPW02", "\u{4}", again[2], "", "ho"])
        #expect(client.receive() == ["MDPC02", "\u{3}", "echo", "ho"])
    }
}
