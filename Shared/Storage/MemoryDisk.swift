import Primitives

/// What a `MemoryStore` has committed. It outlives the store, as a disk outlives a process: a crash
/// is a
/// new store on the same disk. Several stores on one disk are several processes on one file.
package final class MemoryDisk: Sendable {
    private let contents = Lock(Contents())

    package init() {}

    /// How many rows `table` holds, expired ones included.
    package func count(in table: String) -> Int {
        contents.withLock { $0.tables[table]?.rows.count ?? 0 }
    }

    /// Every key and body of `table` by key, as a dump would show them.
    package func dump(_ table: String) -> [(key: String, body: [UInt8])] {
        contents.withLock { contents in
            let rows = contents.tables[table]?.rows ?? [:]
            return rows.map { ($0.key, $0.value.body) }
                .sorted { RowName.precedes($0.0, $1.0) }
        }
    }

    /// Runs `body` alone on the disk.
    func exclusively<Output, Failure: Error>(
        _ body: (inout Contents) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try contents.withLock(body)
    }

    struct Contents {
        fileprivate var tables: [String: MemoryTable] = [:]

        func rows(for need: RowNeed) -> [(name: RowName, body: [UInt8])] {
            switch need {
            case .row(let name):
                guard let row = tables[name.table]?.rows[name.key] else { return [] }
                return [(name, row.body)]
            case .find(let find):
                guard let table = tables[find.table] else { return [] }
                return table.find(find).compactMap { key in
                    table.rows[key].map { (RowName(table: find.table, key: key), $0.body) }
                }
            }
        }

        mutating func put(
            _ key: String, in schema: TableSchema, _ body: [UInt8], _ write: RowWrite
        ) {
            var entries: [String: IndexEntry] = [:]
            for (name, entry) in zip(schema.indexes, write.indexed) { entries[name] = entry }
            tables[schema.name, default: MemoryTable()].put(
                key, MemoryRow(body: body, expiresAt: write.expiresAt, indexed: entries),
                schema.indexes)
        }

        mutating func delete(_ key: String, in schema: TableSchema) {
            tables[schema.name]?.delete(key, schema.indexes)
        }

        mutating func sweep(_ schema: TableSchema, now: WallTime, limit: Int) -> Int {
            guard let table = tables[schema.name] else { return 0 }
            let gone = table.expiries.prefix(limit).prefix {
                $0.order <= now.millisecondsSince1970
            }
            for place in gone { delete(place.key, in: schema) }
            return gone.count
        }
    }
}

private struct MemoryRow {
    let body: [UInt8]
    let expiresAt: WallTime?
    let indexed: [String: IndexEntry]
}

/// A row's place in an index.
private struct Place {
    let order: Int64
    let key: String

    func precedes(_ other: Place) -> Bool {
        order == other.order ? RowName.precedes(key, other.key) : order < other.order
    }
}

private struct MemoryTable {
    var rows: [String: MemoryRow] = [:]
    var expiries: [Place] = []
    private var places: [IndexedValue: [Place]] = [:]

    private struct IndexedValue: Hashable {
        let index: String
        let value: String
    }

    func find(_ need: FindNeed) -> [String] {
        var found = places[IndexedValue(index: need.index, value: need.value)] ?? []
        if let upTo = need.upTo { found = Array(found.prefix { $0.order <= upTo }) }
        return need.newestFirst
            ? found.suffix(need.limit).reversed().map(\.key)
            : found.prefix(need.limit).map(\.key)
    }

    mutating func put(_ key: String, _ row: MemoryRow, _ indexes: [String]) {
        delete(key, indexes)
        rows[key] = row
        if let expiresAt = row.expiresAt {
            Self.insert(Place(order: expiresAt.millisecondsSince1970, key: key), &expiries)
        }
        for index in indexes {
            guard let entry = row.indexed[index], let value = entry.value else { continue }
            let indexed = IndexedValue(index: index, value: value)
            Self.insert(Place(order: entry.order, key: key), &places[indexed, default: []])
        }
    }

    mutating func delete(_ key: String, _ indexes: [String]) {
        guard let row = rows.removeValue(forKey: key) else { return }
        if let expiresAt = row.expiresAt {
            Self.remove(Place(order: expiresAt.millisecondsSince1970, key: key), &expiries)
        }
        for index in indexes {
            guard let entry = row.indexed[index], let value = entry.value else { continue }
            let indexed = IndexedValue(index: index, value: value)
            Self.remove(Place(order: entry.order, key: key), &places[indexed, default: []])
            if places[indexed]?.isEmpty == true { places[indexed] = nil }
        }
    }

    private static func insert(_ place: Place, _ sorted: inout [Place]) {
        sorted.insert(place, at: position(of: place, in: sorted))
    }

    private static func remove(_ place: Place, _ sorted: inout [Place]) {
        let at = position(of: place, in: sorted)
        if at < sorted.count, sorted[at].key == place.key { sorted.remove(at: at) }
    }

    /// The first position whose place does not come before `place`.
    private static func position(of place: Place, in sorted: [Place]) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle].precedes(place) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
