import Primitives

/// The broker as a value: messages and the time go in, actions come out. It waits for nothing,
/// knows no socket, and reads no body.
///
/// Life of a request: queued → dispatched → (partial)* → final; or expired, refused, lost. It is
/// kept until its final reply, and handed out at most `attemptsMax` times.
package struct BrokerMachine: Sendable {
    package let limits: BrokerLimits
    package internal(set) var counters = BrokerCounters()
    /// What to do, in order. The shell performs them and calls `clearActions`.
    package internal(set) var actions: [BrokerAction] = []
    package internal(set) var isDraining = false

    var grants: [BrokerGrant?] = []
    var requests: [RequestRecord] = []
    var freeRequests: [Int32] = []
    var requestsInUse = 0
    var heldBytes = 0
    var queueLinks = LinkTable()
    var handLinks = LinkTable()
    var wheel: DeadlineWheel
    var clients: [ClientRecord] = []
    var freeClients: [Int32] = []
    var clientIndex: [RoutingID: Int32] = [:]
    var workers: [WorkerRecord] = []
    var freeWorkers: [Int32] = []
    var workerIndex: [RoutingID: Int32] = [:]
    var services: [ServiceRecord] = []
    var freeServices: [Int32] = []
    var serviceIndex: [String: Int32] = [:]
    var turns: [TurnRecord] = []
    var freeTurns: [Int32] = []
    var turnIndex: [UInt64: Int32] = [:]
    var ringLinks = LinkTable()
    var random: TokenRandom
    var failureBodies: [UInt16: [UInt8]] = [:]
    var due: [Int32] = []
    let requestMicroseconds: Int64
    let requestMicrosecondsMax: Int64
    var startedAt: SteadyTime
    var nextWorkerScanAt: SteadyTime
    var nextSweepAt: SteadyTime

    /// - Parameter seed: 32 random bytes, for address tokens and missing request ids.
    package init(limits: BrokerLimits, seed: [UInt8], now: SteadyTime) {
        self.limits = limits
        random = TokenRandom(seed: seed)
        wheel = DeadlineWheel(startingAt: now)
        requestMicroseconds = min(limits.requestTime, limits.requestTimeMax).wholeMicroseconds
        requestMicrosecondsMax = limits.requestTimeMax.wholeMicroseconds
        startedAt = now
        nextWorkerScanAt = now
        nextSweepAt = now
    }

    package mutating func clearActions() { actions.removeAll(keepingCapacity: true) }

    /// One message arrived. `payload` names header and body from `input.bodyStart` on, or is
    /// `none`; the machine owns it until it releases it or gives it away in an action.
    package mutating func receive(
        _ input: BrokerInput, payload: PayloadHandle, from peer: RoutingID, caller: CallerNumber,
        now: SteadyTime
    ) {
        switch input.kind {
        case .clientRequest: accept(input, payload, from: peer, caller, now)
        case .malformed(let problem):
            counters.count(problem)
            release(payload)
            if let worker = workerIndex[peer] { dismiss(worker, now) }
        case .worker(let command):
            receive(command, input, payload, from: peer, caller, now)
        }
    }

    /// A send to `peer` failed because nobody is there.
    package mutating func unreachable(_ peer: RoutingID, now: SteadyTime) {
        if let worker = workerIndex[peer] {
            counters.workersLost += 1
            remove(worker, now)
        } else {
            counters.clientsUnreachable += 1
        }
    }

    /// Time passed. Calls at least every 10 ms while there are requests keep every deadline.
    package mutating func tick(now: SteadyTime) {
        due.removeAll(keepingCapacity: true)
        wheel.advance(to: now, into: &due)
        for index in 0..<due.count { expire(due[index], now) }
        if now >= nextWorkerScanAt {
            nextWorkerScanAt = now + .milliseconds(Self.workerScanMilliseconds)
            scanWorkers(now)
        }
        if now >= nextSweepAt {
            nextSweepAt = now + .seconds(1)
            sweep(now)
        }
    }

    /// How long a shell may sleep when nothing arrives.
    package var sleepMax: Duration {
        if requestsInUse > 0 { return .milliseconds(10) }
        return workerIndex.isEmpty ? .seconds(1) : .milliseconds(Self.workerScanMilliseconds)
    }

    /// Resolution of heartbeats and of the search for silent workers.
    static let workerScanMilliseconds = 50

    /// Judges everybody anew: who lost a right is refused from now on, its workers are dismissed,
    /// its waiting requests fail. The array is indexed by caller number.
    package mutating func replaceGrants(_ grants: [BrokerGrant?], now: SteadyTime) {
        self.grants = grants
        for index in services.indices { services[index].judged.removeAll(keepingCapacity: true) }
        for index in workers.indices where workers[index].isUsed {
            let worker = workers[index]
            let name = services[Int(worker.service)].name
            if grant(worker.caller)?.mayServe(name) != true { dismiss(Int32(index), now) }
        }
        for index in requests.indices where requests[index].state == .queued {
            let request = requests[index]
            let caller = CallerNumber(rawValue: Int(request.caller))
            if !mayCall(caller, service: request.service) {
                unqueue(Int32(index))
                fail(Int32(index), .notAllowed)
            }
        }
    }

    /// Tells the grant of a caller that was not known before.
    package mutating func introduce(_ caller: CallerNumber, _ grant: BrokerGrant?) {
        while grants.count <= caller.rawValue { grants.append(nil) }
        grants[caller.rawValue] = grant
    }

    /// Takes no new request from now on. Ready to end when `requestsInUse` is zero.
    package mutating func drain() { isDraining = true }

    package var isIdle: Bool { requestsInUse == 0 }

    /// Says DISCONNECT to every worker: the last thing before the end.
    package mutating func disconnectAll(now: SteadyTime) {
        for index in workers.indices where workers[index].isUsed { dismiss(Int32(index), now) }
    }

    // MARK: Small things that all parts use

    func grant(_ caller: CallerNumber) -> BrokerGrant? {
        caller.rawValue >= 0 && caller.rawValue < grants.count ? grants[caller.rawValue] : nil
    }

    mutating func mayCall(_ caller: CallerNumber, service: Int32) -> Bool {
        let index = Int(service)
        let number = caller.rawValue
        guard number >= 0, number < grants.count else { return false }
        if number < services[index].judged.count, services[index].judged[number] != 0 {
            return services[index].judged[number] == 1
        }
        let isAllowed = grants[number]?.mayCall(services[index].name) == true
        while services[index].judged.count <= number { services[index].judged.append(0) }
        services[index].judged[number] = isAllowed ? 1 : 2
        return isAllowed
    }

    mutating func release(_ payload: PayloadHandle) {
        if payload != .none { actions.append(.release(payload)) }
    }

    mutating func failureBody(_ status: BusStatus) -> [UInt8] {
        if let body = failureBodies[status.rawValue] { return body }
        let body = FailureBody.json(status, retryAfterMilliseconds: retryAfter(status))
        failureBodies[status.rawValue] = body
        return body
    }

    func retryAfter(_ status: BusStatus) -> UInt32 {
        status == .overloaded ? limits.retryAfterMilliseconds : 0
    }

    mutating func answerFailure(
        _ status: BusStatus, to peer: RoutingID, _ dialect: Dialect, service: String,
        requestID: RequestID?
    ) {
        switch status {
        case .deadlinePassed: counters.failedDeadline += 1
        case .noSuchService: counters.failedNoService += 1
        case .notAllowed: counters.failedNotAllowed += 1
        case .overloaded: counters.failedOverloaded += 1
        case .workerLost: counters.failedWorkerLost += 1
        default: break
        }
        let header = requestID.map {
            ReplyHeader(
                requestID: $0, status: status, retryAfterMilliseconds: retryAfter(status))
        }
        actions.append(
            .answer(to: peer, dialect, service: service, header, body: failureBody(status)))
    }
}
