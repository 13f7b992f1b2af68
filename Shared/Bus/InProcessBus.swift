package import Effects
package import Primitives

/// What happens to one message on its way, as a network or a fault plan decides.
package struct MessageFate: Sendable {
    /// One entry per copy that arrives, each after its delay; empty loses the message.
    package let arrivals: [Duration]

    package init(arrivals: [Duration]) { self.arrivals = arrivals }
    package static let atOnce = MessageFate(arrivals: [.zero])
}

/// Decides the fate of every message of an in-process bus.
package protocol MessageFates: Sendable {
    func request(service: String) -> MessageFate
    func reply(service: String) -> MessageFate
}

package struct PerfectFates: MessageFates {
    package init() {}
    package func request(service: String) -> MessageFate { .atOnce }
    package func reply(service: String) -> MessageFate { .atOnce }
}

/// The bus without sockets, for tests and simulated worlds: encoded bytes, principals, deadlines,
/// credit,
/// requeue once when a worker dies, and whatever faults its fates say. Same contract as the real
/// one.
package final class InProcessBus: Sendable {
    /// How long a request waits for a worker of its service.
    package static let absentServiceWait = Duration.seconds(5)
    package static let queuedMax = 10_000

    fileprivate struct Worker: Sendable {
        let number: Int
        let host: String
        let registration: ServiceRegistration
        let handler: BusHandler
        var inHand: [Int] = []
        var isDraining = false
    }

    fileprivate struct Request: Sendable {
        let number: Int
        let service: String
        var header: BusHeader
        let body: [UInt8]
        let expiresAt: Duration
        let answer: @Sendable (BusReply) -> Void
        var worker: Int?
    }

    fileprivate struct State: Sendable {
        var nextNumber = 0
        var workers: [Worker] = []
        var requests: [Int: Request] = [:]
        var queue: [Int] = []
        var drained: [Int: [@Sendable () -> Void]] = [:]
    }

    private let pause: any Pause
    private let pump: RequestPump
    private let fates: any MessageFates
    private let state = Lock(State())

    package init(
        pause: any Pause, pump: RequestPump = RequestPump(),
        fates: any MessageFates = PerfectFates()
    ) {
        self.pause = pause
        self.pump = pump
        self.fates = fates
    }

    package func link(as principal: Principal) -> any BusLink {
        InProcessLink(bus: self, principal: principal)
    }

    /// - Parameter host: names the process, so that `crash` can take it away.
    package func listener(host: String = "host") -> any BusListener {
        InProcessListener(bus: self, host: host)
    }

    /// The process is gone: what it had in hand goes to another worker once, what it would still
    /// answer is lost.
    package func crash(host: String) {
        let lost = state.withLock { state -> [Request] in
            let gone = state.workers.filter { $0.host == host }
            state.workers.removeAll { $0.host == host }
            var failed: [Request] = []
            for number in gone.flatMap(\.inHand) {
                guard var request = state.requests[number] else { continue }
                if request.header.attempt < 2 {
                    request.header.attempt += 1
                    request.worker = nil
                    state.requests[number] = request
                    state.queue.insert(number, at: 0)
                } else {
                    state.requests[number] = nil
                    failed.append(request)
                }
            }
            return failed
        }
        for request in lost { request.answer(BusReply(status: .workerLost)) }
        dispatch()
    }

    // MARK: -

    fileprivate func submit(
        _ service: String, _ header: BusHeader, _ body: [UInt8], _ principal: Principal,
        _ answer: @escaping @Sendable (BusReply) -> Void
    ) {
        var header = header
        header.principal = principal
        header.attempt = 1
        let now = pause.steadyNow()
        let timeLeft: Duration =
            header.timeLeftMilliseconds == BusHeader.noDeadline
            ? .seconds(3600) : .milliseconds(Int64(header.timeLeftMilliseconds))
        for delay in fates.request(service: service).arrivals {
            let header = header
            later(delay) { [self] in
                let (number, isFull) = state.withLock { state -> (Int, Bool) in
                    state.nextNumber += 1
                    let number = state.nextNumber
                    guard state.queue.count < Self.queuedMax else { return (number, true) }
                    state.requests[number] = Request(
                        number: number, service: service, header: header, body: body,
                        expiresAt: now + timeLeft, answer: answer)
                    state.queue.append(number)
                    return (number, false)
                }
                guard !isFull else { return answer(BusReply(status: .overloaded)) }
                later(min(timeLeft, Self.absentServiceWait)) { [self] in expireQueued(number) }
                dispatch()
            }
        }
    }

    private func expireQueued(_ number: Int) {
        let request = state.withLock { state -> Request? in
            guard let request = state.requests[number], request.worker == nil else { return nil }
            state.queue.removeAll { $0 == number }
            state.requests[number] = nil
            return request
        }
        request?.answer(BusReply(status: .noSuchService))
    }

    private func dispatch() {
        while let (request, handler) = state.withLock({ $0.next() }) {
            var header = request.header
            let left = (request.expiresAt - pause.steadyNow()).wholeMilliseconds
            header.timeLeftMilliseconds = UInt32(clamping: max(0, left))
            pump.start { [self, header] in
                let reply = await handler(request.service, header, request.body)
                finish(request.number, attempt: header.attempt, reply)
            }
        }
    }

    private func finish(_ number: Int, attempt: UInt8, _ reply: BusReply) {
        let request = state.withLock { state -> Request? in
            // A worker that crashed meanwhile, or an earlier attempt, does not answer any more.
            guard let request = state.requests[number], request.header.attempt == attempt,
                let worker = request.worker,
                let index = state.workers.firstIndex(where: { $0.number == worker })
            else { return nil }
            state.workers[index].inHand.removeAll { $0 == number }
            state.requests[number] = nil
            return request
        }
        notifyDrained()
        guard let request else { return }
        for delay in fates.reply(service: request.service).arrivals {
            later(delay) { request.answer(reply) }
        }
        dispatch()
    }

    private func later(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        guard delay > .zero else { return body() }
        let pause = pause
        pump.start {
            do { try await pause.wait(delay) } catch { return }
            body()
        }
    }

    fileprivate func register(
        _ host: String, _ registrations: [ServiceRegistration], _ handler: @escaping BusHandler
    ) -> [Int] {
        let numbers = state.withLock { state in
            registrations.map { registration in
                state.nextNumber += 1
                state.workers.append(
                    Worker(
                        number: state.nextNumber, host: host, registration: registration,
                        handler: handler))
                return state.nextNumber
            }
        }
        dispatch()
        return numbers
    }

    fileprivate func drain(_ numbers: [Int], _ done: @escaping @Sendable () -> Void) {
        state.withLock { state in
            for index in state.workers.indices where numbers.contains(state.workers[index].number) {
                state.workers[index].isDraining = true
            }
            state.drained[numbers.first ?? 0, default: []].append(done)
        }
        notifyDrained()
    }

    private func notifyDrained() {
        let done = state.withLock { state -> [@Sendable () -> Void] in
            guard !state.drained.isEmpty else { return [] }
            let busy = state.workers.contains { $0.isDraining && !$0.inHand.isEmpty }
            guard !busy else { return [] }
            state.workers.removeAll(where: \.isDraining)
            defer { state.drained = [:] }
            return state.drained.keys.sorted().flatMap { state.drained[$0] ?? [] }
        }
        for body in done { body() }
    }
}

