package import Effects
import FoundationEssentials
package import Primitives

/// The answers of one service, beside its own rows in its own transactions.
///
/// Moves of a key: none → answered, none → refused, none → pending → answered or refused. The last two
/// stay until they expire; then the key is new again.
package struct Answers: Sendable {
    /// For a key that the caller chose, and for a bus request id.
    package static let lifetimeChosen = Duration.seconds(24 * 3600)
    package static let lifetimeImplicit = Duration.seconds(600)
    /// An open write waits this long for whoever carries it on, whatever its key.
    package static let lifetimePending = Duration.seconds(24 * 3600)
    /// A pending row untouched for this long is handed to a sweep.
    package static let resumeAfter = Duration.seconds(5)

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

    /// Runs `decision` at most once per key. A repeat gets the first answer; the same key with another body
    /// is a `conflict`. A refusal under a key that the caller chose is an answer like any other, unless it
    /// says that we could not decide now (`isPassing`).
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
        let names = rowKeys(key)
        let body = digest.digest(key.body.reveal())
        let outcome: Result<Begun<Plan, Reply>, ServiceFailure> = try await store.decide {
            rows throws(ServiceFailure) in
            if let row = find(names, &rows), row.expiresAt > now {
                return try replay(row, key)
            }
            @Sendable func fresh(_ state: AnswerRow.State, _ lifetime: Duration) -> AnswerRow {
                AnswerRow(
                    key: names[0], method: key.method, body: body, state: state, startedAt: now,
                    takenAt: now, expiresAt: now + lifetime)
            }
            // The decision's own rows are asked for in this same round.
            do throws(ServiceFailure) {
                let step = try decision(&rows)
                guard rows.needs.isEmpty else { throw Self.notLoaded }
                switch step {
                case .pending(let plan):
                    let content = PendingContent(
                        scope: key.scope, key: key.key, isChosenByCaller: key.isChosenByCaller,
                        plan: plan)
                    rows.put(
                        AnswerRow.table,
                        fresh(
                            .pending(try seal(content, key.method, names[0])), Self.lifetimePending)
                    )
                    return .success(.started(plan))
                case .answered(let reply):
                    rows.put(
                        AnswerRow.table,
                        fresh(.answered(try seal(reply, key.method, names[0])), lifetime(key)))
                    return .success(.answered(reply))
                }
            } catch {
                guard key.isChosenByCaller, !Self.isPassing(error) else { throw error }
                rows.discardWrites()
                rows.put(
                    AnswerRow.table,
                    fresh(.refused(try seal(error, key.method, names[0])), lifetime(key)))
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// The last transaction of such a write. A second finisher gets the first one's answer, and its own
    /// decision does not run. A refusal is final here whatever the key, unless it is passing: then the
    /// write stays pending.
    package func finish<Reply: Codable & Sendable>(
        _ key: AnswerKey,
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Reply
    ) async throws(ServiceFailure) -> Reply {
        let now = clock.now()
        let names = rowKeys(key)
        let outcome: Result<Reply, ServiceFailure> = try await store.decide {
            rows throws(ServiceFailure) in
            let row = find(names, &rows)
            if let row {
                switch row.state {
                case .answered(let reply): return .success(try unseal(reply, row))
                case .refused(let failure): return .failure(try unseal(failure, row))
                case .pending: break
                }
            }
            do throws(ServiceFailure) {
                let reply = try decision(&rows)
                guard rows.needs.isEmpty else { throw Self.notLoaded }
                guard let row else { throw Self.neverBegun }
                rows.put(
                    AnswerRow.table,
                    row.closed(
                        .answered(try seal(reply, key.method, row.key)), at: now,
                        expiresAt: now + lifetime(key)))
                return .success(reply)
            } catch {
                guard let row, !Self.isPassing(error) else { throw error }
                rows.discardWrites()
                rows.put(
                    AnswerRow.table,
                    row.closed(
                        .refused(try seal(error, key.method, row.key)), at: now,
                        expiresAt: now + lifetime(key)))
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// Writes of `method` that nobody has carried on for `olderThan`, the longest untouched first. Each is
    /// handed to one caller at a time: to be handed out again it must lie untouched as long again.
    /// - Parameter limit: rows looked at; one whose key or plan cannot be read any more is left out.
    package func pending<Plan: Codable & Sendable>(
        _ plan: Plan.Type = Plan.self, method: String, olderThan: Duration = Self.resumeAfter,
        limit: Int
    ) async throws(ServiceFailure) -> [PendingAnswer<Plan>] {
        let now = clock.now()
        let rows = try await store.decide { rows throws(ServiceFailure) in
            let found = rows.find(
                AnswerRow.table, AnswerRow.pendingIndex, method,
                upTo: (now - olderThan).millisecondsSince1970, limit: limit)
            for row in found { rows.put(AnswerRow.table, row.taken(at: now)) }
            return found
        }
        return rows.compactMap { row in
            guard case .pending(let sealed) = row.state,
                let content: PendingContent<Plan> = try? unseal(sealed, row)
            else { return nil }
            return PendingAnswer(
                key: AnswerKey(
                    scope: content.scope, method: method, key: content.key, body: Secret([]),
                    isChosenByCaller: content.isChosenByCaller),
                plan: content.plan, startedAt: row.startedAt)
        }
    }

    // MARK: -

    /// Not an answer to the request but a word about us now: the same request may be decided later.
    private static func isPassing(_ failure: ServiceFailure) -> Bool {
        switch failure.code {
        case .internalFault, .unavailable, .overloaded, .workerLost, .deadlinePassed: true
        default: false
        }
    }

    /// Ends a round whose outcome does not count, without the cost of sealing it.
    private static let notLoaded = ServiceFailure(.internalFault, "rows are still to be loaded")
    private static let neverBegun = ServiceFailure(
        .internalFault, "a write was finished that never began, or began too long ago")

    /// The current name first, then those of older keys that still live.
    private func rowKeys(_ key: AnswerKey) -> [String] {
        // Each part is led by its length, so that no two keys share one text.
        let parts = [key.scope, key.method, key.key].map { "\($0.utf8.count):\($0)" }
        return digest.digests(Array(parts.joined().utf8)).map(\.text)
    }

    /// All names are asked for in one round. A row that has expired hides no other.
    private func find(_ names: [String], _ rows: inout Rows) -> AnswerRow? {
        var found: AnswerRow?
        for name in names {
            guard let row = rows.get(AnswerRow.table, name) else { continue }
            if let best = found, best.expiresAt >= row.expiresAt { continue }
            found = row
        }
        return found
    }

    private func lifetime(_ key: AnswerKey) -> Duration {
        key.isChosenByCaller ? Self.lifetimeChosen : Self.lifetimeImplicit
    }

    private func replay<Plan: Codable & Sendable, Reply: Codable & Sendable>(
        _ row: AnswerRow, _ key: AnswerKey
    ) throws(ServiceFailure) -> Result<Begun<Plan, Reply>, ServiceFailure> {
        guard digest.matches(key.body.reveal(), row.body) else {
            throw ServiceFailure(
                .conflict, "this request key came before with another body", field: "requestKey")
        }
        switch row.state {
        case .pending(let sealed):
            let content: PendingContent<Plan> = try unseal(sealed, row)
            return .success(.resumed(content.plan))
        case .answered(let reply): return .success(.answered(try unseal(reply, row)))
        case .refused(let failure): return .failure(try unseal(failure, row))
        }
    }

    private func seal(
        _ value: some Codable, _ method: String, _ rowKey: String
    ) throws(ServiceFailure) -> StoredBytes {
        // In an array, because a bare value is not a JSON text to every decoder.
        guard let bytes = try? JSONEncoder().encode([value]) else {
            throw ServiceFailure(.internalFault, "an answer could not be encoded")
        }
        return StoredBytes(sealer.seal(Array(bytes), context: Self.context(method, rowKey)))
    }

    private func unseal<Value: Codable>(
        _ sealed: StoredBytes, _ row: AnswerRow
    ) throws(ServiceFailure) -> Value {
        guard
            let plain = sealer.open(
                sealed.bytes, context: Self.context(row.method, row.key)),
            let value = try? JSONDecoder().decode([Value].self, from: Data(plain)).first
        else { throw ServiceFailure(.internalFault, "a stored answer could not be opened") }
        return value
    }

    /// Bound to its row: an answer moved to another row does not open there.
    private static func context(_ method: String, _ rowKey: String) -> String {
        "answer/\(method)/\(rowKey)"
    }
}

private struct NoPlan: Codable, Sendable {}

private struct PendingContent<Plan: Codable & Sendable>: Codable, Sendable {
    let scope: String
    let key: String
    let isChosenByCaller: Bool
    let plan: Plan
}
