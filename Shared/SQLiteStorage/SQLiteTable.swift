import CSQLite
import Primitives
import Storage

/// One declared table on one connection, with its statements. The only SQL of rows is here, and it is
/// kept to what PostgreSQL also understands.
final class SQLiteTable {
    let schema: TableSchema
    private let connection: SQLiteConnection
    private var finds: [FindShape: SQLiteStatement] = [:]
    private let getStatement: SQLiteStatement
    private let putStatement: SQLiteStatement
    private let deleteStatement: SQLiteStatement
    private let sweepStatement: SQLiteStatement

    private struct FindShape: Hashable {
        let index: String
        let isBounded: Bool
        let newestFirst: Bool
    }

    init(_ schema: TableSchema, on connection: SQLiteConnection) throws(StoreProblem) {
        self.schema = schema
        self.connection = connection
        let name = schema.name
        getStatement = try connection.prepare("SELECT body FROM \(name) WHERE key = ?")
        putStatement = try connection.prepare(Self.putText(schema))
        deleteStatement = try connection.prepare("DELETE FROM \(name) WHERE key = ?")
        sweepStatement = try connection.prepare(
            "DELETE FROM \(name) WHERE key IN "
                + "(SELECT key FROM \(name) WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)")
    }

    private static func putText(_ schema: TableSchema) -> String {
        let columns =
            ["key", "body", "expires_at"]
            + schema.indexes.flatMap { ["\($0)_value", "\($0)_order"] }
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(schema.name) (\(columns.joined(separator: ", "))) "
            + "VALUES (\(places)) ON CONFLICT (key) DO UPDATE SET \(changes)"
    }

    func get(_ key: String) throws(StoreProblem) -> [UInt8]? {
        defer { getStatement.reset() }
        try getStatement.bind(1, key)
        return try getStatement.step() ? getStatement.bytes(0) : nil
    }

    func find(_ need: FindNeed) throws(StoreProblem) -> [(name: RowName, body: [UInt8])] {
        let statement = try findStatement(need)
        defer { statement.reset() }
        try statement.bind(1, need.value)
        if let upTo = need.upTo { try statement.bind(2, upTo) }
        try statement.bind(need.upTo == nil ? 2 : 3, Int64(need.limit))
        var rows: [(name: RowName, body: [UInt8])] = []
        while try statement.step() {
            rows.append(
                (RowName(table: schema.name, key: statement.text(0)), statement.bytes(1)))
        }
        return rows
    }

    func put(_ key: String, _ body: [UInt8], _ write: RowWrite) throws(StoreProblem) {
        try putStatement.bind(1, key)
        try putStatement.bind(2, utf8: body)
        try putStatement.bind(3, write.expiresAt?.millisecondsSince1970)
        for (number, entry) in write.indexed.enumerated() {
            let place = Int32(4 + 2 * number)
            try putStatement.bind(place, entry.value)
            try putStatement.bind(place + 1, entry.value == nil ? nil : entry.order)
        }
        try putStatement.runToEnd()
    }

    func delete(_ key: String) throws(StoreProblem) {
        try deleteStatement.bind(1, key)
        try deleteStatement.runToEnd()
    }

    func sweep(now: WallTime, limit: Int) throws(StoreProblem) -> Int {
        try sweepStatement.bind(1, now.millisecondsSince1970)
        try sweepStatement.bind(2, Int64(limit))
        try sweepStatement.runToEnd()
        return connection.changesCount
    }

    private func findStatement(_ need: FindNeed) throws(StoreProblem) -> SQLiteStatement {
        let shape = FindShape(
            index: need.index, isBounded: need.upTo != nil, newestFirst: need.newestFirst)
        if let statement = finds[shape] { return statement }
        // Comes from a declared index, never from a caller.
        guard schema.indexes.contains(need.index) else { throw .badName }
        let direction = need.newestFirst ? "DESC" : "ASC"
        let statement = try connection.prepare(
            "SELECT key, body FROM \(schema.name) WHERE \(need.index)_value = ?"
                + (need.upTo == nil ? "" : " AND \(need.index)_order <= ?")
                + " ORDER BY \(need.index)_order \(direction), key \(direction) LIMIT ?")
        finds[shape] = statement
        return statement
    }
}
