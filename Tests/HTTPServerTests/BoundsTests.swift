import Effects
import Glibc
import HTTPTypes
import Primitives
import Testing

@testable import HTTPServer

@Suite("Places, waits, tickets and counts")
struct BoundsTests {
    private static let get = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    private static let wait = "GET /wait HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    private static let upload = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n"

    @Test("a customer's IPv6 network has the places of one address, not of each")
    func networks() {
        let table = LinkTable()
        let peers = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1", "192.0.2.1"]
        // A descriptor that is none: refusing shuts nothing.
        let links = peers.map { Link(descriptor: -1, peerAddress: $0, deadline: .seconds(60)) }
        for link in links { table.add(link, perAddressMax: 2) }
        #expect(links.map(\.isRefused) == [false, false, true, false, false])
        table.remove(links[0])
        let next = Link(descriptor: -1, peerAddress: "2001:db8::4", deadline: .seconds(60))
        table.add(next, perAddressMax: 2)
        #expect(!next.isRefused)
    }

    @Test(
        "bodies that come slowly keep no other request out; a whole one that is too many is refused"
    )
    func slowBodies() async throws {
        let handler = TestHandler()
        try await withServer(handler, with(\.requestsMax, 1)) { server in
            let wires = try (0..<3).map { _ in try Wire(port: server.port) }
            for wire in wires { wire.send(Self.upload + "half") }
            try await until("the heads to be taken") { server.reception.inHandCount == 3 }
            let meanwhile = try await Wire.ask(server.port, Self.get)
            #expect(meanwhile.hasPrefix("HTTP/1.1 200 "))
            let waiting = try Wire(port: server.port)
            waiting.send(Self.wait)
            try await until("it to wait") { handler.gate.waitingCount == 1 }
            wires[0].send("whole")
            let late = try await wires[0].read()
            #expect(late.hasPrefix("HTTP/1.1 503 "))
            handler.gate.open()
            let waited = try await waiting.read()
            #expect(waited.hasSuffix("waited"))
            // The place is free again.
            wires[1].send("whole")
            let served = try await wires[1].read { $0.hasSuffix(" 9\n") }
            #expect(served.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("a wait that was stopped before it began ends", .timeLimit(.minutes(1)))
    func stoppedBefore() async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let wire = try Wire(port: server.port)
            wire.send(Self.wait)
            try await until("it to wait") { handler.gate.waitingCount == 1 }
            server.reception.beginWaiting()
            server.reception.stopWaiting()
            await server.reception.waitUntilEmpty()
            #expect(server.reception.inHandCount == 1)
        }
    }

    @Test("an event of a stream that has ended does not end the next on the same descriptor")
    func tickets() throws {
        let watch = try GoneWatch()
        let first = try Pair()
        defer { first.end() }
        let ended = Self.exchange(first.mine)
        watch.add(ended)
        shutdown(first.other, Int32(SHUT_RDWR))
        let tickets = watch.gone(.seconds(10))
        #expect(tickets.count == 1)
        // Meanwhile the connection ends, and the system gives its number away.
        watch.remove(ended)
        let second = try Pair()
        defer { second.end() }
        dup2(second.mine, first.mine)
        let next = Self.exchange(first.mine)
        watch.add(next)
        watch.end(tickets)
        #expect(!next.isAborted && !ended.isAborted)
        shutdown(second.other, Int32(SHUT_RDWR))
        watch.end(watch.gone(.seconds(10)))
        #expect(next.isAborted)
    }

    /// Of no library: nothing of it is suspended.
    private static func exchange(_ descriptor: Int32) -> Exchange {
        let link = Link(descriptor: descriptor, peerAddress: "127.0.0.1", deadline: .seconds(1))
        let connection = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        defer { connection.deallocate() }
        return "/".withCString { Exchange(link: link, connection: connection, target: $0) }
    }

    @Test("what is open and what was turned away can be read from the counters")
    func counts() async throws {
        let metrics = Sums()
        let handler = TestHandler()
        var settings = HTTPServerSettings()
        settings.connectionsPerAddressMax = 2
        // A quarter of it is the gap between two readings.
        settings.transferMax = .milliseconds(400)
        let server = try HTTPServer(
            settings, handler: handler, pause: TestPause(), metrics: metrics)
        let wire = try Wire(port: server.port)
        wire.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        let stream = try Wire(port: server.port)
        stream.send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n")
        try await until("both to wait") { handler.gate.waitingCount == 2 }
        let third = try await Wire.ask(server.port, "POST / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(third.isEmpty && handler.noticed.count("POST /") == 0)
        try await until("the counts") {
            metrics["http_connections_opened"] == 2 && metrics["http_connections_refused"] == 1
                && metrics["http_requests_begun"] == 2 && metrics["http_streams_begun"] == 1
        }
        #expect(metrics["http_connections_closed"] == 0 && metrics["http_requests_ended"] == 0)
        handler.gate.open()
        wire.hangUp()
        stream.hangUp()
        try await until("what ended") {
            metrics["http_connections_closed"] == 2 && metrics["http_requests_ended"] == 2
                && metrics["http_streams_ended"] == 1
        }
        await server.drain()
    }
}

/// Two ends of one connection.
private struct Pair {
    let mine: Int32
    let other: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw HTTPServerProblem.system(call: "socketpair", reason: "\(errno)")
        }
        (mine, other) = (ends[0], ends[1])
    }

    func end() {
        close(mine)
        close(other)
    }
}

private final class Sums: Metrics {
    private let sums = Lock<[String: Int64]>([:])

    subscript(name: String) -> Int64? { sums.withLock { $0[name] } }

    func add(_ amount: Int64, to counter: String, labels: [(String, String)]) {
        sums.withLock { $0[counter, default: 0] += amount }
    }

    func observe(_ value: Double, in distribution: String, labels: [(String, String)]) {}
    func snapshot() -> [(name: String, value: Double)] { [] }
}
