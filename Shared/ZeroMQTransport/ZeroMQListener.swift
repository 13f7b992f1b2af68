package import Bus
import Majordomo
import Primitives

/// The serving end over ZeroMQ: one DEALER per registration and broker, MDP/0.2 with credit and
/// `BUS1`.
///
/// Heartbeats come from the socket thread, also while handlers are busy.
package final class ZeroMQListener: BusListener {
    private let brokers: [BrokerEndpoint]
    private let thread: SocketThread
    private let shared: ListenerShared
    private let times: WorkerMachine.Times

    package convenience init(_ brokers: [BrokerEndpoint], thread: SocketThread) {
        self.init(brokers, thread: thread, times: WorkerMachine.Times())
    }

    init(_ brokers: [BrokerEndpoint], thread: SocketThread, times: WorkerMachine.Times) {
        precondition(!brokers.isEmpty, "a listener needs a broker")
        self.brokers = brokers
        self.thread = thread
        self.times = times
        shared = ListenerShared(thread.wake)
    }

    /// Once in the life of a listener.
    package func serve(
        _ registrations: [ServiceRegistration], _ handler: @escaping BusHandler
    ) async throws {
        let (brokers, context, shared, times) = (brokers, thread.context, shared, times)
        thread.add { ListenerOwner(brokers, registrations, context, shared, times) }
        await withTaskCancellationHandler {
            await Self.handle(shared, handler)
        } onCancel: {
            shared.post(.stop)
        }
        try Task.checkCancellation()
    }

    /// Returns when everything in hand is answered, or the bound of ten seconds has passed.
    package func drain() async {
        shared.post(.drain)
        await shared.waitForEnd()
    }

    /// One child task per request; the credit granted to brokers bounds their number.
    @concurrent
    private static func handle(
        _ shared: ListenerShared, _ handler: @escaping BusHandler
    ) async {
        await withDiscardingTaskGroup { group in
            while let batch = await shared.nextBatch() {
                for request in batch {
                    group.addTask {
                        let reply = await handler(request.service, request.header, request.body)
                        shared.post(.answered(request.origin, reply))
                    }
                }
            }
            // The sockets are closed: a handler that still works can answer nobody. Its task is
            // told so, or the bound of `drain` would be the handler's to break.
            group.cancelAll()
        }
        shared.ended()
    }
}

/// Where a request came from, and what its reply needs.
struct RequestOrigin: Sendable {
    let lane: Int
    let ticket: WorkerMachine.Ticket
    let requestID: [UInt8]
    let wantsHeader: Bool
}

struct IncomingRequest: Sendable {
    let origin: RequestOrigin
    let service: String
    let header: BusHeader
    let body: [UInt8]
}

enum ListenerCommand: Sendable {
    case answered(RequestOrigin, BusReply)
    case drain
    /// At once: what is in hand is given up.
    case stop
}

/// Mailboxes between the socket thread and the tasks that handle requests.
final class ListenerShared: Sendable {
    private struct State {
        var commands: [ListenerCommand] = []
        var requests: [IncomingRequest] = []
        var waiter: CheckedContinuation<[IncomingRequest]?, Never>?
        var isClosed = false
        var isEnded = false
        var endWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    private let wake: WakeSignal

    init(_ wake: WakeSignal) { self.wake = wake }

    func post(_ command: ListenerCommand) {
        state.withLock { $0.commands.append(command) }
        wake.set()
    }

    func take(_ spare: inout [ListenerCommand]) {
        state.withLock { swap(&$0.commands, &spare) }
    }

    /// From the socket thread: everything of one round at once.
    func deliver(_ requests: inout [IncomingRequest]) {
        guard !requests.isEmpty else { return }
        let ready = state.withLock {
            state -> (CheckedContinuation<[IncomingRequest]?, Never>, [IncomingRequest])? in
            state.requests.append(contentsOf: requests)
            guard let waiter = state.waiter else { return nil }
            state.waiter = nil
            defer { state.requests.removeAll(keepingCapacity: true) }
            return (waiter, state.requests)
        }
        requests.removeAll(keepingCapacity: true)
        if let (waiter, batch) = ready { waiter.resume(returning: batch) }
    }

    /// No request follows.
    func close() {
        let waiter = state.withLock { state in
            state.isClosed = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }

    /// nil after `close`.
    func nextBatch() async -> [IncomingRequest]? {
        await withCheckedContinuation { continuation in
            let ready: [IncomingRequest]?? = state.withLock { state in
                if !state.requests.isEmpty {
                    defer { state.requests.removeAll(keepingCapacity: true) }
                    return .some(state.requests)
                }
                if state.isClosed { return .some(nil) }
                state.waiter = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    func ended() {
        let waiters = state.withLock { state in
            state.isEnded = true
            defer { state.endWaiters = [] }
            return state.endWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.endWaiters.append(continuation) }
                return state.isEnded
            }
            if isEnded { continuation.resume() }
        }
    }
}
