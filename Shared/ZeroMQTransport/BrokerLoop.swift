import CZeroMQ
import Glibc
import Majordomo
import Primitives
import Synchronization

/// What the outside tells the broker's thread.
enum BrokerControl: Sendable {
    case reload
    case drain(until: SteadyTime, @Sendable () -> Void)
    case stop(@Sendable () -> Void)
}

/// What the broker's thread and the outside share.
final class BrokerShared: Sendable {
    struct State {
        var controls: [BrokerControl] = []
        var counters = BrokerCounters()
        var peersFull: Int64 = 0
    }
    let state = Lock(State())
    let wake: WakeSignal
    let admissions: Admissions

    init(_ admissions: Admissions) throws(ZeroMQFault) {
        wake = try WakeSignal()
        self.admissions = admissions
    }

    func post(_ control: BrokerControl) {
        state.withLock { $0.controls.append(control) }
        wake.set()
    }
}

/// The broker's one thread: receive, decide, send; timers; control; spin; sleep. Everything it
/// holds is made on that thread and dies with it.
struct BrokerLoop: ~Copyable {
    private let socket: ZeroMQSocket
    private let shared: BrokerShared
    private let spinMicroseconds: Int64
    private var machine: BrokerMachine
    private var sink: RouterSink
    private let routing: UnsafeMutablePointer<zmq_msg_t>
    private let views: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    private let frames: UnsafeMutableBufferPointer<Int32>
    private let userIDName: UnsafeMutablePointer<CChar>?
    private var knownCallers = 0
    private var policyRevision: UInt64 = 0
    private var peersFull: Int64 = 0
    private var drain: (until: SteadyTime, done: @Sendable () -> Void)?
    private var nextReportAt = SteadyTime(microseconds: 0)

    init(
        socket: ZeroMQSocket, shared: BrokerShared, limits: BrokerLimits, spinMicroseconds: Int64
    ) {
        self.socket = socket
        self.shared = shared
        self.spinMicroseconds = spinMicroseconds
        machine = BrokerMachine(limits: limits, seed: systemRandom(32), now: .now())
        sink = RouterSink(socket)
        routing = .allocate(capacity: 1)
        zmq_msg_init(routing)
        views = .allocate(capacity: Wire.framesMax)
        frames = .allocate(capacity: Wire.framesMax)
        userIDName = strdup("User-Id")
    }

    deinit {
        zmq_msg_close(routing)
        routing.deallocate()
        views.deallocate()
        frames.deallocate()
        free(userIDName)
    }

    /// Returns when told to stop; the socket stays open for its owner, who calls what is returned
    /// when it has closed it.
    mutating func run() -> @Sendable () -> Void {
        var trafficAt = SteadyTime.now()
        while true {
            var now = SteadyTime.now()
            var received = 0
            while received < Bound.receivesMax, receive(now) { received += 1 }
            machine.tick(now: now)
            perform(now)
            if let done = obeyControls(now) { return done }
            if received > 0 {
                trafficAt = now
                continue
            }
            now = .now()
            if now.microseconds - trafficAt.microseconds < spinMicroseconds { continue }
            report(now)
            sleep()
        }
    }

    private func sleep() {
        var items = [
            zmq_pollitem_t(socket: socket.raw, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0),
            zmq_pollitem_t(
                socket: nil, fd: shared.wake.descriptor, events: Int16(ZMQ_POLLIN), revents: 0),
        ]
        zmq_poll(&items, 2, Int(machine.sleepMax.wholeMilliseconds))
    }

    // MARK: Receiving

    /// One message, if there is one.
    private mutating func receive(_ now: SteadyTime) -> Bool {
        guard zmq_msg_recv(routing, socket.raw, ZMQ_DONTWAIT) >= 0 else { return false }
        var count = 0
        var isTooLong = false
        var hasMore = zmq_msg_more(routing) != 0
        while hasMore {
            let slot = sink.slots.take()
            let message = sink.slots.message(slot)
            guard zmq_msg_recv(message, socket.raw, ZMQ_DONTWAIT) >= 0 else {
                sink.slots.release(slot)
                break
            }
            hasMore = zmq_msg_more(message) != 0
            if count < Wire.framesMax {
                frames[count] = slot
                views[count] = sink.slots.bytes(slot)
                count += 1
            } else {
                isTooLong = true
                sink.slots.release(slot)
            }
        }
        let input =
            isTooLong
            ? BrokerInput(kind: .malformed(.tooManyFrames))
            : BrokerInput(FrameViews(rebasing: views[..<count]))
        let caller = callerNumber(count)
        let payload = keepBody(input, count)
        // Here and not between rounds: what was sent after a reload is judged by the new policy.
        adoptPolicy(now)
        let peer = RoutingID(
            UnsafeRawBufferPointer(start: zmq_msg_data(routing), count: zmq_msg_size(routing)))
        machine.receive(input, payload: payload, from: peer, caller: caller, now: now)
        perform(now)
        return true
    }

