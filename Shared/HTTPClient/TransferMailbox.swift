import CLinuxCalls
import Glibc
import HTTPTypes
import Primitives
import Synchronization

struct CallStart: Sendable {
    let ticket: UInt64
    let call: HTTPCall
    let answer: UnsafeContinuation<Result<HTTPAnswer, HTTPCallFailure>, Never>
}

enum TransferCommand: Sendable {
    case start(CallStart)
    case cancel(UInt64)
    case close
}

/// Between the tasks that call and the thread that owns the connections.
final class TransferMailbox: Sendable {
    private struct State {
        var commands: [TransferCommand] = []
        var ticketLast: UInt64 = 0
        /// Tickets given out and not given back.
        var callsCount = 0
        var isRefusing = false
    }

    let callsMax: Int
    /// Readable when something was posted.
    let descriptor: Int32
    private let isSignalled = Atomic(false)
    private let state = Lock(State())

    init(callsMax: Int) throws(HTTPClientFault) {
        precondition(callsMax > 0, "a client that takes no call")
        self.callsMax = callsMax
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw HTTPClientFault(call: "eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    /// nil when `callsMax` calls are under way.
    func takeTicket() -> UInt64? {
        state.withLock { state in
            guard state.callsCount < callsMax else { return nil }
            state.callsCount += 1
            state.ticketLast += 1
            return state.ticketLast
        }
    }

    func giveBackTicket() { state.withLock { $0.callsCount -= 1 } }

    func post(_ command: TransferCommand) {
        let isRefused = state.withLock { state in
            guard !state.isRefusing else { return true }
            state.commands.append(command)
            return false
        }
        guard !isRefused else { return refuse(command) }
        guard !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Swaps what was posted for `spare`, which is empty and keeps its room.
    func take(_ spare: inout [TransferCommand]) {
        if isSignalled.load(ordering: .acquiring) {
            var value: UInt64 = 0
            _ = read(descriptor, &value, 8)
            isSignalled.store(false, ordering: .releasing)
        }
        state.withLock { swap(&$0.commands, &spare) }
    }

    /// No thread serves this mailbox: every call ends as a fault of the client.
    func refuseAll() {
        var waiting: [TransferCommand] = []
        state.withLock { state in
            state.isRefusing = true
            swap(&state.commands, &waiting)
        }
        for command in waiting { refuse(command) }
    }

    private func refuse(_ command: TransferCommand) {
        guard case .start(let start) = command else { return }
        giveBackTicket()
        start.answer.resume(returning: .failure(.clientFault))
    }
}

/// Starts a named thread; of the name at most 15 bytes count.
func startThread(
    _ name: String, _ body: @escaping @Sendable () -> Void
) throws(HTTPClientFault) {
    let name = String(name.prefix(15))
    let status = detachThread {
        _ = fusion_name_thread(name)
        body()
    }
    guard status == 0 else { throw HTTPClientFault(call: "pthread_create", code: status) }
}
