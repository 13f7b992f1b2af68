package import Effects
import FoundationEssentials
package import Primitives

/// Same request, same answer: the row that remembers what a write answered.
package struct AnswerRow: StoredRow {
    enum State: Codable, Sendable {
        /// Decided, but a call to another service is still open; `plan` tells how to go on.
        case pending(plan: [UInt8])
        /// Both are sealed.
        case answered(reply: [UInt8])
        case refused(failure: [UInt8])
    }
    let key: String
    let body: VersionedDigest
    let state: State
    let startedAt: WallTime
    let expiresAt: WallTime

    static let pendingIndex = "pending"

    package static let table = Table<AnswerRow>(
        "answer", key: \.key,
        indexes: [
            Index(
                pendingIndex,
                value: { if case .pending = $0.state { "pending" } else { nil } },
                order: \.startedAt.millisecondsSince1970)
        ],
        expiresAt: \.expiresAt)
}

/// How a write with calls in its middle begins.
package enum Begun<Plan: Sendable, Reply: Sendable>: Sendable {
    /// This call decided; it carries `plan` out and then calls `finish`.
    case started(Plan)
    /// An earlier delivery decided and did not finish; carry the same plan out again, with the same
    /// keys.
    case resumed(Plan)
    case answered(Reply)
}

/// What the first transaction of such a write decided.
package enum FirstStep<Plan: Sendable, Reply: Sendable>: Sendable {
    case pending(Plan)
    case answered(Reply)
}

/// The answers of one service, beside its own rows in its own transactions.
package struct Answers: Sendable {
    /// For a key that the caller chose, and for a bus request id.
    package static let lifetimeChosen = Duration.seconds(24 * 3600)
    package static let lifetimeImplicit = Duration.seconds(600)

    private let store: any Store
    private let sealer: any Sealer
    private let digest: any KeyedDigest
    private let clock: any WallClock

    package init(
        store: any Store, sealer: any Sealer, digest: any KeyedDigest, clock: any WallClock
    ) {
        self.store = store
        self.sealer = sealer
        self.digest = digest
        self.clock = clock
    }

    /// Runs `decision` at most once per key. A repeat gets the first answer; the same key with
    /// another body
    /// is a `conflict`. A refusal under a key that the caller chose is an answer like any other.
    package func once<Reply: Codable & Sendable>(
        _ key: AnswerKey,
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Reply
    ) async throws(ServiceFailure) -> Reply {
        let begun: Begun<NoPlan, Reply> = try await begin(key) { rows throws(ServiceFailure) in
            .answered(try decision(&rows))
        }
        guard case .answered(let reply) = begun else {
            throw ServiceFailure(.internalFault, "a simple write was left pending")
        }
        return reply
    }

    /// The first transaction of a write that calls another service.
    package func begin<Plan: Codable & Sendable, Reply: Codable & Sendable>(
        _ key: AnswerKey,
        _ decision:
            @escaping @Sendable (inout Rows) throws(ServiceFailure) -> FirstStep<Plan, Reply>
    ) async throws(ServiceFailure) -> Begun<Plan, Reply> {
        let now = clock.now()
        let outcome: Result<Begun<Plan, Reply>, ServiceFailure> = try await store.decide {
            rows throws(ServiceFailure) in
            if let row = rows.get(AnswerRow.table, rowKey(key)), row.expiresAt > now {
                return try replay(row, key)
            }
            // The decision's own rows are asked for in this same round.
            do throws(ServiceFailure) {
                let step = try decision(&rows)
                switch step {
                case .pending(let plan):
                    rows.put(AnswerRow.table, row(key, .pending(plan: seal(plan, key)), now))
                    return .success(.started(plan))
                case .answered(let reply):
                    rows.put(AnswerRow.table, row(key, .answered(reply: seal(reply, key)), now))
                    return .success(.answered(reply))
                }
            } catch {
                guard key.isChosenByCaller, error.code != .internalFault else { throw error }
                rows.discardWrites()
                rows.put(AnswerRow.table, row(key, .refused(failure: seal(error, key)), now))
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// The last transaction of such a write. A second finisher gets the first one's answer, and its
    /// own
    /// decision does not run.
    package func finish<Reply: Codable & Sendable>(
        _ key: AnswerKey,
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Reply
    ) async throws(ServiceFailure) -> Reply {
        let now = clock.now()
        let outcome: Result<Reply, ServiceFailure> = try await store.decide {
            rows throws(ServiceFailure) in
            switch rows.get(AnswerRow.table, rowKey(key))?.state {
            case .answered(let reply): return .success(try unseal(reply, key))
            case .refused(let failure): return .failure(try unseal(failure, key))
            case .pending, nil: break
            }
            do throws(ServiceFailure) {
                let reply = try decision(&rows)
                rows.put(AnswerRow.table, row(key, .answered(reply: seal(reply, key)), now))
                return .success(reply)
            } catch {
                guard error.code != .internalFault else { throw error }
                rows.discardWrites()
                rows.put(AnswerRow.table, row(key, .refused(failure: seal(error, key)), now))
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    // MARK: -

    private func rowKey(_ key: AnswerKey) -> String {
        digest.digest("\(key.scope)\u{0}\(key.method)\u{0}\(key.key)").text
    }

    private func row(_ key: AnswerKey, _ state: AnswerRow.State, _ now: WallTime) -> AnswerRow {
        AnswerRow(
            key: rowKey(key), body: digest.digest(key.body.reveal()), state: state, startedAt: now,
            expiresAt: now
                + (key.isChosenByCaller ? Self.lifetimeChosen : Self.lifetimeImplicit))
    }

    private func replay<Plan: Codable & Sendable, Reply: Codable & Sendable>(
        _ row: AnswerRow, _ key: AnswerKey
    ) throws(ServiceFailure) -> Result<Begun<Plan, Reply>, ServiceFailure> {
        guard digest.matches(key.body.reveal(), row.body) else {
            throw ServiceFailure(
                .conflict, "this request key came before with another body", field: "requestKey")
        }
        switch row.state {
        case .pending(let plan): return .success(.resumed(try unseal(plan, key)))
        case .answered(let reply): return .success(.answered(try unseal(reply, key)))
        case .refused(let failure): return .failure(try unseal(failure, key))
        }
    }

    private func seal(_ value: some Codable, _ key: AnswerKey) -> [UInt8] {
        let bytes = (try? JSONEncoder().encode([value])).map { [UInt8]($0) } ?? []
        return sealer.seal(bytes, context: "answer/\(key.method)")
    }

    private func unseal<Value: Codable>(
        _ sealed: [UInt8], _ key: AnswerKey
    ) throws(ServiceFailure) -> Value {
        guard let plain = sealer.open(sealed, context: "answer/\(key.method)"),
            let value = try? JSONDecoder().decode([Value].self, from: Data(plain)).first
        else { throw ServiceFailure(.internalFault, "a stored answer could not be opened") }
        return value
    }
}

private struct NoPlan: Codable, Sendable {}
