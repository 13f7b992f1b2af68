import Effects
import Messages
import Primitives
import Storage

/// One code of a challenge. The code itself is not here: it is derived from the challenge's id,
/// `sequence` and the key of `keyVersion`.
struct IssuedCode: Codable, Sendable, Equatable {
    let sequence: Int
    let sentAt: WallTime
    private(set) var expiresAt: WallTime
    let length: Int
    let alphabet: CodeAlphabet
    let keyVersion: UInt16
    /// A test number's fixed code as a digest bound to the challenge; nothing is derived then.
    let fixed: FixedCode?
    /// Sequence of the code that took its place.
    var supersededBy: Int?

    struct FixedCode: Codable, Sendable, Equatable {
        /// Of the code as it is, and of the code with its case folded.
        let exact: VersionedDigest
        let folded: VersionedDigest
        /// When the number stops being a test number.
        let endsAt: WallTime
    }

    func isLive(at now: WallTime) -> Bool {
        supersededBy == nil && now < expiresAt && now < fixed?.endsAt ?? expiresAt
    }

    mutating func extend(to instant: WallTime) { expiresAt = max(expiresAt, instant) }
}

/// An open demand for a code: one scheme, purpose, number and run (or none).
///
/// A resend adds a code to the challenge or repeats one; which codes are then live is the duplicate
/// policy's matter. Moves: open → accepted, open → cancelled. Expired is an open challenge without a live
/// code, superseded a code that another one replaced; exhausted is the guess window's word.
/// Invariant: at most one challenge of a slot has a live code; at most `codesMax` codes are kept.
struct CodeChallenge: StoredRow, Equatable {
    enum State: String, Codable, Sendable { case open, accepted, cancelled }

    /// What a send asks of the codes.
    struct Order: Sendable {
        let policy: DuplicatePolicy
        let length: Int
        let alphabet: CodeAlphabet
        let lifetime: Duration
        let keyVersion: UInt16
        let fixed: IssuedCode.FixedCode?
    }

    /// A code is never valid longer than this after it was first sent, nor repeated with less than
    /// `usefulMin` left.
    static let lifetimeMax = Duration.seconds(600)
    static let usefulMin = Duration.seconds(60)
    /// More than the sends of a day; a test number may send any number of times.
    static let codesMax = 12
    /// How long an ended challenge still tells how it ended.
    static let keptFor = Duration.seconds(24 * 3600)

    let id: ChallengeID
    let schemeCode: String
    /// Owner of the scheme, who may ask for this challenge.
    let owner: String
    let purpose: String
    let runID: RunID?
    /// Digest of scheme, purpose, number and run.
    let slot: String
    /// Digest of scheme and number.
    let holder: String
    /// Sealed.
    let number: StoredBytes
    let caseSensitive: Bool
    let createdAt: WallTime
    private(set) var state = State.open
    private(set) var codes: [IssuedCode] = []
    private(set) var nextSequence = 0
    private(set) var sentCount = 0
    private(set) var newestMessage: MessageID?
    private(set) var resendAt: WallTime
    private(set) var latestAt: WallTime

    init(
        id: ChallengeID, schemeCode: String, owner: String, purpose: String, runID: RunID?,
        slot: String, holder: String, number: StoredBytes, caseSensitive: Bool, at now: WallTime
    ) {
        self.id = id
        self.schemeCode = schemeCode
        self.owner = owner
        self.purpose = purpose
        self.runID = runID
        self.slot = slot
        self.holder = holder
        self.number = number
        self.caseSensitive = caseSensitive
        createdAt = now
        resendAt = now
        latestAt = now
    }

    /// When the last of its codes ends.
    var expiresAt: WallTime { codes.map(\.expiresAt).max() ?? createdAt }
    var keptUntil: WallTime { expiresAt + Self.keptFor }
    var newest: IssuedCode? { codes.last { $0.supersededBy == nil } ?? codes.last }

    func live(at now: WallTime) -> [IssuedCode] {
        guard state == .open else { return [] }
        let now = max(now, latestAt)
        return codes.filter { $0.isLive(at: now) }
    }

    /// Sends a code under this challenge: a new one, or the live one again.
    /// - Returns: the code to hand to the provider.
    mutating func send(
        _ order: Order, message: MessageID, resendAt: WallTime, at instant: WallTime
    ) -> IssuedCode {
        precondition(state == .open, "a code is sent under an open challenge")
        latestAt = max(instant, latestAt)
        let now = latestAt
        sentCount += 1
        newestMessage = message
        self.resendAt = resendAt
        if order.policy == .same, let repeated = repeatLive(order, now) { return repeated }
        let code = IssuedCode(
            sequence: nextSequence, sentAt: now, expiresAt: now + order.lifetime,
            length: order.length, alphabet: order.alphabet, keyVersion: order.keyVersion,
            fixed: order.fixed)
        nextSequence += 1
        if order.policy != .all {
            for index in codes.indices where codes[index].supersededBy == nil {
                codes[index].supersededBy = code.sequence
            }
        }
        codes.append(code)
        if codes.count > Self.codesMax { codes.removeFirst(codes.count - Self.codesMax) }
        return code
    }

    /// A provider refused the message that carried `sequence`: the code is gone, and those it replaced
    /// are what they were.
    /// - Parameter wasNew: the code was made for that message, not repeated by it.
    mutating func withdraw(_ sequence: Int, wasNew: Bool, resendAt now: WallTime) {
        resendAt = now
        sentCount = max(0, sentCount - 1)
        guard wasNew else { return }
        codes.removeAll { $0.sequence == sequence }
        for index in codes.indices where codes[index].supersededBy == sequence {
            codes[index].supersededBy = codes.last { $0.sequence > sequence }?.sequence
        }
    }

    mutating func accept(at now: WallTime) {
        precondition(state == .open, "only an open challenge is accepted")
        latestAt = max(now, latestAt)
        state = .accepted
    }

    /// - Returns: whether a code was live.
    mutating func cancel(at now: WallTime) -> Bool {
        guard state == .open else { return false }
        let wasLive = !live(at: now).isEmpty
        latestAt = max(now, latestAt)
        state = .cancelled
        return wasLive
    }

    /// The state to show; `isExhausted` is the guess window's.
    func shown(at now: WallTime, isExhausted: Bool) -> ChallengeState {
        switch state {
        case .accepted: .accepted
        case .cancelled: .cancelled
        case .open: live(at: now).isEmpty ? .expired : isExhausted ? .exhausted : .pending
        }
    }

    private mutating func repeatLive(_ order: Order, _ now: WallTime) -> IssuedCode? {
        guard
            let index = codes.lastIndex(where: {
                $0.isLive(at: now) && $0.length == order.length && $0.alphabet == order.alphabet
                    && ($0.fixed == nil) == (order.fixed == nil)
            })
        else { return nil }
        let end = min(now + order.lifetime, codes[index].sentAt + Self.lifetimeMax)
        guard max(end, codes[index].expiresAt) - now >= Self.usefulMin else { return nil }
        codes[index].extend(to: end)
        return codes[index]
    }
}

extension CodeChallenge {
    /// Whether a caller that has the id means this one: what it names beside the id must be so.
    func isOf(scheme: String?, purpose: String?) -> Bool {
        func isSame(_ given: String?, _ own: String) -> Bool {
            given.map { $0.utf8.elementsEqual(own.utf8) } ?? true
        }
        return isSame(scheme, schemeCode) && isSame(purpose, self.purpose)
    }
}