    /// Links the frames of the body into one chain and gives the others back.
    private mutating func keepBody(_ input: BrokerInput, _ count: Int) -> PayloadHandle {
        var first = count
        var hasPayload = false
        switch input.kind {
        case .clientRequest, .worker(.partial), .worker(.final):
            hasPayload = true
            first = min(input.bodyStart, count)
        case .worker, .malformed: break
        }
        for index in 0..<first { sink.slots.release(frames[index]) }
        guard hasPayload else { return .none }
        // A body that is missing becomes an empty one.
        guard first < count else { return PayloadHandle(rawValue: sink.slots.take()) }
        for index in first..<count - 1 { sink.slots.link(frames[index], to: frames[index + 1]) }
        return PayloadHandle(rawValue: frames[first])
    }

    /// The number that ZAP gave; read from the last frame, for libzmq before 4.3.5 loses it on the
    /// first one.
    private mutating func callerNumber(_ count: Int) -> CallerNumber {
        guard count > 0, let userIDName,
            let text = zmq_msg_gets(sink.slots.message(frames[count - 1]), userIDName)
        else { return CallerNumber(rawValue: -1) }
        var number = 0
        var cursor = text
        while cursor.pointee != 0, number <= Admissions.identitiesMax {
            let digit = Int(cursor.pointee) - 48
            guard digit >= 0, digit <= 9 else { return CallerNumber(rawValue: -1) }
            number = number * 10 + digit
            cursor += 1
        }
        if number >= knownCallers { introduceCallers() }
        return CallerNumber(rawValue: number)
    }

    private mutating func introduceCallers() {
        let grants = shared.admissions.grants()
        for number in knownCallers..<max(grants.count, knownCallers) {
            machine.introduce(CallerNumber(rawValue: number), grants[number])
        }
        knownCallers = max(grants.count, knownCallers)
    }

    // MARK: Performing

    private mutating func perform(_ now: SteadyTime) {
        // What fails adds actions at the end, so the count is read anew each time.
        var index = 0
        while index < machine.actions.count {
            let action = machine.actions[index]
            index += 1
            if case .release(let payload) = action {
                sink.slots.releaseChain(payload.rawValue)
            } else if !action.write(to: &sink) {
                undelivered(action, now)
            }
        }
        if index > 0 { machine.clearActions() }
    }

    private mutating func undelivered(_ action: BrokerAction, _ now: SteadyTime) {
        let isGone = sink.problem == EHOSTUNREACH
        switch action {
        case .request(let peer, _, _, _, _, _, _):
            // A full pipe above the largest window means that this worker no longer reads.
            if !isGone { peersFull += 1 }
            machine.unreachable(peer, now: now)
        case .heartbeat(let peer, _, _), .reply(let peer, _, _, _, _, _, _),
            .answer(let peer, _, _, _, _):
            if isGone { machine.unreachable(peer, now: now) } else { peersFull += 1 }
        case .disconnect, .release: break
        }
    }

    // MARK: Control

    /// Not nil when the loop must end.
    private mutating func obeyControls(_ now: SteadyTime) -> (@Sendable () -> Void)? {
        let isSignalled = shared.wake.clear()
        if let drain, machine.isIdle || now >= drain.until {
            self.drain = nil
            machine.disconnectAll(now: now)
            perform(now)
            report(now)
            drain.done()
        }
        guard isSignalled else { return nil }
        let controls = shared.state.withLock { state in
            defer { state.controls = [] }
            return state.controls
        }
        for control in controls {
            switch control {
            case .reload: adoptPolicy(now)
            case .drain(let until, let done):
                machine.drain()
                drain = (until, done)
                shared.wake.set()
            case .stop(let done):
                report(now)
                return done
            }
        }
        return nil
    }

    private mutating func adoptPolicy(_ now: SteadyTime) {
        let revision = shared.admissions.revision.load(ordering: .acquiring)
        guard revision != policyRevision else { return }
        policyRevision = revision
        let grants = shared.admissions.grants()
        knownCallers = max(knownCallers, grants.count)
        machine.replaceGrants(grants, now: now)
        perform(now)
    }

    private mutating func report(_ now: SteadyTime) {
        guard now >= nextReportAt else { return }
        nextReportAt = now + .milliseconds(200)
        let counters = machine.counters
        let full = peersFull
        shared.state.withLock {
            $0.counters = counters
            $0.peersFull = full
        }
    }
}