extension InProcessBus.State {
    /// The first queued request that a worker with free credit serves; least busy worker first.
    fileprivate mutating func next() -> (InProcessBus.Request, BusHandler)? {
        for (position, number) in queue.enumerated() {
            guard var request = requests[number] else { continue }
            let candidates = workers.indices.filter {
                workers[$0].registration.service == request.service && !workers[$0].isDraining
                    && workers[$0].inHand.count < workers[$0].registration.credit
            }
            guard
                let chosen = candidates.min(by: {
                    (workers[$0].inHand.count, $0) < (workers[$1].inHand.count, $1)
                })
            else { continue }
            queue.remove(at: position)
            workers[chosen].inHand.append(number)
            request.worker = workers[chosen].number
            requests[number] = request
            return (request, workers[chosen].handler)
        }
        return nil
    }
}

private struct InProcessLink: BusLink {
    let bus: InProcessBus
    let principal: Principal

    func exchange(_ service: String, _ header: BusHeader, _ body: [UInt8]) async -> BusReply {
        await bus.exchange(service, header, body, principal)
    }
}

extension InProcessBus {
    fileprivate func exchange(
        _ service: String, _ header: BusHeader, _ body: [UInt8], _ principal: Principal
    ) async -> BusReply {
        let answered = Once<BusReply>()
        return await withTaskCancellationHandler {
            if header.timeLeftMilliseconds != BusHeader.noDeadline {
                later(.milliseconds(Int64(header.timeLeftMilliseconds))) {
                    answered.settle(BusReply(status: .deadlinePassed))
                }
            }
            submit(service, header, body, principal) { answered.settle($0) }
            return await answered.value()
        } onCancel: {
            answered.settle(BusReply(status: .cancelled))
        }
    }
}

/// A value that is settled once, before or after somebody waits for it; later settlings change
/// nothing.
private final class Once<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case settled(Value)
    }
    private let state = Lock(State.open)

    func settle(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .open:
                state = .settled(value)
                return nil
            case .awaited(let continuation):
                state = .settled(value)
                return continuation
            case .settled: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// One caller waits.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let settled = state.withLock { state -> Value? in
                if case .settled(let value) = state { return value }
                state = .awaited(continuation)
                return nil
            }
            if let settled { continuation.resume(returning: settled) }
        }
    }
}

private final class InProcessListener: BusListener {
    private let bus: InProcessBus
    private let host: String
    private let registered = Lock<[Int]>([])
    private let ended = Once<Void>()

    init(bus: InProcessBus, host: String) {
        self.bus = bus
        self.host = host
    }

    func serve(_ registrations: [ServiceRegistration], _ handler: @escaping BusHandler) async throws
    {
        let numbers = bus.register(host, registrations, handler)
        registered.withLock { $0 = numbers }
        await withTaskCancellationHandler {
            await ended.value()
        } onCancel: {
            ended.settle(())
        }
    }

    func drain() async {
        let numbers = registered.withLock { $0 }
        guard !numbers.isEmpty else { return }
        let drained = Once<Void>()
        bus.drain(numbers) { drained.settle(()) }
        await drained.value()
        ended.settle(())
    }
}
