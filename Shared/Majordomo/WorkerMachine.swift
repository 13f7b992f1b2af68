import Primitives

/// One registration at one broker, as a value: opens, registers, keeps heartbeats, answers,
/// registers again on a new connection after a loss, drains.
package struct WorkerMachine: Sendable {
    /// A request in hand. Its reply goes out only on the connection that it came from.
    package struct Ticket: Hashable, Sendable {
        package let address: [UInt8]
        package let connection: Int
    }

    package enum Action: Hashable, Sendable {
        /// Close what is open, then connect anew.
        case open
        case sendReady
        case sendHeartbeat(window: String?)
        case handle(Ticket)
        case sendReply(Ticket)
        /// More requests than this worker ever granted: answer `overloaded`.
        case refuse(Ticket)
        case sendDisconnect
        /// Nothing follows; close the connection with time to flush.
        case end
    }

    package struct Times: Hashable, Sendable {
        package var reconnectMin = Duration.milliseconds(100)
        package var reconnectMax = Duration.seconds(1)
        /// Against a broker that knows no credit.
        package var plainHeartbeat = Duration.milliseconds(2_500)
        package var plainSilence = Duration.seconds(10)
        package var silentIntervalsMax = 4
        package var drainMax = Duration.seconds(10)
        package init() {}
    }

    private enum State: Hashable, Sendable {
        case closed(until: SteadyTime)
        case open
        case ended
    }

    package let capabilities: WorkerCapabilities
    package let times: Times
    /// Whether the broker has answered READY with a grant.
    package private(set) var isGranted = false
    package private(set) var inHandCount = 0
    package private(set) var repliesDropped: Int64 = 0
    private var state: State
    private var connection = 0
    private var heardAt: SteadyTime
    private var sentAt: SteadyTime
    private var failures = 0
    private var drainingUntil: SteadyTime?
    private var isDrainKnown = false

    package init(capabilities: WorkerCapabilities, times: Times = Times(), now: SteadyTime) {
        self.capabilities = capabilities
        self.times = times
        state = .closed(until: now)
        heardAt = now
        sentAt = now
    }

    private var credit: Int { capabilities.credit ?? 1 }
    private var heartbeat: Duration {
        isGranted ? .milliseconds(capabilities.heartbeatMilliseconds) : times.plainHeartbeat
    }
    private var silenceMax: Duration {
        isGranted ? heartbeat * times.silentIntervalsMax : times.plainSilence
    }

    package var isOpen: Bool { state == .open }
    package var isEnded: Bool { state == .ended }

    /// - Parameter jitter: 0..<1, drawn by the shell; spreads reconnections by ±20 %.
    package mutating func receive(
        _ input: WorkerInput, now: SteadyTime, jitter: Double
    ) -> [Action] {
        guard state == .open else { return [] }
        heardAt = now
        switch input {
        case .malformed: return []
        case .heartbeat(let granted):
            if let window = granted?.credit {
                isGranted = true
                failures = 0
                if drainingUntil != nil, window == 0 { isDrainKnown = true }
            }
            return drainStep(now)
        case .disconnect:
            if drainingUntil != nil { return finish() }
            return close(now, jitter)
        case .request(let address, _, _):
            failures = 0
            inHandCount += 1
            let ticket = Ticket(address: address, connection: connection)
            // Twice the window: a broker may count a late answer before the worker does.
            return [inHandCount > credit * 2 ? .refuse(ticket) : .handle(ticket)]
        }
    }

    /// The connection broke: nothing that was in hand can be answered on it.
    package mutating func connectionLost(now: SteadyTime, jitter: Double) {
        guard state == .open else { return }
        _ = drainingUntil != nil ? finish() : close(now, jitter)
    }

    /// The handler answered.
    package mutating func finished(_ ticket: Ticket, now: SteadyTime) -> [Action] {
        guard ticket.connection == connection, state == .open else {
            repliesDropped += 1
            return drainStep(now)
        }
        inHandCount -= 1
        sentAt = now
        return [.sendReply(ticket)] + drainStep(now)
    }

    package mutating func tick(now: SteadyTime, jitter: Double) -> [Action] {
        switch state {
        case .ended: return []
        case .closed(let until):
            guard drainingUntil == nil else { return finish() }
            guard now >= until else { return [] }
            state = .open
            heardAt = now
            sentAt = now
            return [.open, .sendReady]
        case .open:
            if let until = drainingUntil, now >= until { return [.sendDisconnect] + finish() }
            if now - heardAt >= silenceMax { return close(now, jitter) }
            guard now - sentAt >= heartbeat else { return drainStep(now) }
            sentAt = now
            return [.sendHeartbeat(window: nil)] + drainStep(now)
        }
    }

    /// Stops taking requests. What is in hand is answered first, for at most `drainMax`.
    package mutating func drain(now: SteadyTime) -> [Action] {
        guard drainingUntil == nil else { return [] }
        drainingUntil = now + times.drainMax
        guard state == .open else { return finish() }
        guard isGranted else {
            isDrainKnown = true
            return drainStep(now)
        }
        sentAt = now
        let window = WorkerCapabilities.window(
            credit: 0, heartbeatMilliseconds: capabilities.heartbeatMilliseconds)
        return [.sendHeartbeat(window: window)]
    }

    /// When `tick` has something to do next.
    package var wakeAt: SteadyTime? {
        switch state {
        case .ended: return nil
        case .closed(let until): return until
        case .open:
            let next = min(sentAt + heartbeat, heardAt + silenceMax)
            return drainingUntil.map { min(next, $0) } ?? next
        }
    }

    /// Ends once the broker has confirmed credit 0 (nothing more can be on its way) and nothing is
    /// in hand.
    private mutating func drainStep(_ now: SteadyTime) -> [Action] {
        guard drainingUntil != nil, isDrainKnown, inHandCount == 0, state == .open else {
            return []
        }
        return [.sendDisconnect] + finish()
    }

    private mutating func finish() -> [Action] {
        guard state != .ended else { return [] }
        state = .ended
        return [.end]
    }

    private mutating func close(_ now: SteadyTime, _ jitter: Double) -> [Action] {
        let doubled = times.reconnectMin * (1 << min(failures, 16))
        let wait = min(doubled, times.reconnectMax)
        failures += 1
        isGranted = false
        inHandCount = 0
        connection += 1
        state = .closed(until: now + wait * (0.8 + 0.4 * jitter))
        return []
    }
}
