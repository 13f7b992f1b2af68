import Glibc
import HTTPTypes
import Testing

@testable import HTTPServer

@Suite("Waiting, streaming, leaving, draining")
struct LifeTests {
    private static let get = "GET /wait HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

    @Test("an answer that takes its time comes when it is there")
    func waits() async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let wires = try (0..<20).map { _ in try Wire(port: server.port) }
            for wire in wires { wire.send(Self.get) }
            try await until("20 to wait") { handler.gate.waitingCount == 20 }
            handler.gate.open()
            for wire in wires {
                let text = try await wire.read()
                #expect(text.hasSuffix("waited"))
            }
        }
    }

    @Test("a stream goes out piece by piece, chunked, and the connection is kept")
    func stream() async throws {
        try await withServer { server in
            let text = try await Wire.ask(
                server.port,
                "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"
                    + "GET /stream HTTP/1.0\r\n\r\n")
            #expect(text.contains("Transfer-Encoding: chunked"))
            #expect(text.contains("3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\nHTTP/1."))
            #expect(text.hasSuffix("\r\n\r\nonetwothree"))
        }
    }

    @Test("the first piece is there while the stream waits for its next")
    func flush() async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let wire = try Wire(port: server.port)
            wire.send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n")
            let first = try await wire.read { $0.contains("first\r\n") }
            #expect(!first.contains("0\r\n\r\n"))
            try await until("the stream to wait") { handler.gate.waitingCount == 1 }
            handler.gate.open()
            let rest = try await wire.read { $0.contains("0\r\n\r\n") }
            #expect(rest.hasSuffix("0\r\n\r\n"))
        }
    }

    @Test("a client that leaves a stream ends its task", arguments: [true, false])
    func leaves(_ isReset: Bool) async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let wire = try Wire(port: server.port)
            wire.send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try await wire.read { $0.contains("first\r\n") }
            try await until("the stream to wait") { handler.gate.waitingCount == 1 }
            if isReset { wire.reset() } else { wire.hangUp() }
            try await until("the task to be cancelled") { handler.noticed.count("cancelled") == 1 }
        }
    }

    @Test("a request, or a head, that drips is closed in bounded time", arguments: [true, false])
    func drip(_ isBody: Bool) async throws {
        let change = { (settings: inout HTTPServerSettings) in
            settings.transferMax = .milliseconds(400)
        }
        try await withServer(TestHandler(), change) { server in
            let wire = try Wire(port: server.port)
            if isBody {
                wire.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 90\r\n\r\n")
            }
            // One byte at a time, each well before the idle bound.
            let dripper = Task {
                while !Task.isCancelled {
                    wire.send("x")
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            // The end comes before the reader's patience is over, which is before any other bound.
            let text = try await wire.read()
            dripper.cancel()
            #expect(text.isEmpty)
            try await until("the socket to be closed") { server.openCount == 0 }
        }
    }

    @Test("an idle connection is closed")
    func idle() async throws {
        try await withServer(TestHandler(), with(\.idleSeconds, 1)) { server in
            let wire = try Wire(port: server.port)
            wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            let text = try await wire.read()
            #expect(text.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("a request that waits for its answer is not idle")
    func patient() async throws {
        let handler = TestHandler()
        let change = { (settings: inout HTTPServerSettings) in
            settings.idleSeconds = 1
            settings.transferMax = .milliseconds(300)
        }
        try await withServer(handler, change) { server in
            let wire = try Wire(port: server.port)
            wire.send(Self.get)
            try await until("it to wait") { handler.gate.waitingCount == 1 }
            let began = coarseNow()
            // Another connection is closed for being idle: by then this one would have been, too.
            let other = try Wire(port: server.port)
            other.send("G")
            _ = try await other.read()
            try await until("more than the bounds") { coarseNow() - began > .milliseconds(1500) }
            handler.gate.open()
            let text = try await wire.read()
            #expect(text.hasSuffix("waited"))
        }
    }

    @Test("more requests than may be in hand are refused")
    func full() async throws {
        let handler = TestHandler()
        try await withServer(handler, with(\.requestsMax, 2)) { server in
            let wires = try (0..<2).map { _ in try Wire(port: server.port) }
            for wire in wires { wire.send(Self.get) }
            try await until("both to wait") { handler.gate.waitingCount == 2 }
            let third = try await Wire.ask(server.port, Self.get)
            #expect(third.hasPrefix("HTTP/1.1 503 "))
            handler.gate.open()
            for wire in wires {
                let text = try await wire.read()
                #expect(text.hasSuffix("waited"))
            }
        }
    }

    @Test("more connections than one address may have are closed at once")
    func crowd() async throws {
        try await withServer(TestHandler(), with(\.connectionsPerAddressMax, 2)) { server in
            let first = try await Self.used(server.port)
            let second = try await Self.used(server.port)
            let text = try await Wire.ask(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(text.isEmpty)
            for wire in [first, second] {
                wire.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                let still = try await wire.read()
                #expect(still.hasPrefix("HTTP/1.1 200 "))
            }
        }
    }

    /// A connection on which a request was answered.
    private static func used(_ port: Int) async throws -> Wire {
        let wire = try Wire(port: port)
        wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try await wire.read { $0.hasSuffix("0\n") }
        return wire
    }

    @Test("a drain answers what is in hand, ends streams, and refuses new connections")
    func drain() async throws {
        let handler = TestHandler()
        let server = try HTTPServer(HTTPServerSettings(), handler: handler, pause: TestPause())
        let running = Task { try await server.run() }
        let wire = try Wire(port: server.port)
        wire.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        let stream = try Wire(port: server.port)
        stream.send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try await stream.read { $0.contains("first\r\n") }
        try await until("both to wait") { handler.gate.waitingCount == 2 }
        let draining = Task { await server.drain() }
        // The stream's task is cancelled and ends in order.
        let end = try await stream.read { $0.hasSuffix("0\r\n\r\n") }
        #expect(end.hasSuffix("0\r\n\r\n"))
        #expect(throws: HTTPServerProblem.self) { try Wire(port: server.port) }
        handler.gate.open()
        let text = try await wire.read()
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("waited"))
        #expect(text.lowercased().contains("connection: close"))
        await draining.value
        try await running.value
    }

    @Test("what does not end within the bound of a drain is cut off")
    func cut() async throws {
        let handler = TestHandler()
        var settings = HTTPServerSettings()
        settings.drainMax = .milliseconds(50)
        let server = try HTTPServer(settings, handler: handler, pause: TestPause())
        let wire = try Wire(port: server.port)
        wire.send(Self.get)
        try await until("it to wait") { handler.gate.waitingCount == 1 }
        await server.drain()
        let text = try await wire.read()
        #expect(text.isEmpty)
        try await until("the task to be cancelled") { handler.noticed.count("cancelled") == 1 }
    }

    @Test("a taken port, a strange address and missing files are named")
    func cannotStart() async throws {
        try await withServer { server in
            var settings = HTTPServerSettings()
            settings.port = server.port
            #expect(throws: HTTPServerProblem.portTaken(host: "127.0.0.1", port: server.port)) {
                try HTTPServer(settings, handler: TestHandler(), pause: TestPause())
            }
            settings.port = 0
            settings.host = "example.org"
            #expect(throws: HTTPServerProblem.notAnAddress(host: "example.org")) {
                try HTTPServer(settings, handler: TestHandler(), pause: TestPause())
            }
            settings.host = "127.0.0.1"
            settings.identity = .init(certificate: "/nowhere/a.pem", key: "/nowhere/b.pem")
            #expect(throws: HTTPServerProblem.self) {
                try HTTPServer(settings, handler: TestHandler(), pause: TestPause())
            }
        }
    }
}
