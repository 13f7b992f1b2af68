package import Primitives

/// Something to do for the world after a commit (send an SMS, tell an event). Written in the transaction
/// that decides it, performed by a pump after it, at least once.
package struct OutboxRow: StoredRow {
    package let id: String
    /// Constant, for logs and metrics: `sms`, `event`.
    package let kind: String
    /// What to do; sealed by the service where it holds a number or a text.
    package let body: StoredBytes
    package let createdAt: WallTime
    /// From when a pump may take it. A pump that holds it has set this to the end of its lease.
    package private(set) var dueAt: WallTime
    /// How often it was taken. Names the lease: a pump whose lease ended settles nothing but `done`.
    package private(set) var attempts: Int
    /// From when doing it makes no sense any more (its code has expired); nil never.
    package let usefulUntil: WallTime?

    package init(
        id: String, kind: String, body: [UInt8], at now: WallTime, usefulUntil: WallTime? = nil
    ) {
        self.id = id
        self.kind = kind
        self.body = StoredBytes(body)
        self.createdAt = now
        self.dueAt = now
        self.attempts = 0
        self.usefulUntil = usefulUntil
    }

    static let dueIndex = "due"

    package static let table = Table<OutboxRow>(
        "outbox", key: \.id,
        indexes: [Index(dueIndex, value: { _ in "due" }, order: \.dueAt.millisecondsSince1970)])

    /// The row in the hands of its taker until `end`. A writer that performs its row itself, through
    /// `OutboxPump.perform`, writes it so in the first place and saves a transaction.
    package func leased(until end: WallTime) -> Self {
        var row = self
        row.dueAt = end
        row.attempts += 1
        return row
    }

    func due(at instant: WallTime) -> Self {
        var row = self
        row.dueAt = instant
        return row
    }
}

/// When a row is tried again, and when no more.
package struct OutboxPolicy: Sendable {
    package let attemptsMax: Int
    /// After the first attempt; doubles with each.
    package let backoffMin: Duration
    package let backoffMax: Duration
    /// Longer than any performing takes: after it another pump may take the row.
    package let lease: Duration
    /// Rows performed at the same time.
    package let parallelMax: Int
    /// How often the table is looked at without a nudge.
    package let interval: Duration

    package init(
        attemptsMax: Int = 5, backoffMin: Duration = .seconds(1),
        backoffMax: Duration = .seconds(60), lease: Duration = .seconds(15),
        parallelMax: Int = 32, interval: Duration = .milliseconds(500)
    ) {
        precondition(
            attemptsMax > 0 && parallelMax > 0 && parallelMax <= Rows.findMax && lease > .zero
                && interval > .zero && backoffMin > .zero && backoffMax >= backoffMin,
            "an outbox that never sends")
        self.attemptsMax = attemptsMax
        self.backoffMin = backoffMin
        self.backoffMax = backoffMax
        self.lease = lease
        self.parallelMax = parallelMax
        self.interval = interval
    }

    /// - Parameter attempts: made so far, from 1.
    package func backoff(after attempts: Int) -> Duration {
        let doublings = min(max(attempts - 1, 0), 30)
        return min(backoffMax, backoffMin * (1 << doublings))
    }
}
