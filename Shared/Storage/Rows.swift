import FoundationEssentials
package import Primitives

/// What one decision reads and writes.
///
/// A decision asks for rows as it goes. A row that is not loaded yet reads as absent, is noted, and
/// once
/// the closure has returned the driver loads (and locks) everything noted and runs the closure
/// again, from
/// the start, with nothing written. So a decision must be pure: no clock, no randomness, no
/// captured
/// state. Reading in few rounds is the author's care; `roundsMax` is the bound. `prefetch` notes
/// rows of a
/// later step early.
package struct Rows {
    /// Rounds of loading that one decision may need.
    package static let roundsMax = 3
    /// Rows that one `find` may ask for.
    package static let findMax = 1_000

    private var loadedRows: [RowName: LoadedRow] = [:]
    private var loadedFinds: [FindNeed: [RowName]] = [:]
    private var written: [RowName: RowWrite] = [:]
    private var writeOrder: [RowName] = []
    private var pendingNeeds: [RowNeed] = []
    private var pendingSet: Set<RowNeed> = []
    private(set) var fault: ServiceFailure?

    package init() {}

    // MARK: Reading

    package mutating func get<Row>(_ table: Table<Row>, _ key: String) -> Row? {
        let name = RowName(table: table.name, key: key)
        if let write = written[name] { return write.row as? Row }
        guard let loaded = loadedRows[name] else {
            need(.row(name))
            return nil
        }
        return decoded(loaded, name, in: table)
    }

    /// Rows of `value` in ascending order (or descending), at most `limit`, seen with this
    /// decision's own
    /// writes. - Parameter upTo: only rows whose order is not above it.
    package mutating func find<Row>(
        _ table: Table<Row>, _ indexName: String, _ value: String, upTo: Int64? = nil,
        newestFirst: Bool = false, limit: Int
    ) -> [Row] {
        precondition(limit > 0 && limit <= Self.findMax, "a find has a limit")
        guard let index = table.indexes.first(where: { $0.name == indexName }) else {
            preconditionFailure("no such index")
        }
        let find = FindNeed(
            table: table.name, index: indexName, value: value, upTo: upTo,
            newestFirst: newestFirst, limit: limit)
        guard var names = loadedFinds[find] else {
            need(.find(find))
            return []
        }
        // Own writes took rows out of a full answer: what followed them must be seen instead.
        let goneCount = names.count { written[$0] != nil }
        if goneCount > 0, names.count == limit, limit < Self.findMax {
            let wider = find.limited(to: min(Self.findMax, limit + writeOrder.count))
            guard let more = loadedFinds[wider] else {
                need(.find(wider))
                return []
            }
            names = more
        }
        var rows: [Row] = []
        for name in names where written[name] == nil {
            if let loaded = loadedRows[name], let row = decoded(loaded, name, in: table) {
                rows.append(row)
            }
        }
        for name in writeOrder where name.table == table.name {
            guard let row = written[name]?.row as? Row, index.value(row) == value else { continue }
            if let upTo, index.order(row) > upTo { continue }
            rows.append(row)
        }
        rows.sort { left, right in
            let (first, second) = newestFirst ? (right, left) : (left, right)
            let (one, other) = (index.order(first), index.order(second))
            return one == other
                ? RowName.precedes(table.key(first), table.key(second)) : one < other
        }
        return Array(rows.prefix(limit))
    }

    /// Notes a row for this round although its value is not needed yet.
    package mutating func prefetch<Row>(_ table: Table<Row>, _ key: String) {
        let name = RowName(table: table.name, key: key)
        if loadedRows[name] == nil, written[name] == nil { need(.row(name)) }
    }

    // MARK: Writing

    package mutating func put<Row>(_ table: Table<Row>, _ row: Row) {
        note(RowName(table: table.name, key: table.key(row)), table.write(row))
    }

    package mutating func delete<Row>(_ table: Table<Row>, _ key: String) {
        note(
            RowName(table: table.name, key: key),
            RowWrite(row: nil, encode: nil, expiresAt: nil, indexed: []))
    }

    // MARK: For drivers

    /// What the closure asked for and did not get; empty when its outcome counts.
    package var needs: [RowNeed] { pendingNeeds }
    package var hasWrites: Bool { !writeOrder.isEmpty }
    /// In the order of first writing.
    package var writes: [(name: RowName, write: RowWrite)] {
        writeOrder.compactMap { name in written[name].map { (name, $0) } }
    }

    /// Answers one need of the round. `rows` are in the order asked for.
    package mutating func load(_ need: RowNeed, _ rows: [(name: RowName, body: [UInt8])]) {
        switch need {
        case .row(let name):
            loadedRows[name] = LoadedRow(body: rows.first?.body)
        case .find(let find):
            loadedFinds[find] = rows.map(\.name)
            for row in rows where loadedRows[row.name] == nil {
                loadedRows[row.name] = LoadedRow(body: row.body)
            }
        }
    }

    /// Forgets writes and needs before the closure runs again; what was loaded stays.
    package mutating func beginRound() {
        written = [:]
        writeOrder = []
        pendingNeeds = []
        pendingSet = []
        fault = nil
    }

    /// Takes back every write, for a decision that refused.
    package mutating func discardWrites() {
        written = [:]
        writeOrder = []
    }

    /// Puts `writes` in the place of this decision's own: for simulated faults between a decision and
    /// its commit.
    package mutating func replaceWrites(_ writes: [(name: RowName, write: RowWrite)]) {
        discardWrites()
        for (name, write) in writes { note(name, write) }
    }

    // MARK: -

    private mutating func need(_ need: RowNeed) {
        if pendingSet.insert(need).inserted { pendingNeeds.append(need) }
    }

    private mutating func note(_ name: RowName, _ write: RowWrite) {
        if written.updateValue(write, forKey: name) == nil { writeOrder.append(name) }
    }

    private mutating func decoded<Row>(
        _ loaded: LoadedRow, _ name: RowName, in table: Table<Row>
    ) -> Row? {
        if let row = loaded.decoded as? Row { return row }
        guard let body = loaded.body else { return nil }
        guard let row = try? RowCoding.decode(Row.self, body), table.key(row) == name.key else {
            fault = fault ?? ServiceFailure(.internalFault, "a stored row could not be read")
            return nil
        }
        loadedRows[name]?.decoded = row
        return row
    }
}

