package import Effects
package import Primitives

/// The store of tests, of simulations and of daemons that keep nothing: one driver for every table.
///
/// Rows are kept as the bytes that a database would keep, so that codings are exercised.
package actor MemoryStore: Store {
    private let disk: MemoryDisk
    private let tables: [TableSchema]
    private let schemas: [String: TableSchema]
    private let weather: StoreWeather
    private let isClosed = Lock(false)

    /// - Parameter tables: as the service declares them; a decision over any other table fails.
    package init(
        tables: [TableSchema], disk: MemoryDisk = MemoryDisk(), weather: StoreWeather = .calm
    ) {
        self.tables = tables
        self.schemas = Dictionary(tables.map { ($0.name, $0) }) { first, _ in first }
        self.disk = disk
        self.weather = weather
    }

    package func decide<Output: Sendable>(
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Output
    ) async throws(ServiceFailure) -> Output {
        try await take(weather.timeBefore())
        guard !isClosed.withLock(\.self) else { throw Self.closed }
        let fault = weather.fault()
        let outcome = try disk.exclusively { contents throws(ServiceFailure) in
            try run(decision, on: &contents, fault)
        }
        // Already committed: a cancelled wait must not turn the answer into a failure.
        do throws(ServiceFailure) { try await take(weather.timeAfter()) } catch {}
        if fault == .afterCommit || isClosed.withLock(\.self) { throw Self.unknown }
        return try outcome.get()
    }

    package func sweep(now: WallTime, limit: Int) async throws(ServiceFailure) -> Int {
        guard !isClosed.withLock(\.self) else { throw Self.closed }
        return disk.exclusively { contents in
            var count = 0
            for table in tables { count += contents.sweep(table, now: now, limit: limit) }
            return count
        }
    }

    /// The process is gone: what was not committed never is, and nobody gets an answer any more.
    package nonisolated func crash() { isClosed.withLock { $0 = true } }

    // MARK: -

    private func run<Output: Sendable>(
        _ decision: @escaping @Sendable (inout Rows) throws(ServiceFailure) -> Output,
        on contents: inout MemoryDisk.Contents, _ fault: StoreFault
    ) throws(ServiceFailure) -> Result<Output, ServiceFailure> {
        let (outcome, writes) = DecisionRun(decision).finish { needs throws(ServiceFailure) in
            var answers: [[(name: RowName, body: [UInt8])]] = []
            for need in needs {
                _ = try schema(need.table)
                answers.append(contents.rows(for: need))
            }
            return answers
        }
        var bodies: [(RowName, TableSchema, RowWrite, [UInt8])] = []
        for (name, write) in writes {
            bodies.append((name, try schema(name.table), write, try write.body()))
        }
        if fault == .beforeCommit { throw Self.refused }
        for (name, schema, write, body) in bodies {
            if write.isDelete {
                contents.delete(name.key, in: schema)
            } else {
                contents.put(name.key, in: schema, body, write)
            }
        }
        return outcome
    }

    private func schema(_ table: String) throws(ServiceFailure) -> TableSchema {
        guard let schema = schemas[table] else {
            throw ServiceFailure(.internalFault, "a decision named a table that is not declared")
        }
        return schema
    }

    private func take(_ span: Duration) async throws(ServiceFailure) {
        guard span > .zero else { return }
        do {
            try await weather.pause?.wait(span)
        } catch {
            throw Self.closed
        }
    }

    private static let closed = ServiceFailure(.unavailable, "the store is closed")
    private static let refused = ServiceFailure(.unavailable, "the store did not take the work")
    private static let unknown = ServiceFailure(
        .unavailable, "the store did not say whether it took the work")
}

/// What goes wrong with one decision.
package enum StoreFault: Sendable {
    case none
    /// Nothing is written, and the caller is told so.
    case beforeCommit
    /// Everything is written, and the caller is not told: the outcome is unknown to it.
    case afterCommit
}

/// Time taken and faults of a `MemoryStore`, drawn anew for every decision.
package struct StoreWeather: Sendable {
    let pause: (any Pause)?
    let timeBefore: @Sendable () -> Duration
    let timeAfter: @Sendable () -> Duration
    let fault: @Sendable () -> StoreFault

    /// - Parameters:
    ///   - timeBefore: until the decision runs; others may decide meanwhile.
    ///   - timeAfter: from its commit to its answer.
    package init(
        pause: any Pause, timeBefore: @escaping @Sendable () -> Duration,
        timeAfter: @escaping @Sendable () -> Duration,
        fault: @escaping @Sendable () -> StoreFault = { .none }
    ) {
        self.pause = pause
        self.timeBefore = timeBefore
        self.timeAfter = timeAfter
        self.fault = fault
    }

    private init(fault: @escaping @Sendable () -> StoreFault) {
        pause = nil
        timeBefore = { .zero }
        timeAfter = { .zero }
        self.fault = fault
    }

    /// No time, no fault.
    package static let calm = StoreWeather(fault: { .none })
    /// No time; faults as drawn.
    package static func faulty(_ fault: @escaping @Sendable () -> StoreFault) -> Self {
        StoreWeather(fault: fault)
    }
}
