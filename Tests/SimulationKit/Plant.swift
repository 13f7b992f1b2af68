package import Effects
package import Primitives
package import Storage

/// Bugs that may be planted on purpose, each a way in which a store can be wrong. A run with a
/// plant must
/// break a rule within few seeds, or the checkers are blind.
package enum Plant: String, CaseIterable, Sendable {
    case none
    /// Decides on rows that were read a while ago: load, decide, save as separate steps.
    case staleReads = "stale-reads"
    /// Forgets what was answered, so that a repeat is decided anew.
    case forgottenAnswers = "forgotten-answers"
    /// Says done before it is durable: a crash takes back what was answered.
    case earlyAnswers = "early-answers"
    /// Loses the rows that count wrong guesses and sends.
    case lostCounters = "lost-counters"
}

/// A store with a planted bug in front of the honest one.
package struct PlantedStore: Store {
    private let honest: MemoryStore
    private let plant: Plant
    private let pause: any Pause

    package init(_ honest: MemoryStore, plant: Plant, pause: any Pause) {
        self.honest = honest
        self.plant = plant
        self.pause = pause
    }

    package func decide<Output: Sendable>(
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Output
    ) async throws(ServiceFailure) -> Output {
        switch plant {
        case .none: return try await honest.decide(decision)
        case .staleReads: return try await decideOnStaleRows(decision)
        case .forgottenAnswers:
            return try await honest.decide { rows throws(ServiceFailure) in
                let output = try decision(&rows)
                rows.keepWrites { $0 != AnswerRow.table.name }
                return output
            }
        case .lostCounters:
            return try await honest.decide { rows throws(ServiceFailure) in
                let output = try decision(&rows)
                rows.keepWrites { !$0.hasSuffix("_window") }
                return output
            }
        case .earlyAnswers:
            // The outcome is told; the writes of every third decision never arrive.
            return try await honest.decide { rows throws(ServiceFailure) in
                let output = try decision(&rows)
                if rows.writes.count.isMultiple(of: 3) { rows.keepWrites { _ in false } }
                return output
            }
        }
    }

    /// One decision reads, a later one writes what the first decided.
    private func decideOnStaleRows<Output: Sendable>(
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Output
    ) async throws(ServiceFailure) -> Output {
        let (output, saved) = try await honest.decide { rows throws(ServiceFailure) in
            let output = try decision(&rows)
            let saved = rows.writes
            rows.keepWrites { _ in false }
            return (output, saved)
        }
        do { try await pause.wait(.milliseconds(4)) } catch {}
        try await honest.decide { rows throws(ServiceFailure) in rows.replaceWrites(saved) }
        return output
    }

    package func sweep(now: WallTime, limit: Int) async throws(ServiceFailure) -> Int {
        try await honest.sweep(now: now, limit: limit)
    }
}

extension Rows {
    /// Drops the writes whose table is not kept.
    fileprivate mutating func keepWrites(_ isKept: (String) -> Bool) {
        replaceWrites(writes.filter { isKept($0.name.table) })
    }
}
