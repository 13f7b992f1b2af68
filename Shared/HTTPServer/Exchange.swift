import CMicroHTTP
import HTTPTypes
import Primitives

/// One request and its answer, between its connection's thread and the task that answers.
///
/// The library may be told to suspend and to resume a connection only in turns. Both happen under the
/// lock of this exchange, and resuming never after `end`.
final class Exchange: @unchecked Sendable {
    /// What the connection's thread finds when it asks for the answer.
    enum Finding {
        case answer(HTTPResponse)
        /// Nothing yet: the connection is suspended now.
        case waits
        /// Close the connection.
        case aborted
    }

    enum PieceFinding {
        case bytes(Int)
        case waits
        case ended
        case aborted
    }

    private typealias Pusher = CheckedContinuation<Bool, Never>

    private struct Shared {
        var response: HTTPResponse?
        var isSuspended = false
        var isAborted = false
        var hasEnded = false
        var task: Task<Void, Never>?
        var isStreaming = false
        var piece: ArraySlice<UInt8> = []
        var isStreamOver = false
        /// Waits until the piece is on its way.
        var pusher: Pusher?
    }

    let link: Link
    private let connection: UInt

    // These belong to the thread of the connection.
    let targetAddress: UInt
    let target: [UInt8]
    var head: HTTPRequestHead?
    var body: [UInt8] = []
    var bodyBytesMax = 0
    /// The connection ends with this answer.
    var isLast = false
    var hasStarted = false
    /// One of `requestsMax`.
    var hasPlace = false
    var sendsStream = false
    /// Of `GoneWatch`, while that looks.
    var watchTicket: UInt64?

    private let shared = Lock(Shared())

    init(link: Link, connection: UnsafeMutableRawPointer, target: UnsafePointer<CChar>) {
        self.link = link
        self.connection = UInt(bitPattern: connection)
        targetAddress = UInt(bitPattern: target)
        self.target = target.withMemoryRebound(to: UInt8.self, capacity: 1) { bytes in
            var count = 0
            while bytes[count] != 0 { count += 1 }
            return Array(UnsafeBufferPointer(start: bytes, count: count))
        }
    }

    /// Of the library, valid until `end`.
    var pointer: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: connection) }

    var isStreaming: Bool { shared.withLock { $0.isStreaming } }
    var isAborted: Bool { shared.withLock { $0.isAborted } }

    // MARK: On the connection's thread

    /// The answer, or suspends until there is one.
    func find() -> Finding {
        shared.withLock { shared in
            if shared.isAborted { return .aborted }
            if let response = shared.response { return .answer(response) }
            shared.isSuspended = true
            fusion_http_suspend(pointer)
            return .waits
        }
    }

    /// Copies what there is of the stream, or suspends until there is more.
    func readPiece(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> PieceFinding {
        let (finding, pusher) = shared.withLock { shared -> (PieceFinding, Pusher?) in
            if shared.isAborted { return (.aborted, nil) }
            if shared.piece.isEmpty {
                if shared.isStreamOver { return (.ended, nil) }
                shared.isSuspended = true
                fusion_http_suspend(pointer)
                return (.waits, nil)
            }
            let count = min(buffer.count, shared.piece.count)
            _ = buffer.update(fromContentsOf: shared.piece.prefix(count))
            shared.piece = shared.piece.dropFirst(count)
            guard shared.piece.isEmpty else { return (.bytes(count), nil) }
            defer { shared.pusher = nil }
            return (.bytes(count), shared.pusher)
        }
        pusher?.resume(returning: true)
        return finding
    }

    func hold(_ task: Task<Void, Never>) {
        shared.withLock { $0.task = task }
    }

    /// The library has no more use for it.
    func end(isWhole: Bool) {
        let (task, pusher) = shared.withLock { shared in
            shared.hasEnded = true
            defer {
                shared.task = nil
                shared.pusher = nil
            }
            return (shared.task, shared.pusher)
        }
        if !isWhole { task?.cancel() }
        pusher?.resume(returning: false)
    }

    // MARK: On any thread

    /// Answers, and sends the pieces of a stream one after another.
    func run(_ handler: any HTTPHandler, _ request: HTTPRequest) async {
        let response = await handler.answer(request)
        guard case .stream(let next) = response.body else { return give(response) }
        let isBodiless = request.method == "HEAD" || [204, 304].contains(response.status)
        shared.withLock {
            $0.isStreaming = true
            $0.isStreamOver = isBodiless
        }
        give(response)
        guard !isBodiless else { return }
        while !Task.isCancelled, let piece = await next() {
            if piece.isEmpty { continue }
            guard await push(piece) else { break }
        }
        shared.withLock { shared in
            shared.isStreamOver = true
            resume(&shared)
        }
    }

    private func give(_ response: HTTPResponse) {
        shared.withLock { shared in
            shared.response = response
            resume(&shared)
        }
    }

    /// - Returns: false when nobody takes it any more.
    private func push(_ piece: [UInt8]) async -> Bool {
        await withCheckedContinuation { continuation in
            let isTaken = shared.withLock { shared in
                guard !shared.hasEnded, !shared.isAborted else { return false }
                shared.piece = piece[...]
                shared.pusher = continuation
                resume(&shared)
                return true
            }
            if !isTaken { continuation.resume(returning: false) }
        }
    }

    /// Ends a stream at its next piece; leaves other answers alone.
    func endStream() {
        let task = shared.withLock { $0.isStreaming ? $0.task : nil }
        task?.cancel()
    }

    /// The connection is closed without, or in the middle of, its answer.
    func abort() {
        let (task, pusher) = shared.withLock { shared in
            shared.isAborted = true
            resume(&shared)
            defer { shared.pusher = nil }
            return (shared.task, shared.pusher)
        }
        task?.cancel()
        pusher?.resume(returning: false)
    }

    private func resume(_ shared: inout Shared) {
        guard shared.isSuspended, !shared.hasEnded else { return }
        shared.isSuspended = false
        fusion_http_resume(pointer)
    }
}
