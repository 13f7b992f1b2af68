import CZeroMQ
import Majordomo
import Primitives

/// Something that owns sockets on a `SocketThread`. It is made, used and dropped there.
protocol SocketOwner: AnyObject {
    /// Empties mailboxes, receives, sends, keeps timers; true when it did something.
    func service(_ now: SteadyTime) -> Bool
    /// Appends what to wait for.
    func appendPollItems(_ items: inout [zmq_pollitem_t])
    /// When `service` has something to do though nothing arrives; nil for never.
    var wakeAt: SteadyTime? { get }
    /// True when it has closed its sockets and may be dropped.
    var isEnded: Bool { get }
    /// The thread ends: close everything.
    func end()
}

/// A thread that owns the sockets of a process's clients and workers. Others talk to it through
/// mailboxes of its owners and `wake`.
public final class SocketThread: Sendable {
    private struct State {
        var isStopped = false
        var newOwners: [@Sendable () -> any SocketOwner] = []
    }

    let context: ZeroMQContext
    let wake: WakeSignal
    private let state = Lock(State())

    public init(_ context: ZeroMQContext) throws {
        self.context = context
        wake = try WakeSignal()
        try startThread("fusion-bus") { [self] in run() }
    }

    /// Makes an owner on the thread.
    func add(_ make: @escaping @Sendable () -> any SocketOwner) {
        state.withLock { $0.newOwners.append(make) }
        wake.set()
    }

    /// Closes all sockets and ends the thread; calls that wait are cancelled.
    public func stop() {
        state.withLock { $0.isStopped = true }
        wake.set()
    }

    private func run() {
        var owners: [any SocketOwner] = []
        while true {
            wake.clear()
            let (isStopped, added) = state.withLock { state in
                defer { state.newOwners = [] }
                return (state.isStopped, state.newOwners)
            }
            for make in added { owners.append(make()) }
            if isStopped {
                for owner in owners { owner.end() }
                return
            }
            let now = SteadyTime.now()
            var didWork = false
            for owner in owners where owner.service(now) { didWork = true }
            owners.removeAll { $0.isEnded }
            if !didWork { sleep(owners, now) }
        }
    }

    private func sleep(_ owners: [any SocketOwner], _ now: SteadyTime) {
        var items = [
            zmq_pollitem_t(
                socket: nil, fd: wake.descriptor, events: Int16(ZMQ_POLLIN), revents: 0)
        ]
        var milliseconds = Self.sleepMillisecondsMax
        for owner in owners {
            owner.appendPollItems(&items)
            guard let wakeAt = owner.wakeAt else { continue }
            // Rounded up: a timer that is not due yet must not turn into a busy loop.
            let left = (wakeAt.microseconds - now.microseconds + 999) / 1000
            milliseconds = min(milliseconds, max(Int(left), 0))
        }
        zmq_poll(&items, Int32(items.count), milliseconds)
    }

    private static let sleepMillisecondsMax = 60_000
}

extension zmq_pollitem_t {
    init(_ socket: ZeroMQSocket, writable: Bool = false) {
        let events = writable ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN
        self.init(socket: socket.raw, fd: 0, events: Int16(events), revents: 0)
    }
}

/// Receives messages of a DEALER into slots that are used again.
struct FrameReader: ~Copyable {
    private let messages: UnsafeMutablePointer<zmq_msg_t>
    private let views: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    private var count = 0

    init() {
        messages = .allocate(capacity: Wire.framesMax + 1)
        views = .allocate(capacity: Wire.framesMax)
        for index in 0...Wire.framesMax { zmq_msg_init(messages + index) }
    }

    deinit {
        for index in 0...Wire.framesMax { zmq_msg_close(messages + index) }
        messages.deallocate()
        views.deallocate()
    }

    /// False when nothing is there. A message of too many frames is cut, which no decoder accepts.
    mutating func receive(_ socket: ZeroMQSocket) -> Bool {
        count = 0
        var hasMore = true
        while hasMore {
            let message = messages + min(count, Wire.framesMax)
            while zmq_msg_recv(message, socket.raw, ZMQ_DONTWAIT) < 0 {
                if zmq_errno() != EINTR { return false }
            }
            hasMore = zmq_msg_more(message) != 0
            if count < Wire.framesMax {
                views[count] = UnsafeRawBufferPointer(
                    start: zmq_msg_data(message), count: zmq_msg_size(message))
                count += 1
            }
        }
        return true
    }

    /// Valid until the next `receive`.
    var frames: FrameViews { FrameViews(rebasing: views[..<count]) }

    /// All frames from `start` on, as one body.
    func body(from start: Int) -> [UInt8] {
        guard start < count else { return [] }
        if start == count - 1 { return Array(views[start]) }
        return (start..<count).flatMap { Array(views[$0]) }
    }
}
