import Effects
import Glibc
import HTTPTypes
import Primitives

@testable import HTTPServer

/// A client that sends what it likes and reads until the server has nothing more to say.
final class Wire: Sendable {
    struct TimedOut: Error {}

    private static let patienceSeconds = 10

    let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // The descriptor is closed by `deinit` in any case.
        guard status == 0 else {
            throw HTTPServerProblem.system(call: "connect", reason: "\(errno)")
        }
        var wait = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            offset += count
        }
    }

    /// A reset instead of an orderly end.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &linger,
            socklen_t(MemoryLayout<Glibc.linger>.size))
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// The client says that it is done, as one that closes does.
    func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// What came until `isEnough` says so, or until the end of the connection. Waits in a thread of
    /// its own: the pool's few belong to the server's tasks.
    func read(
        until isEnough: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try startThread("test-read") { [self] in
                    continuation.resume(with: Result { try readHere(isEnough) })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private func readHere(_ isEnough: (String) -> Bool) throws -> String {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &part, part.count, 0)
            if count < 0, errno == EAGAIN { throw TimedOut() }
            if count > 0 { bytes += part[..<count] }
            let text = String(decoding: bytes, as: UTF8.self)
            if count <= 0 || isEnough(text) { return text }
        }
    }

    /// One request and everything up to the end of the connection.
    static func ask(_ port: Int, _ text: String) async throws -> String {
        let wire = try Wire(port: port)
        wire.send(text)
        return try await wire.read()
    }
}

/// What a test's server does at `/…`.
struct TestHandler: HTTPHandler {
    var bodyBytesMax = 100
    let noticed = Noticed()
    /// Opened by the test.
    let gate = Gate()

    func bodyBytesMax(_ head: HTTPRequestHead) -> Int { bodyBytesMax }

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        noticed.note(request.method + " " + request.path)
        switch request.path {
        case "/wait":
            let isOpen = await gate.wait()
            noticed.note(isOpen ? "opened" : "cancelled")
            return .text(200, "waited")
        case "/stream": return stream(pieces: ["one", "two", "three"])
        case "/endless":
            return HTTPResponse(
                status: 200, headers: ["Content-Type": "text/event-stream"],
                body: .stream { [gate, noticed] in
                    if noticed.count("piece") == 0 {
                        noticed.note("piece")
                        return Array("first".utf8)
                    }
                    if await gate.wait() { return nil }
                    noticed.note("cancelled")
                    return nil
                })
        default:
            return .text(
                200,
                "\(request.method) \(request.path) \(request.head.query ?? "-")"
                    + " \(request.headers["host"] ?? "-") \(request.body.count)\n")
        }
    }

    func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead) -> HTTPResponse {
        .text(refusal.status, "refused \(refusal)\n")
    }

    private func stream(pieces: [String]) -> HTTPResponse {
        let left = Lock(pieces)
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "text/plain"],
            body: .stream {
                left.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) }
            })
    }
}

final class Noticed: Sendable {
    private let words = Lock<[String]>([])

    func note(_ word: String) { words.withLock { $0.append(word) } }
    func count(_ word: String) -> Int { words.withLock { $0.filter { $0 == word }.count } }
}

/// Opens once; whoever waits in a task that is cancelled is let go.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var cancelled: Set<Int> = []
        var next = 0
    }

    private let state = Lock(State())

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }

    /// - Returns: false when the task was cancelled.
    func wait() async -> Bool {
        let ticket = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if state.isOpen { return true }
                    if state.cancelled.contains(ticket) { return false }
                    state.waiting[ticket] = continuation
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.cancelled.insert(ticket)
                return state.waiting.removeValue(forKey: ticket)
            }
            waiting?.resume(returning: false)
        }
    }
}

struct TestPause: Pause {
    func wait(_ span: Duration) async throws(CancellationError) {
        do { try await Task.sleep(for: span) } catch { throw CancellationError() }
    }

    func steadyNow() -> Duration { coarseNow() }
}

/// A server for the length of `body`.
func withServer(
    _ handler: TestHandler = TestHandler(), _ change: (inout HTTPServerSettings) -> Void = { _ in },
    _ body: (HTTPServer) async throws -> Void
) async throws {
    var settings = HTTPServerSettings()
    settings.drainMax = .seconds(5)
    change(&settings)
    let server = try HTTPServer(settings, handler: handler, pause: TestPause())
    do {
        try await body(server)
    } catch {
        handler.gate.open()
        await server.drain()
        throw error
    }
    handler.gate.open()
    await server.drain()
}

/// One setting that differs.
func with<Value>(
    _ path: WritableKeyPath<HTTPServerSettings, Value>, _ value: Value
) -> (inout HTTPServerSettings) -> Void {
    { $0[keyPath: path] = value }
}

/// Waits for what another thread does; what is awaited is a fact, not a time.
func until(_ what: String, _ condition: () -> Bool) async throws {
    let deadline = coarseNow() + .seconds(10)
    while !condition() {
        guard coarseNow() < deadline else { throw Late(what: what) }
        await Task.yield()
    }
}

struct Late: Error { let what: String }
