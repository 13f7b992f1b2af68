package import Effects
package import Primitives

/// What performing a row came to. `note` goes to the record of it (a provider's reference).
package enum OutboxOutcome: Hashable, Sendable {
    case done(note: String? = nil)
    /// Once more; after the pump's own backoff where `after` is nil.
    case retry(after: Duration? = nil, note: String? = nil)
    /// Never again.
    case abandon(reason: String)
}

/// What became of a row, as its service records it in the settling transaction.
package enum OutboxSettled: Hashable, Sendable {
    case done(note: String?)
    case waiting(until: WallTime, note: String?)
    /// `reason` is the handler's, or `attempts_exhausted`, or `too_late`.
    case abandoned(reason: String)

    package static let attemptsExhausted = "attempts_exhausted"
    package static let tooLate = "too_late"
}

/// Performs outbox rows: leases due ones in one decision, performs each outside any transaction, settles
/// each in one decision together with the service's own record of it.
///
/// Any number of pumps work on one table. A row whose pump died is taken by another when its lease ends,
/// so performing must bear a repeat (a stable reference at the provider).
package struct OutboxPump: DaemonPart {
    package typealias Perform = @Sendable (OutboxRow) async -> OutboxOutcome

    package let name = "outbox"
    private let store: any Store
    private let clock: any WallClock
    private let pause: any Pause
    private let policy: OutboxPolicy
    private let log: Log
    private let metrics: any Metrics
    private let performing: Perform
    private let recording:
        @Sendable (OutboxRow, OutboxSettled, inout Rows) throws(ServiceFailure) -> Void
    private let wakeups = Wakeups()
    private let state: Lock<State>

    private struct State {
        var runningCount = 0
        var isDraining = false
        /// Rows that callers leased and gave us.
        var handed: BoundedQueue<OutboxRow>
        var waiters: [String: AsyncStream<OutboxSettled>.Continuation] = [:]
    }

    /// Tries to write what became of a row: what was sent and not noted would be sent again.
    private static let settleTriesMax = 3
    private static let settlePause = Duration.milliseconds(200)

    /// - Parameters:
    ///   - perform: never throws; is given up to the policy's lease. Not called for a row that comes too late.
    ///   - record: the service's own rows, in the transaction that settles the outbox row. A failure leaves
    ///     the row to be performed again.
    package init(
        store: any Store, clock: any WallClock, pause: any Pause,
        policy: OutboxPolicy = OutboxPolicy(), log: Log = .silent,
        metrics: any Metrics = NoMetrics(), perform: @escaping Perform,
        record:
            @escaping @Sendable (OutboxRow, OutboxSettled, inout Rows) throws(ServiceFailure)
            -> Void = { _, _, _ in }
    ) {
        self.store = store
        self.clock = clock
        self.pause = pause
        self.policy = policy
        self.log = log
        self.metrics = metrics
        self.performing = perform
        self.recording = record
        state = Lock(State(handed: BoundedQueue(countMax: policy.parallelMax)))
    }

    /// A fresh row was committed: look at once.
    package func nudge() { wakeups.nudge() }

    /// Waits, at most `span`, for a row that the caller has just committed. A row committed as leased
    /// (`OutboxRow.leased`) is performed without a transaction in between.
    /// - Returns: nil when it is still under way; it is then performed all the same.
    package func carry(_ row: OutboxRow, waitingUpTo span: Duration) async -> OutboxSettled? {
        let (results, source) = AsyncStream<OutboxSettled>.makeStream()
        state.withLock { state in
            state.waiters[row.id] = source
            // A row without room here is taken when its lease ends.
            if row.attempts > 0 { _ = state.handed.push(row) }
        }
        wakeups.nudge()
        let settled = await withTaskGroup { group in
            group.addTask { await results.first { _ in true } }
            group.addTask { [pause] in
                try? await pause.wait(span)
                return nil as OutboxSettled?
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        state.withLock { $0.waiters[row.id] = nil }
        return settled
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            await wakeups.run(every: policy.interval, pause) {
                for row in await takeHanded() + lease() {
                    group.addTask {
                        let settled = await perform(row)
                        let waiter = state.withLock { state in
                            state.runningCount -= 1
                            return state.waiters.removeValue(forKey: row.id)
                        }
                        if let settled { waiter?.yield(settled) }
                        waiter?.finish()
                        wakeups.nudge()
                    }
                }
            }
        }
    }

    /// Leases nothing new; `run` returns when the rows in hand are settled.
    package func drain() async {
        state.withLock { $0.isDraining = true }
        wakeups.finish()
    }

    // MARK: -

    /// - Returns: what became of it; nil when that could not be written, or when the lease was lost.
    private func perform(_ row: OutboxRow) async -> OutboxSettled? {
        let outcome: OutboxOutcome
        if let end = row.usefulUntil, end <= clock.now() {
            outcome = .abandon(reason: OutboxSettled.tooLate)
        } else {
            outcome = await performing(row)
        }
        let settled = settled(outcome, row)
        let isOurs: Bool
        do throws(ServiceFailure) {
            isOurs = try await settleWithTries(row, settled)
        } catch {
            log.warning(
                "outbox row not settled", ["kind": .text(row.kind), "reason": LogValue(error.code)])
            return nil
        }
        guard isOurs else { return nil }
        metrics.count("outbox_settled_total", ("kind", row.kind), ("outcome", settled.label))
        if case .abandoned(let reason) = settled {
            log.warning("outbox row abandoned", ["kind": .text(row.kind), "reason": .text(reason)])
        }
        return settled
    }

    private func takeHanded() -> [OutboxRow] {
        state.withLock { state in
            var rows: [OutboxRow] = []
            while state.runningCount < policy.parallelMax, let row = state.handed.pop() {
                state.runningCount += 1
                rows.append(row)
            }
            return rows
        }
    }

    /// - Returns: rows in hand, none when there is no room or nothing is due.
    private func lease() async -> [OutboxRow] {
        let room = state.withLock { state in
            state.isDraining ? 0 : policy.parallelMax - state.runningCount
        }
        guard room > 0 else { return [] }
        let now = clock.now()
        do throws(ServiceFailure) {
            let rows = try await store.decide { rows throws(ServiceFailure) in
                let due = rows.find(
                    OutboxRow.table, OutboxRow.dueIndex, "due", upTo: now.millisecondsSince1970,
                    limit: room)
                let leased = due.map { $0.leased(until: now + policy.lease) }
                for row in leased { rows.put(OutboxRow.table, row) }
                return leased
            }
            state.withLock { $0.runningCount += rows.count }
            return rows
        } catch {
            log.warning("outbox not read", ["reason": LogValue(error.code)])
            return []
        }
    }

    private func settleWithTries(
        _ row: OutboxRow, _ settled: OutboxSettled
    ) async throws(ServiceFailure) -> Bool {
        for _ in 1..<Self.settleTriesMax {
            do throws(ServiceFailure) {
                return try await settle(row, settled)
            } catch  where error.code == .unavailable || error.code == .overloaded {
                try? await pause.wait(Self.settlePause)
            }
        }
        return try await settle(row, settled)
    }

    private func settled(_ outcome: OutboxOutcome, _ row: OutboxRow) -> OutboxSettled {
        switch outcome {
        case .done(let note): return .done(note: note)
        case .abandon(let reason): return .abandoned(reason: reason)
        case .retry(let after, let note):
            guard row.attempts < policy.attemptsMax else {
                return .abandoned(reason: OutboxSettled.attemptsExhausted)
            }
            let next = clock.now() + (after ?? policy.backoff(after: row.attempts))
            return .waiting(until: next, note: note)
        }
    }

    /// - Returns: false when another pump has settled the row or holds it now; then nothing is written.
    private func settle(
        _ row: OutboxRow, _ settled: OutboxSettled
    ) async throws(ServiceFailure) -> Bool {
        try await store.decide { rows throws(ServiceFailure) in
            let stored = rows.get(OutboxRow.table, row.id)
            // Asks for the record's rows in the same round.
            try recording(row, settled, &rows)
            guard let stored else {
                rows.discardWrites()
                return false
            }
            switch settled {
            case .done: break
            case .abandoned, .waiting:
                // Another pump holds it now and decides; what is done stays done.
                guard stored.attempts == row.attempts else {
                    rows.discardWrites()
                    return false
                }
            }
            if case .waiting(let until, _) = settled {
                rows.put(OutboxRow.table, row.due(at: until))
            } else {
                rows.delete(OutboxRow.table, row.id)
            }
            return true
        }
    }
}

extension OutboxSettled {
    fileprivate var label: String {
        switch self {
        case .done: "done"
        case .waiting: "waiting"
        case .abandoned: "abandoned"
        }
    }
}
