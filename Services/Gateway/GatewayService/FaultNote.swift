import Bus
import Messages
import Primitives

/// What the bus refused last while a request was answered: where the answer is a fault of ours, the
/// log tells it, since the answer does not.
final class FaultNote: Sendable {
    struct Entry: Sendable, Hashable {
        /// `scene.submit`
        let method: String
        let code: ErrorCode
    }

    /// Of the request that this task answers; nil outside of any.
    @TaskLocal static var current: FaultNote?

    private let last = Lock<Entry?>(nil)

    var entry: Entry? { last.withLock { $0 } }

    func note(_ method: String, _ code: ErrorCode) {
        last.withLock { $0 = Entry(method: method, code: code) }
    }
}

/// The bus as the edges have it: it leaves word of every call that failed.
struct NotedBus: BusCaller {
    private let bus: any BusCaller

    init(_ bus: any BusCaller) { self.bus = bus }

    func call<Request: BusRequest>(
        _ request: Request, _ options: CallOptions
    ) async throws(ServiceFailure) -> Request.Reply {
        do throws(ServiceFailure) {
            return try await bus.call(request, options)
        } catch {
            FaultNote.current?.note(Request.method.name, error.code)
            throw error
        }
    }
}
