import Glibc
import HTTPTypes
import Testing

@testable import HTTPServer

@Suite("A server on a real socket")
struct HTTPServerTests {
    @Test("a connection is kept, and pipelined requests are answered in order")
    func keepAlive() async throws {
        try await withServer { server in
            let wire = try Wire(port: server.port)
            wire.send(
                "GET /a?q=1 HTTP/1.1\r\nHost: h\r\n\r\n"
                    + "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                    + "GET /c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            let text = try await wire.read()
            let lines = text.split(whereSeparator: \.isNewline).filter { $0.contains(" h ") }
            #expect(lines == ["GET /a q=1 h 0", "POST /b - h 3", "GET /c - h 0"])
            #expect(text.components(of: "HTTP/1.1 200").count == 4)
        }
    }

    @Test("HTTP/1.0 closes, or stays when asked to")
    func old() async throws {
        try await withServer { server in
            let once = try await Wire.ask(server.port, "GET / HTTP/1.0\r\n\r\n")
            #expect(once.contains("GET / - - 0"))
            let wire = try Wire(port: server.port)
            wire.send("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let first = try await wire.read { $0.hasSuffix("0\n") }
            #expect(first.lowercased().contains("connection: keep-alive"))
            wire.send("GET /2 HTTP/1.0\r\n\r\n")
            let second = try await wire.read()
            #expect(second.contains("GET /2"))
        }
    }

    /// Heads that other programs may read differently. Each is refused, and nothing after it on its
    /// connection is believed.
    @Test(arguments: [
        "GET / HTTP/1.1\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\n",
        "GET / HTTP/1.1\nHost: h\n\n",
        "GET / HTTP/1.1\r\nHost: h\nX: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\rX: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: 1\r\n 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: 1\r\n\t2\r\nY: 3\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n x\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n 0\r\n\r\n0123456789",
        "GET / HTTP/1.1\r\n Host: h\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /  HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
        "GET /\u{0}x HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}\u{0}Y: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nX: a\u{0}\u{0}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n: empty\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \u{b}chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer_Encoding\u{0}: chunked\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "GET h:80 HTTP/1.1\r\nHost: h\r\n\r\n",
        "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /#f HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /\u{e9} HTTP/1.1\r\nHost: h\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.2\r\nHost: h\r\n\r\n",
        "GET / http/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1x\r\nHost: h\r\n\r\n",
    ])
    func refusedHeads(_ head: String) async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let text = try await Wire.ask(
                server.port, head + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(text.hasPrefix("HTTP/1.1 400 "))
            #expect(text.components(of: "HTTP/1.1 ").count == 2, "one answer, then the end")
            #expect(handler.noticed.count("GET /smuggled") == 0)
        }
    }

    /// The library answers a length that is no number by itself, and twice, before it closes; a client
    /// that minds the first answer's `Connection: close` never reads the second.
    @Test(arguments: ["3,3", "+3", "-3", "", "0x3"])
    func lengthsThatAreNone(_ length: String) async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let text = try await Wire.ask(
                server.port,
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n"
                    + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
            let answers = text.components(of: "HTTP/1.1 ").dropFirst()
            #expect(!answers.isEmpty && answers.allSatisfy { $0.hasPrefix("400 ") })
            #expect(answers.first?.contains("Connection: close") == true)
            #expect(handler.noticed.count("GET /smuggled") == 0)
        }
    }

    /// Not even a request line: there is nothing to answer, so the connection ends.
    @Test(arguments: ["\u{16}\u{3}\u{1}\u{2}\n", "HELLO\r\n", "\u{0}\r\n\r\n"])
    func noRequest(_ text: String) async throws {
        try await withServer(TestHandler(), with(\.transferMax, .milliseconds(400))) { server in
            let answer = try await Wire.ask(server.port, text)
            #expect(answer.isEmpty)
        }
    }

    @Test("versions that are not ours get the word of the standard for it")
    func versions() async throws {
        try await withServer { server in
            for version in ["HTTP/2.0", "HTTP/0.9"] {
                let text = try await Wire.ask(server.port, "GET / \(version)\r\nHost: h\r\n\r\n")
                #expect(text.hasPrefix("HTTP/1.1 505 "))
            }
        }
    }

