import Messages
import Primitives
import Storage

/// One SMS: what to send, how far it got, and the outbox that it is.
///
/// Moves: sending → sent, queued, refused, abandoned; queued → sending, abandoned; sent → delivered,
/// undelivered; simulated stays. A receipt may come before the provider's answer is written. A row that a
/// crash left sending is taken again when its lease ends: same reference, same code.
struct SMSMessage: StoredRow, Equatable {
    enum Kind: String, Codable, Sendable { case code, text, notice }

    /// A window that counted this send.
    struct Share: Codable, Sendable, Equatable {
        let window: String
        let countedAt: WallTime
    }

    static let keptFor = Duration.seconds(30 * 24 * 3600)
    static let attemptsMax = 10
    static let backoffFirst = Duration.seconds(5)
    static let backoffMax = Duration.seconds(60)
    /// Longer than any delivery takes; then another instance may send it again.
    static let lease = Duration.seconds(15)
    static let deliveryTimeMax = Duration.seconds(10)

    let id: MessageID
    let kind: Kind
    let schemeCode: String
    /// Digest of scheme and number, and of the number alone.
    let holder: String
    let anybody: String
    /// Both sealed.
    let number: StoredBytes
    let content: StoredBytes
    let challenge: ChallengeID?
    let sequence: Int?
    /// The code was made for this message, not repeated by it.
    let codeIsNew: Bool
    let templateCode: String?
    let outId: String?
    let createdAt: WallTime
    /// From then on sending it makes no sense.
    let usefulUntil: WallTime
    private(set) var shares: [Share]
    private(set) var state: DeliveryState
    private(set) var reason: String?
    private(set) var attempts = 0
    private(set) var nextProvider = 0
    private(set) var dueAt: WallTime
    private(set) var sentAt: WallTime?
    private(set) var deliveredAt: WallTime?

    init(
        id: MessageID, kind: Kind, schemeCode: String, holder: String, anybody: String,
        number: StoredBytes, content: StoredBytes, challenge: ChallengeID? = nil,
        sequence: Int? = nil, codeIsNew: Bool = false, templateCode: String? = nil,
        outId: String? = nil, usefulUntil: WallTime, shares: [Share] = [], at now: WallTime
    ) {
        self.id = id
        self.kind = kind
        self.schemeCode = schemeCode
        self.holder = holder
        self.anybody = anybody
        self.number = number
        self.content = content
        self.challenge = challenge
        self.sequence = sequence
        self.codeIsNew = codeIsNew
        self.templateCode = templateCode
        self.outId = outId
        self.usefulUntil = usefulUntil
        self.shares = shares
        createdAt = now
        state = .queued
        dueAt = now
    }

    var keptUntil: WallTime { createdAt + Self.keptFor }
    /// Whether a pump has to look at it.
    var isOpen: Bool { state == .queued || state == .sending }
    /// Names the lease: who holds an older one settles nothing but that the message was taken.
    var lease: Int { attempts }

    mutating func simulate() { state = .simulated }

    mutating func take(at now: WallTime) {
        precondition(isOpen, "only an open message is taken")
        state = .sending
        attempts += 1
        dueAt = now + Self.lease
    }

    mutating func sent(at now: WallTime) {
        guard isOpen else { return }
        state = .sent
        sentAt = now
        reason = nil
    }

    /// - Returns: the shares to give back.
    mutating func refused(_ reason: String) -> [Share] {
        guard isOpen else { return [] }
        state = .refused
        self.reason = Self.bounded(reason)
        defer { shares = [] }
        return shares
    }

    /// Puts it back, or gives it up.
    mutating func put(back now: WallTime, nextProvider: Int, isRoundOver: Bool, after: Duration?) {
        guard state == .sending else { return }
        self.nextProvider = nextProvider
        let wait = isRoundOver ? max(after ?? .zero, Self.backoff(after: attempts)) : .zero
        guard attempts < Self.attemptsMax else { return abandon("attempts_exhausted") }
        guard now + wait < usefulUntil else { return abandon("too_late") }
        state = .queued
        dueAt = now + wait
    }

    mutating func abandon(_ reason: String) {
        guard isOpen else { return }
        state = .abandoned
        self.reason = reason
    }

    /// - Returns: whether it changed anything.
    mutating func receive(delivered: Bool, reason: String?, at instant: WallTime) -> Bool {
        switch state {
        case .sent, .sending, .queued: break
        // The message came after all.
        case .undelivered: guard delivered else { return false }
        default: return false
        }
        sentAt = sentAt ?? instant
        state = delivered ? .delivered : .undelivered
        deliveredAt = delivered ? instant : nil
        self.reason = delivered ? nil : reason.map(Self.bounded)
        return true
    }

    /// 5 s, 15 s, 45 s, then 60 s: at most three calls within the first minute.
    static func backoff(after attempts: Int) -> Duration {
        var wait = backoffFirst
        for _ in 1..<max(1, min(attempts, 8)) { wait = min(wait * 3, backoffMax) }
        return wait
    }

    private static func bounded(_ reason: String) -> String { reason.prefix(bytesMax: 128) }
}
