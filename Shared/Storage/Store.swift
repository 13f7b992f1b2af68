package import Primitives

/// One decision, one transaction.
package protocol Store: Sendable {
    /// Runs `decision` over its rows and commits its writes before returning.
    ///
    /// The closure may run several times (see `Rows`) and cannot suspend. A failure that it throws takes
    /// back its writes; what must be counted although the answer is no is therefore returned, not thrown.
    /// The answer comes only after the commit is durable.
    /// - Throws: what the closure threw; `internal_fault` for a row that cannot be read or too many rounds;
    ///   `unavailable` or `overloaded` when the store cannot take the work now.
    func decide<Output: Sendable>(
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Output
    ) async throws(ServiceFailure) -> Output

    /// Removes rows whose `expiresAt` has passed, at most `limit` per table.
    /// - Returns: how many went.
    func sweep(now: WallTime, limit: Int) async throws(ServiceFailure) -> Int
}

/// How a driver runs one decision against loaded rows, so that every driver runs it alike.
package enum DecisionRun {
    /// - Parameter load: answers the needs of one round, in the order given; (table, key) order and locks are its care.
    /// - Returns: the outcome and the rows to write, none when the decision refused.
    package static func run<Output: Sendable>(
        _ decision: @Sendable (inout Rows) throws(ServiceFailure) -> Output,
        load: ([RowNeed]) throws(ServiceFailure) -> [[(name: RowName, body: [UInt8])]]
    ) -> (outcome: Result<Output, ServiceFailure>, rows: Rows) {
        var rows = Rows()
        for _ in 0...Rows.roundsMax {
            rows.beginRound()
            let outcome = attempt(decision, &rows)
            let needs = rows.needs
            if needs.isEmpty {
                if let fault = rows.fault {
                    rows.discardWrites()
                    return (.failure(fault), rows)
                }
                if case .failure = outcome { rows.discardWrites() }
                return (outcome, rows)
            }
            do throws(ServiceFailure) {
                for (need, answer) in zip(needs, try load(needs)) { rows.load(need, answer) }
            } catch {
                rows.discardWrites()
                return (.failure(error), rows)
            }
        }
        rows.discardWrites()
        return (.failure(ServiceFailure(.internalFault, "a decision needed too many rounds")), rows)
    }

    private static func attempt<Output: Sendable>(
        _ decision: @Sendable (inout Rows) throws(ServiceFailure) -> Output, _ rows: inout Rows
    ) -> Result<Output, ServiceFailure> {
        do throws(ServiceFailure) {
            return .success(try decision(&rows))
        } catch {
            return .failure(error)
        }
    }
}
