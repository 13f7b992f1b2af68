import Messages
import Primitives

/// Everything the sandbox remembers, with its bounds. It is gone with the process.
struct SandboxState: Sendable {
    static let simsMax = 20_000
    static let tokensMax = 50_000
    static let referencesMax = 100_000
    static let inboxesMax = 20_000
    static let messagesPerInboxMax = 50
    static let newestMax = 1_000
    static let faultsMax = 1_000
    static let proofsMax = 20_000
    static let pendingMax = 20_000
    static let tokenLifetime = Duration.seconds(600)

    struct Token: Sendable {
        let sim: SIMID
        let number: PhoneNumber
        let carrier: Carrier
        let expiresAt: WallTime
        /// The exchange that used it up.
        var reference: String?
    }

    struct Fault: Sendable {
        let kind: SMSFault
        let delay: Duration
    }

    /// Something that happens later: an SMS that arrives, a receipt.
    struct Pending: Sendable {
        let dueAt: WallTime
        let arrival: Arrival?
        let receipt: Receipt?
    }

    struct Arrival: Sendable {
        let number: PhoneNumber
        let text: String
        let reference: String
    }

    struct Receipt: Sendable {
        let reference: String
        let delivered: Bool
        let reason: String?
    }

    var sims = BoundedMap<SIMID, SIM>(countMax: Self.simsMax)
    var simByNumber = BoundedMap<PhoneNumber, SIMID>(countMax: Self.simsMax)
    var tokens = BoundedMap<String, Token>(countMax: Self.tokensMax)
    var exchanged = BoundedMap<String, String>(countMax: Self.tokensMax)
    var references = BoundedMap<String, SubmittedSMS>(countMax: Self.referencesMax)
    var faults = BoundedMap<PhoneNumber, Fault>(countMax: Self.faultsMax)
    var faultOfAll: Fault?
    var usedProofs = BoundedMap<String, Bool>(countMax: Self.proofsMax)
    private var inboxes = BoundedMap<PhoneNumber, [InboxMessage]>(countMax: Self.inboxesMax)
    private var newest: [InboxMessage] = []
    private var lastSequence: Int64 = 0
    /// In order of `dueAt`.
    private var pending: [Pending] = []

    func fault(for number: PhoneNumber) -> Fault? { faults[number] ?? faultOfAll }

    /// The phone with this number; an unknown number gets one that works.
    mutating func sim(of number: PhoneNumber, fresh id: SIMID) -> SIM {
        if let known = simByNumber[number].flatMap({ sims[$0] }) { return known }
        let sim = SIM(
            simId: id, numbers: [number], dataSlot: 0, carrier: .mobile, fault: .none,
            delayMilliseconds: 0)
        put(sim)
        return sim
    }

    mutating func put(_ sim: SIM) {
        sims.put(sim.simId, sim)
        for number in sim.numbers { simByNumber.put(number, sim.simId) }
    }

    mutating func arrive(_ arrival: Arrival, at now: WallTime) {
        lastSequence += 1
        let message = InboxMessage(
            sequence: lastSequence, number: arrival.number, text: arrival.text,
            reference: arrival.reference, arrivedAtMilliseconds: now.millisecondsSince1970)
        let inbox = (inboxes[arrival.number] ?? []) + [message]
        inboxes.put(arrival.number, inbox.suffix(Self.messagesPerInboxMax))
        newest.append(message)
        if newest.count > 2 * Self.newestMax { newest.removeFirst(newest.count - Self.newestMax) }
    }

    /// After a sequence the oldest that follow it, without one the newest; newest last.
    func read(_ number: PhoneNumber?, after sequence: Int64?, limit: Int) -> [InboxMessage] {
        let all = number.map { inboxes[$0] ?? [] } ?? newest
        guard let sequence else { return all.suffix(limit) }
        return Array(all.filter { $0.sequence > sequence }.prefix(limit))
    }

    /// - Returns: false, and changes nothing, when too much waits already.
    mutating func later(_ item: Pending) -> Bool {
        guard pending.count < Self.pendingMax else { return false }
        let position = pending.lastIndex { $0.dueAt <= item.dueAt }.map { $0 + 1 } ?? 0
        pending.insert(item, at: position)
        return true
    }

    /// Takes what is due, at most `limit`.
    mutating func due(at now: WallTime, limit: Int) -> [Pending] {
        let count = pending.prefix(limit).prefix { $0.dueAt <= now }.count
        defer { pending.removeFirst(count) }
        return Array(pending.prefix(count))
    }
}
