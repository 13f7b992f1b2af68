package import Effects
package import Primitives
package import Storage

/// The store of one service in one SQLite file: WAL, durable before the answer, one writer thread that
/// commits in groups. Any number of processes may share the file; they take turns.
package final class SQLiteStore: Store {
    private let writer: SQLiteWriter

    /// Opens or creates the file (mode 0600), and brings it to the declared tables.
    /// - Parameters:
    ///   - path: the file; its folder must exist. Companions: `-wal`, `-shm`, `.entry`, `.work`.
    ///   - version: raised by a service whose rows an older version must not write any more, or that
    ///     gave up an index. A new table or index needs no new version.
    ///   - log: the owner's; told once when the file stops working, and once when it works again.
    package init(
        path: String, tables: [TableSchema], version: Int = 1,
        limits: SQLiteLimits = SQLiteLimits(),
        metrics: any Metrics = NoMetrics(), log: Log = .silent
    ) throws(StoreProblem) {
        let file = try SQLiteFile(path: path, schemas: tables, rowsVersion: Int64(version))
        writer = try SQLiteWriter(file, limits: limits, metrics: metrics, log: log)
    }

    deinit { writer.close() }

    package func decide<Output: Sendable>(
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Output
    ) async throws(ServiceFailure) -> Output {
        let run = DecisionRun(decision)
        return try await result { DecisionJob(run, $0) }
    }

    package func sweep(now: WallTime, limit: Int) async throws(ServiceFailure) -> Int {
        precondition(limit > 0, "a sweep has a limit")
        return try await result { SweepJob(now: now, limit: limit, $0) }
    }

    /// Takes nothing new, answers what it has, closes the file.
    package func close() async {
        writer.close()
        await writer.waitForEnd()
    }

    // MARK: -

    private func result<Output: Sendable, Job: StoreJob>(
        _ makeJob: (Answer<Output>) -> Job
    ) async throws(ServiceFailure) -> Output {
        let outcome: Result<Output, ServiceFailure> = await withCheckedContinuation {
            let answer = Answer<Output>($0)
            switch writer.push(makeJob(answer)) {
            case .accepted: break
            case .full: answer.give(.failure(Self.overloaded))
            case .closed: answer.give(.failure(Self.closed))
            }
        }
        return try outcome.get()
    }

    private static let overloaded = ServiceFailure(
        .overloaded, "too many decisions wait for the store", retryAfterMilliseconds: 100)
    private static let closed = ServiceFailure(.unavailable, "the store is closed")
}

/// The caller that waits for a job.
private struct Answer<Output: Sendable>: Sendable {
    private let continuation: CheckedContinuation<Result<Output, ServiceFailure>, Never>

    init(_ continuation: CheckedContinuation<Result<Output, ServiceFailure>, Never>) {
        self.continuation = continuation
    }

    func give(_ outcome: Result<Output, ServiceFailure>) { continuation.resume(returning: outcome) }
}

/// Touched by the caller before it is pushed, and by the writer's thread afterwards.
private final class DecisionJob<Output: Sendable>: StoreJob, @unchecked Sendable {
    private let decision: DecisionRun<Output>
    private let caller: Answer<Output>
    private var outcome: Result<Output, ServiceFailure>?

    init(_ decision: DecisionRun<Output>, _ caller: Answer<Output>) {
        self.decision = decision
        self.caller = caller
    }

    func run(on file: SQLiteFile) {
        let (outcome, writes) = decision.finish { needs throws(ServiceFailure) in
            for need in needs { try Self.check(need.table, file) }
            do throws(StoreProblem) { return try file.answer(needs) } catch { throw error.failure }
        }
        self.outcome = outcome
        do throws(ServiceFailure) {
            var bodies: [(name: RowName, write: RowWrite, body: [UInt8])] = []
            for (name, write) in writes {
                try Self.check(name.table, file)
                bodies.append((name, write, try write.body()))
            }
            guard !bodies.isEmpty else { return }
            do throws(StoreProblem) { try file.apply(bodies) } catch { throw error.failure }
        } catch {
            self.outcome = .failure(error)
        }
    }

    func answer(_ problem: StoreProblem?) {
        if let problem { return caller.give(.failure(problem.failure)) }
        caller.give(outcome ?? .failure(StoreProblem.busy.failure))
    }

    private static func check(_ table: String, _ file: SQLiteFile) throws(ServiceFailure) {
        guard file.declares(table) else {
            throw ServiceFailure(.internalFault, "a decision named a table that is not declared")
        }
    }
}

private final class SweepJob: StoreJob, @unchecked Sendable {
    private let now: WallTime
    private let limit: Int
    private let caller: Answer<Int>
    private var outcome: Result<Int, StoreProblem>?

    init(now: WallTime, limit: Int, _ caller: Answer<Int>) {
        self.now = now
        self.limit = limit
        self.caller = caller
    }

    func run(on file: SQLiteFile) {
        do throws(StoreProblem) {
            outcome = .success(try file.sweep(now: now, limit: limit))
        } catch {
            outcome = .failure(error)
        }
    }

    func answer(_ problem: StoreProblem?) {
        if let problem { return caller.give(.failure(problem.failure)) }
        caller.give((outcome ?? .failure(.busy)).mapError(\.failure))
    }
}