private struct LoadedRow {
    /// nil: there is no such row.
    var body: [UInt8]?
    var decoded: (any Sendable)?
}

package struct RowName: Hashable, Comparable, Sendable {
    package let table: String
    package let key: String

    package init(table: String, key: String) {
        self.table = table
        self.key = key
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.table == right.table
            ? precedes(left.key, right.key) : precedes(left.table, right.table)
    }

    /// Byte order, as every driver sorts.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

package enum RowNeed: Hashable, Sendable {
    case row(RowName)
    case find(FindNeed)

    package var table: String {
        switch self {
        case .row(let name): name.table
        case .find(let find): find.table
        }
    }
}

package struct FindNeed: Hashable, Sendable {
    package let table: String
    package let index: String
    package let value: String
    package let upTo: Int64?
    package let newestFirst: Bool
    package let limit: Int

    func limited(to limit: Int) -> Self {
        Self(
            table: table, index: index, value: value, upTo: upTo, newestFirst: newestFirst,
            limit: limit)
    }
}

package struct IndexEntry: Hashable, Sendable {
    package let value: String?
    package let order: Int64
}

/// One row as a driver stores it. It is encoded only once the decision stands.
package struct RowWrite: Sendable {
    let row: (any Sendable)?
    let encode: (@Sendable () throws -> [UInt8])?
    package let expiresAt: WallTime?
    /// In the order of the table's indexes.
    package let indexed: [IndexEntry]

    package var isDelete: Bool { encode == nil }

    package func body() throws(ServiceFailure) -> [UInt8] {
        do {
            return try encode?() ?? []
        } catch {
            throw ServiceFailure(.internalFault, "a row could not be encoded")
        }
    }
}

enum RowCoding {
    static func encode(_ row: some StoredRow) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(row))
    }

    static func decode<Row: StoredRow>(_ type: Row.Type, _ body: [UInt8]) throws -> Row {
        try JSONDecoder().decode(type, from: Data(body))
    }
}
