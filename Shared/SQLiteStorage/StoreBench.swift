import Primitives
import Storage

/// Measures a store for `fusionctl bench store`: what a commit shared by a group is worth, and how two
/// processes share a file. Each decision reads one row of many, changes it, and is durable before its
/// answer.
package enum StoreBench {
    package struct Rate: Hashable, Sendable {
        package let decisionsCount: Int
        package let span: Duration
        package var perSecond: Double {
            Double(decisionsCount) * 1_000 / Double(max(1, span.wholeMilliseconds))
        }
    }

    package struct Comparison: Hashable, Sendable {
        package let oneCommitEach: Rate
        package let grouped: Rate
        package var ratio: Double { grouped.perSecond / max(0.001, oneCommitEach.perSecond) }
    }

    /// Rows that the decisions spread over.
    package static let rowsCount = 10_000
    package static let callersCount = 256

    /// The same work twice on two new files: with one commit for each decision, then with groups.
    /// - Parameter path: a file that does not exist; the second one gets a suffix. They stay behind.
    package static func compare(
        path: String, for span: Duration, callers: Int = callersCount
    ) async throws -> Comparison {
        Comparison(
            oneCommitEach: try await run(
                path: path, for: span, callers: callers, limits: SQLiteLimits(groupCount: 1)),
            grouped: try await run(
                path: path + ".grouped", for: span, callers: callers, limits: SQLiteLimits()))
    }

    /// As many decisions as `callers` parallel callers get in `span`. Run in several processes on one
    /// path it measures how they share it.
    package static func run(
        path: String, for span: Duration, callers: Int = callersCount,
        limits: SQLiteLimits = SQLiteLimits()
    ) async throws -> Rate {
        let store = try SQLiteStore(path: path, tables: [BenchRow.table.schema], limits: limits)
        let begunAt = steadyNanoseconds()
        let endAt = begunAt + span.wholeMilliseconds * 1_000_000
        let count = try await withThrowingTaskGroup { group in
            for caller in 0..<callers {
                group.addTask { try await work(store, caller, until: endAt) }
            }
            return try await group.reduce(0, +)
        }
        let taken = steadyNanoseconds() - begunAt
        await store.close()
        return Rate(decisionsCount: count, span: .nanoseconds(taken))
    }

    private static func work(
        _ store: SQLiteStore, _ caller: Int, until endAt: Int64
    ) async throws(ServiceFailure) -> Int {
        var count = 0
        // A fixed walk over the rows, another one for each caller.
        var place = caller &* 7_919
        while steadyNanoseconds() < endAt {
            place = (place &* 31 &+ 17) % rowsCount
            let key = "row-\(place)"
            try await store.decide { rows throws(ServiceFailure) in
                var row = rows.get(BenchRow.table, key) ?? BenchRow(id: key)
                row.count += 1
                rows.put(BenchRow.table, row)
            }
            count += 1
        }
        return count
    }
}

/// About as long as a challenge.
private struct BenchRow: StoredRow {
    let id: String
    var count: Int64 = 0
    var scheme = "FA0000000000000001"
    var code = "2.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

    static let table = Table<BenchRow>(
        "bench_row", key: \.id,
        indexes: [Index("by_scheme", value: \.scheme, order: \.count)])
}
