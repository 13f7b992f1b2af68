package import Primitives

/// One decision, one transaction.
package protocol Store: Sendable {
    /// Runs `decision` over its rows and commits its writes before returning.
    ///
    /// The closure may run several times (see `Rows`) and cannot suspend. A failure that it throws
    /// takes
    /// back its writes; what must be counted although the answer is no is therefore returned, not
    /// thrown.
    /// The answer comes only after the commit is durable.
    /// - Throws: what the closure threw; `internal_fault` for a row that cannot be read or too many
    /// rounds;
    ///   `unavailable` or `overloaded` when the store cannot take the work now.
    func decide<Output: Sendable>(
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Output
    ) async throws(ServiceFailure) -> Output

    /// Removes rows whose `expiresAt` has passed, at most `limit` per table.
    /// - Returns: how many went.
    func sweep(now: WallTime, limit: Int) async throws(ServiceFailure) -> Int
}

/// How a driver runs one decision against loaded rows, so that every driver runs it alike.
///
/// The first round sees no rows at all: a driver may run it anywhere, and take the rest to its thread.
package struct DecisionRun<Output: Sendable>: Sendable {
    package typealias Decision =
        @Sendable (inout Rows) throws(ServiceFailure) -> Output
    /// Answers the needs of one round, in the order given; (table, key) order and locks are its care.
    package typealias Load =
        ([RowNeed]) throws(ServiceFailure) -> [[(name: RowName, body: [UInt8])]]

    private let decision: Decision
    private var rows = Rows()
    private var outcome: Result<Output, ServiceFailure>

    /// Runs the first round.
    package init(_ decision: @escaping Decision) {
        self.decision = decision
        rows.beginRound()
        outcome = Self.attempt(decision, &rows)
    }

    /// Runs the remaining rounds.
    /// - Returns: the outcome and what to write, nothing when the decision refused.
    package consuming func finish(
        load: Load
    ) -> (outcome: Result<Output, ServiceFailure>, writes: [(name: RowName, write: RowWrite)]) {
        for _ in 0..<Rows.roundsMax {
            if rows.needs.isEmpty { return settled() }
            do throws(ServiceFailure) {
                let needs = rows.needs
                for (need, answer) in zip(needs, try load(needs)) { rows.load(need, answer) }
            } catch {
                return (.failure(error), [])
            }
            rows.beginRound()
            outcome = Self.attempt(decision, &rows)
        }
        if rows.needs.isEmpty { return settled() }
        return (.failure(ServiceFailure(.internalFault, "a decision needed too many rounds")), [])
    }

    private func settled()
        -> (outcome: Result<Output, ServiceFailure>, writes: [(name: RowName, write: RowWrite)])
    {
        if let fault = rows.fault { return (.failure(fault), []) }
        if case .failure = outcome { return (outcome, []) }
        return (outcome, rows.writes)
    }

    private static func attempt(
        _ decision: Decision, _ rows: inout Rows
    ) -> Result<Output, ServiceFailure> {
        do throws(ServiceFailure) {
            return .success(try decision(&rows))
        } catch {
            return .failure(error)
        }
    }
}
