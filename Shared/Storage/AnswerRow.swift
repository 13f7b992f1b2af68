import Effects
package import Primitives

/// Same request, same answer: the row that remembers what a write answered. Its key, and the request's
/// body, are kept as keyed digests; what it answered is sealed.
package struct AnswerRow: StoredRow {
    enum State: Codable, Sendable {
        /// Decided, but a call to another service is still open. Sealed: the key's parts and the plan.
        case pending(StoredBytes)
        /// Sealed.
        case answered(StoredBytes)
        case refused(StoredBytes)
    }
    let key: String
    let method: String
    let body: VersionedDigest
    let state: State
    let startedAt: WallTime
    /// When a pending row was last handed to somebody who carries it on.
    let takenAt: WallTime
    let expiresAt: WallTime

    static let pendingIndex = "pending"

    package static let table = Table<AnswerRow>(
        "answer", key: \.key,
        indexes: [
            Index(
                pendingIndex,
                value: { if case .pending = $0.state { $0.method } else { nil } },
                order: \.takenAt.millisecondsSince1970)
        ],
        expiresAt: \.expiresAt)

    func taken(at now: WallTime) -> Self {
        Self(
            key: key, method: method, body: body, state: state, startedAt: startedAt, takenAt: now,
            expiresAt: expiresAt)
    }

    func closed(_ state: State, at now: WallTime, expiresAt: WallTime) -> Self {
        Self(
            key: key, method: method, body: body, state: state, startedAt: startedAt, takenAt: now,
            expiresAt: expiresAt)
    }
}

/// How a write with calls in its middle begins.
package enum Begun<Plan: Sendable, Reply: Sendable>: Sendable {
    /// This call decided; it carries `plan` out and then calls `finish`.
    case started(Plan)
    /// An earlier delivery decided and did not finish; carry the same plan out again, with the same keys.
    case resumed(Plan)
    case answered(Reply)
}

/// What the first transaction of such a write decided.
package enum FirstStep<Plan: Sendable, Reply: Sendable>: Sendable {
    case pending(Plan)
    case answered(Reply)
}

/// A write that was begun and not finished, for a sweep to carry on.
package struct PendingAnswer<Plan: Sendable>: Sendable {
    /// For `finish` and for the keys of the steps. Its body is empty: only its digest was kept.
    package let key: AnswerKey
    package let plan: Plan
    package let startedAt: WallTime
}
