import HTTPTypes
import Primitives
import Testing

@testable import HTTPClient

@Suite("The HTTP client, against servers of the test", .timeLimit(.minutes(1)))
struct HTTPClientTests {
    /// Answers every request alike, on connections that stay open.
    private static func always(_ body: String) -> RawServer {
        RawServer { connection in
            while connection.read() != nil { connection.answer(body) }
        }
    }

    private static func outcome(
        _ client: HTTPClient, _ call: HTTPCall
    ) async -> Result<HTTPAnswer, HTTPCallFailure> {
        do throws(HTTPCallFailure) {
            return .success(try await client.call(call))
        } catch {
            return .failure(error)
        }
    }

    // MARK: What is sent and what comes back

    @Test("status, fields and body come back as they were sent")
    func answers() async throws {
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            connection.answer(
                "{}", status: "429 Too Many Requests",
                fields: "Retry-After:  7 \r\nX-Twice: a\r\nx-twice: b\r\nX-Empty:\r\n")
        }
        let answer = try await HTTPClient().call(HTTPCall("GET", server.url + "/a?b=c"))
        #expect(answer.status == 429)
        #expect(!answer.isSuccess)
        #expect(answer.headers["retry-after"] == "7")
        #expect(answer.headers.values("X-TWICE") == ["a", "b"])
        #expect(answer.headers["x-empty"] == "")
        #expect(answer.body == Array("{}".utf8))
    }

    @Test("an interim answer and a body in chunks are read as one answer")
    func interim() async throws {
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n")
            connection.write("3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: no\r\n\r\n")
        }
        let answer = try await HTTPClient().call(HTTPCall("GET", server.url))
        #expect(answer.status == 200)
        #expect(answer.body == Array("abcde".utf8))
        #expect(answer.headers["link"] == nil)
        #expect(answer.headers["x-a"] == "1")
        #expect(answer.headers["x-trailer"] == nil)
    }

    @Test(
        "the server sees the method, the fields and the body of the call, and no more",
        arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    func requests(_ method: String) async throws {
        let seen = Lock<RawConnection.Request?>(nil)
        let server = RawServer { connection in
            while let request = connection.read() {
                seen.withLock { $0 = request }
                connection.answer(request.line.hasPrefix("HEAD") ? "" : "ok")
            }
        }
        let sends = !["GET", "HEAD"].contains(method)
        let body: [UInt8] = sends ? [0, 1, 0, 255] : []
        _ = try await HTTPClient().call(
            HTTPCall(
                method, server.url + "/p/%20?q=1",
                headers: ["X-Own": "ä b", "X-Blank": ""], body: body))
        let request = try #require(seen.withLock { $0 })
        #expect(request.line == "\(method) /p/%20?q=1 HTTP/1.1")
        #expect(request.body == body)
        #expect(request.fields("X-Own") == ["X-Own: ä b"])
        #expect(request.fields("X-Blank") == ["X-Blank:"])
        #expect(request.fields("Expect").isEmpty)
        #expect(request.fields("Content-Type").isEmpty)
        #expect(request.fields("Content-Length") == (sends ? ["Content-Length: 4"] : []))
    }

    @Test("a POST without a body says so")
    func emptyBody() async throws {
        let seen = Lock<[String]>([])
        let server = RawServer { connection in
            while let request = connection.read() {
                seen.withLock { $0 = request.fields("Content-Length") }
                connection.answer("ok")
            }
        }
        _ = try await HTTPClient().call(HTTPCall("POST", server.url))
        #expect(seen.withLock { $0 } == ["Content-Length: 0"])
    }

    @Test("a body of a megabyte goes out whole")
    func longBody() async throws {
        let server = RawServer { connection in
            while let request = connection.read() { connection.answer("\(request.body.count)") }
        }
        let body = [UInt8](repeating: 7, count: 1 << 20)
        let answer = try await HTTPClient().call(HTTPCall("POST", server.url, body: body))
        #expect(answer.body == Array("1048576".utf8))
    }

    @Test("a redirect is an answer, and nobody follows it")
    func redirect() async throws {
        let server = RawServer { connection in
            while connection.read() != nil {
                connection.answer("", status: "302 Found", fields: "Location: /other\r\n")
            }
        }
        let answer = try await HTTPClient().call(HTTPCall("GET", server.url))
        #expect(answer.status == 302)
        #expect(answer.headers["location"] == "/other")
    }

    // MARK: Connections

    @Test("calls one after the other use one connection")
    func keepAlive() async throws {
        let server = Self.always("ok")
        let client = try HTTPClient()
        for _ in 0..<20 { _ = try await client.call(HTTPCall("GET", server.url)) }
        #expect(server.connectionsCount == 1)
    }

    @Test("a kept connection that the server has closed is replaced without a word")
    func closedBetween() async throws {
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            connection.answer("ok")
        }
        let client = try HTTPClient()
        for _ in 0..<5 {
            let answer = try await client.call(HTTPCall("POST", server.url, body: [1]))
            #expect(answer.status == 200)
        }
        #expect(server.connectionsCount == 5)
    }

    @Test("200 calls at once share the connections that the limit allows, and all are answered")
    func parallel() async throws {
        let server = RawServer { connection in
            while let request = connection.read() {
                connection.answer(String(decoding: request.body, as: UTF8.self))
            }
        }
        var limits = HTTPClientLimits()
        limits.connectionsPerHostMax = 8
        let client = try HTTPClient(limits)
        let wrong = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let call = HTTPCall("POST", server.url, body: Array("\(number)".utf8))
                    return await Self.outcome(client, call)
                        != .success(
                            HTTPAnswer(
                                status: 200,
                                headers: ["Content-Length": "\("\(number)".utf8.count)"],
                                body: Array("\(number)".utf8)))
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
        #expect((1...8).contains(server.connectionsCount))
    }

    @Test("more calls than the limit are refused before anything is sent")
    func tooMany() async throws {
        let gate = Gate()
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            gate.waitUntilOpen()
            connection.answer("ok")
        }
        var limits = HTTPClientLimits()
        limits.callsMax = 1
        let client = try HTTPClient(limits)
        async let first = Self.outcome(client, HTTPCall("GET", server.url))
        await gate.arrival()
        let second = await Self.outcome(client, HTTPCall("GET", server.url))
        gate.open()
        #expect(second == .failure(.tooManyCalls(callsMax: 1)))
        #expect(try await first.get().status == 200)
        // The place is free again.
        let third = await Self.outcome(client, HTTPCall("GET", server.url))
        #expect(try third.get().status == 200)
    }

    // MARK: What goes wrong

    @Test("nobody listens")
    func refused() async throws {
        let client = try HTTPClient()
        let call = HTTPCall("GET", "http://127.0.0.1:\(RawServer.freePort())/")
        #expect(await Self.outcome(client, call) == .failure(.couldNotConnect))
    }

    @Test("no such name")
    func unknownName() async throws {
        let call = HTTPCall("GET", "http://no-such-host.invalid/")
        #expect(await Self.outcome(try HTTPClient(), call) == .failure(.couldNotConnect))
    }

    @Test("a server that says nothing, or half an answer, costs the time-out and no more")
    func slow() async throws {
        let gate = Gate()
        defer { gate.open() }
        for part in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"] {
            let server = RawServer { connection in
                guard connection.read() != nil else { return }
                connection.write(part)
                gate.waitUntilOpen()
            }
            let call = HTTPCall("GET", server.url, timeout: .milliseconds(100))
            #expect(await Self.outcome(try HTTPClient(), call) == .failure(.timedOut))
        }
    }

    @Test("the time of a call runs while it waits for a connection")
    func slowQueue() async throws {
        let gate = Gate()
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            gate.waitUntilOpen()
            connection.answer("ok")
        }
        var limits = HTTPClientLimits()
        limits.connectionsPerHostMax = 1
        let client = try HTTPClient(limits)
        async let first = Self.outcome(client, HTTPCall("GET", server.url))
        await gate.arrival()
        let call = HTTPCall("GET", server.url, timeout: .milliseconds(100))
        #expect(await Self.outcome(client, call) == .failure(.timedOut))
        gate.open()
        #expect(try await first.get().status == 200)
    }

    @Test("an answer that is too long is broken off, declared or not")
    func huge() async throws {
        for head in ["Content-Length: 100000000", "Connection: close"] {
            let server = RawServer { connection in
                guard connection.read() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n")
                while connection.write([UInt8](repeating: 65, count: 65_536)) {}
            }
            var limits = HTTPClientLimits()
            limits.bodyBytesMax = 100_000
            let client = try HTTPClient(limits)
            let outcome = await Self.outcome(client, HTTPCall("GET", server.url))
            #expect(outcome == .failure(.bodyTooLarge(bytesMax: 100_000)))
        }
    }

    @Test("a head without end is broken off")
    func hugeHead() async throws {
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\n")
            while connection.write("X-More: \(String(repeating: "x", count: 1000))\r\n") {}
        }
        let outcome = await Self.outcome(try HTTPClient(), HTTPCall("GET", server.url))
        #expect(outcome == .failure(.badAnswer))
    }

    @Test(
        "a connection that breaks within the answer is told apart from one that never was",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "HTTP/1.1 200 OK\r\nX"])
    func broken(_ part: String) async throws {
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            connection.write(part)
        }
        let outcome = await Self.outcome(try HTTPClient(), HTTPCall("GET", server.url))
        #expect(outcome == .failure(.connectionLost))
    }

    @Test("what is no HTTP is no answer", arguments: ["SSH-2.0-x\r\n", "hello\r\n\r\n"])
    func noHTTP(_ words: String) async throws {
        let server = RawServer { connection in
            guard connection.read() != nil else { return }
            connection.write(words)
        }
        let outcome = await Self.outcome(try HTTPClient(), HTTPCall("GET", server.url))
        #expect(outcome == .failure(.badAnswer))
    }

    @Test("a server without TLS is not spoken to in the clear")
    func noTLS() async throws {
        let server = RawServer { connection in
            connection.answer("no", status: "400 Bad Request")
            _ = connection.read()
        }
        let call = HTTPCall("GET", "https://127.0.0.1:\(server.port)/")
        #expect(await Self.outcome(try HTTPClient(), call) == .failure(.insecure))
    }

    @Test(
        "an address that is none is refused",
        arguments: [
            "", "/path", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http://a b/",
            "http://127.0.0.1:99999/", "http://user:word@127.0.0.1/", "http://x\r\nHost: y/",
        ])
    func badURL(_ url: String) async throws {
        let outcome = await Self.outcome(try HTTPClient(), HTTPCall("GET", url))
        #expect(outcome == .failure(.badURL))
    }

    @Test("what would break the head is refused")
    func badHead() async throws {
        let client = try HTTPClient()
        let url = "http://127.0.0.1:1/"
        for call in [
            HTTPCall("GET / HTTP/1.1\r\nX:", url), HTTPCall("", url),
            HTTPCall("GET", url, headers: ["X-A": "a\r\nX-B: b"]),
            HTTPCall("GET", url, headers: ["X A": "a"]),
            HTTPCall("GET", url, headers: ["X-A": "a\u{0}"]),
        ] {
            guard case .failure(.badHead) = await Self.outcome(client, call) else {
                Issue.record("\(call.method) \(call.headers) was not refused")
                continue
            }
        }
    }

    // MARK: Cancelling

    @Test("a cancelled call ends at once and closes its connection; others go on")
    func cancelled() async throws {
        let gate = Gate()
        let server = RawServer { connection in
            while let request = connection.read() {
                guard request.line.contains("/wait") else {
                    connection.answer("ok")
                    continue
                }
                gate.arrive()
                // Ends when the client closes.
                _ = connection.read()
                gate.open()
            }
        }
        let client = try HTTPClient()
        let outcome = await withTaskGroup(of: Result<HTTPAnswer, HTTPCallFailure>.self) { group in
            group.addTask {
                await Self.outcome(client, HTTPCall("GET", server.url + "/wait"))
            }
            await gate.arrival()
            group.cancelAll()
            return await group.next()
        }
        #expect(outcome == .failure(.cancelled))
        await gate.opening()
        #expect(try await client.call(HTTPCall("GET", server.url)).status == 200)
    }

    @Test("a task that was cancelled before it calls sends nothing")
    func cancelledBefore() async throws {
        let server = Self.always("ok")
        let client = try HTTPClient()
        let outcome = await withTaskGroup(of: Result<HTTPAnswer, HTTPCallFailure>.self) { group in
            group.cancelAll()
            group.addTask { await Self.outcome(client, HTTPCall("GET", server.url)) }
            return await group.next()
        }
        #expect(outcome == .failure(.cancelled))
        #expect(server.connectionsCount == 0)
    }
}

/// A door that one side waits at and the other opens.
private final class Gate: Sendable {
    private let arrived = Signal()
    private let opened = Signal()

    func arrive() { arrived.give() }
    func arrival() async { await arrived.given() }
    func open() { opened.give() }
    func opening() async { await opened.given() }
    /// Says that somebody has arrived, and waits.
    func waitUntilOpen() {
        arrived.give()
        opened.wait()
    }
}