    @Test("a body that is declared too large is refused before it comes")
    func tooLarge() async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            for expect in ["", "Expect: 100-continue\r\n"] {
                let text = try await Wire.ask(
                    server.port,
                    "POST /b HTTP/1.1\r\nHost: h\r\n\(expect)Content-Length: 101\r\n\r\n")
                #expect(text.hasPrefix("HTTP/1.1 413 "))
                #expect(text.lowercased().contains("connection: close"))
                #expect(!text.contains("100 Continue"))
            }
            #expect(handler.noticed.count("POST /b") == 0)
            let whole = try await Wire.ask(
                server.port,
                "POST /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 100\r\n\r\n"
                    + String(repeating: "x", count: 100))
            #expect(whole.contains("POST /b - h 100"))
            let vast = try await Wire.ask(
                server.port,
                "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n")
            #expect(vast.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test("a chunked body is taken up to its bound; one that grows beyond ends in a close")
    func chunked() async throws {
        let handler = TestHandler()
        try await withServer(handler) { server in
            let head = "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            let text = try await Wire.ask(
                server.port,
                head + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
                    + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(text.contains("POST /c - h 5"))
            #expect(text.lowercased().contains("connection: close"))
            #expect(handler.noticed.count("GET /smuggled") == 0)
            let beyond = try await Wire.ask(
                server.port, head + "65\r\n" + String(repeating: "x", count: 101) + "\r\n0\r\n\r\n")
            #expect(beyond.isEmpty)
        }
    }

    @Test("100 Continue comes before the body is sent")
    func expectation() async throws {
        try await withServer { server in
            let wire = try Wire(port: server.port)
            wire.send(
                "POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nConnection: close\r\n"
                    + "Content-Length: 3\r\n\r\n")
            let first = try await wire.read { $0.hasSuffix("\r\n\r\n") }
            #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
            wire.send("abc")
            let rest = try await wire.read()
            #expect(rest.hasPrefix("HTTP/1.1 200 ") && rest.contains("POST /e - h 3"))
        }
    }

    @Test("a head that is too large is refused with 431, an endless target with 414")
    func largeHeads() async throws {
        try await withServer(TestHandler(), with(\.headBytesMax, 8 * 1024)) { server in
            let wide = String(repeating: "x", count: 40_000)
            let fields = try await Wire.ask(
                server.port, "GET / HTTP/1.1\r\nHost: h\r\nX: \(wide)\r\n\r\n")
            #expect(fields.hasPrefix("HTTP/1.1 431 "))
            let target = try await Wire.ask(server.port, "GET /\(wide) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(target.hasPrefix("HTTP/1.1 414 "))
            let many = (0..<1000).map { "X\($0): 1\r\n" }.joined()
            let crowd = try await Wire.ask(server.port, "GET / HTTP/1.1\r\nHost: h\r\n\(many)\r\n")
            #expect(crowd.hasPrefix("HTTP/1.1 4"))
            let good = String(repeating: "x", count: 7_000)
            let text = try await Wire.ask(
                server.port,
                "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX: \(good)\r\n\r\n")
            #expect(text.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("HEAD has the length and no body")
    func head() async throws {
        try await withServer { server in
            let text = try await Wire.ask(
                server.port,
                "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n"
                    + "HEAD /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(text.contains("Content-Length: 14\r\n"))
            #expect(text.hasSuffix("\r\n\r\n"))
            #expect(text.components(of: "HTTP/1.1 200").count == 3)
            #expect(!text.contains("HEAD /a") && !text.contains("one"))
        }
    }

    @Test("OPTIONS * is answered by the server, absolute targets bring their host")
    func targets() async throws {
        try await withServer { server in
            let options = try await Wire.ask(server.port, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(options.hasPrefix("HTTP/1.1 204 "))
            let absolute = try await Wire.ask(
                server.port,
                "GET http://other:1/p?q HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(absolute.contains("GET /p q other:1 0"))
            let escaped = try await Wire.ask(
                server.port,
                "GET /a%2Fb+c?d=%26&e HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(escaped.contains("GET /a%2Fb+c d=%26&e h 0"))
        }
    }
}

extension String {
    /// Around each occurrence.
    func components(of separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
