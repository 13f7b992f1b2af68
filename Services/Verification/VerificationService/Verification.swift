import Messages
import Primitives
import Storage

/// One demand for a decision on possession: what was won in a node (or came with a direct call),
/// and what became of it.
///
/// Moves: open → open (a time-out, a text that has not arrived), open → passed, open → refused.
/// Nothing leaves the last two. `expired` is no stored state: an open verification past `expiresAt`
/// is never admitted again.
/// Invariant: `decision` is set exactly when the state is not open, and never changes.
///
/// A lease lets one call at a time ask the evidence; it ends by itself, so that a crash costs its
/// length.
struct Verification: StoredRow, Equatable {
    enum State: String, Codable, Sendable { case open, passed, refused }

    /// Where and for what a mask token was won. A direct call (`get_number`, `match_number`) has
    /// none.
    struct Binding: Codable, Sendable, Equatable {
        let templateId: String
        let runId: RunID
        let step: Int
        let nodeId: String
        let purpose: String
        /// Sealed. The number to be proven; another one is refused.
        let expectedNumber: StoredBytes?
        /// Sealed. This number is refused.
        let excludedNumber: StoredBytes?
        /// Ask a scorer on PASS.
        let wantsScore: Bool
    }

    struct Lease: Codable, Sendable, Equatable {
        let holder: String
        let until: WallTime
    }

    /// Final.
    struct Decision: Codable, Sendable, Equatable {
        let result: VerificationResult
        let reason: VerificationReason?
        /// Sealed; on PASS only.
        let number: StoredBytes?
        let phoneScore: Int?
        let attemptsLeft: Int?
        let decidedAt: WallTime
    }

    /// The digest of the token that is exchanged, never the token.
    let key: String
    let id: VerificationID
    let schemeCode: String
    let binding: Binding?
    let evidence: KeptEvidence
    let openedAt: WallTime
    let expiresAt: WallTime
    let keptUntil: WallTime

    private(set) var state = State.open
    private(set) var lease: Lease?
    /// Raised by every evaluation, so that a call that waited sees that there was one.
    private(set) var evaluationsCount = 0
    /// Of the last evaluation that left the row open.
    private(set) var lastReason: VerificationReason?
    private(set) var decision: Decision?
    /// The latest time this row has seen: a clock that jumps back gives no lifetime back.
    private(set) var latestAt: WallTime

    /// How long after the expiry a call that was admitted before it may still be finished: it
    /// covers a restart with the call in hand.
    static let graceAfterExpiry = Duration.seconds(60)

    init(
        key: String, id: VerificationID, schemeCode: String, binding: Binding?,
        evidence: KeptEvidence, openedAt: WallTime, expiresAt: WallTime, keptUntil: WallTime
    ) {
        precondition(openedAt < expiresAt && expiresAt <= keptUntil, "a life has an order")
        self.key = key
        self.id = id
        self.schemeCode = schemeCode
        self.binding = binding
        self.evidence = evidence
        self.openedAt = openedAt
        self.expiresAt = expiresAt
        self.keptUntil = keptUntil
        latestAt = openedAt
    }

    // MARK: Decisions

    enum Admission: Sendable, Equatable {
        /// The lease is the caller's: it asks the evidence and settles.
        case taken
        /// Admitted, but another call asks the evidence now.
        case busy
        /// There is a final decision.
        case decided(Decision)
        case expired
    }

    /// A call arrives.
    mutating func admit(
        _ holder: String, at now: WallTime, leaseFor span: Duration
    ) -> Admission {
        let now = latest(now)
        if let decision { return .decided(decision) }
        guard now < expiresAt else { return .expired }
        return take(holder, now, span) ? .taken : .busy
    }

    enum Claim: Sendable, Equatable {
        case taken
        case busy
        /// Nothing is left to ask: the row holds the answer.
        case settled
    }

    /// A call that was admitted earlier, and waited or was lost, tries to go on.
    /// - Parameter evaluationsSeen: the count when it was admitted.
    mutating func claim(
        _ holder: String, evaluationsSeen: Int, at now: WallTime, leaseFor span: Duration
    ) -> Claim {
        let now = latest(now)
        guard decision == nil, evaluationsCount == evaluationsSeen,
            now < expiresAt + Self.graceAfterExpiry
        else { return .settled }
        return take(holder, now, span) ? .taken : .busy
    }

    /// What an evaluation came to. The first final verdict stays; a later one gets that one's
    /// answer.
    /// - Parameter number: the proven number, sealed.
    /// - Returns: the answer of the call that evaluated.
    mutating func settle(
        _ verdict: Verdict, number: StoredBytes?, phoneScore: Int?, holder: String,
        at now: WallTime
    ) -> CallAnswer {
        let now = latest(now)
        if let decision { return .late(decision) }
        if lease?.holder == holder { lease = nil }
        evaluationsCount += 1
        switch verdict {
        case .open(let reason):
            lastReason = reason
            return .unknown(reason, attemptsLeft: nil)
        case .refused(let reason, let attemptsLeft):
            return decide(.refused, .unknown, reason, attemptsLeft: attemptsLeft, at: now)
        case .reject:
            return decide(.refused, .reject, .numberMismatch, at: now)
        case .pass:
            guard now < expiresAt + Self.graceAfterExpiry else {
                return decide(.refused, .unknown, .maskTokenExpired, at: now)
            }
            return decide(.passed, .pass, nil, number, phoneScore, at: now)
        }
    }

    /// The answer of an admitted call that asks no evidence any more.
    func answer(evaluationsSeen: Int, at now: WallTime) -> CallAnswer {
        if let decision { return .late(decision) }
        if now >= expiresAt + Self.graceAfterExpiry {
            return .unknown(.maskTokenExpired, attemptsLeft: nil)
        }
        if evaluationsCount > evaluationsSeen, let lastReason {
            return .unknown(lastReason, attemptsLeft: nil)
        }
        return .unknown(.tryAgain, attemptsLeft: nil)
    }

    // MARK: -

    private mutating func decide(
        _ state: State, _ result: VerificationResult, _ reason: VerificationReason?,
        _ number: StoredBytes? = nil, _ phoneScore: Int? = nil, attemptsLeft: Int? = nil,
        at now: WallTime
    ) -> CallAnswer {
        precondition(self.state == .open, "a decision is made once")
        precondition((result == .pass) == (number != nil), "a PASS names its number")
        self.state = state
        lease = nil
        let decision = Decision(
            result: result, reason: reason, number: number, phoneScore: phoneScore,
            attemptsLeft: attemptsLeft, decidedAt: now)
        self.decision = decision
        return result == .pass ? .pass : .late(decision)
    }

    private mutating func take(_ holder: String, _ now: WallTime, _ span: Duration) -> Bool {
        if let lease, lease.holder != holder, lease.until > now { return false }
        lease = Lease(holder: holder, until: now + span)
        return true
    }

    private mutating func latest(_ now: WallTime) -> WallTime {
        latestAt = max(latestAt, now)
        return latestAt
    }
}

/// What one call is told.
enum CallAnswer: Codable, Sendable, Equatable {
    case pass
    case reject
    case unknown(VerificationReason, attemptsLeft: Int?)

    /// A decision as everyone hears it but the call that made its PASS: a PASS is given once, a
    /// refusal as often as it is asked for.
    static func late(_ decision: Verification.Decision) -> Self {
        switch decision.result {
        case .pass: .unknown(.alreadyUsed, attemptsLeft: nil)
        case .reject: .reject
        case .unknown:
            .unknown(decision.reason ?? .alreadyUsed, attemptsLeft: decision.attemptsLeft)
        }
    }
}
