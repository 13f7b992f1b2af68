import CSQLite
import Primitives
import Storage

/// Brings a file to the layout that a service declares, or says why not.
///
/// Each table: `key`, `body` (JSON), `expires_at`, and for each index `<name>_value` and `<name>_order`.
/// `schema_version` holds three numbers. `layout`: of this driver. `rows`: of the service's declaration.
/// `generation`: raised whenever a column comes or goes, so that a process that opened the file before
/// stops writing rows without that column.
struct SQLiteLayout {
    static let driverVersion: Int64 = 1
    /// Rows that are given new index values in one go.
    private static let reindexCount = 500

    let connection: SQLiteConnection
    let schemas: [TableSchema]
    let rowsVersion: Int64

    /// Inside a write transaction.
    /// - Returns: the generation that the file is at now.
    func bring() throws(StoreProblem) -> Int64 {
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_version "
                + "(name TEXT PRIMARY KEY, version BIGINT NOT NULL)")
        let layout = try version("layout") ?? Self.driverVersion
        let rows = try version("rows") ?? rowsVersion
        guard layout <= Self.driverVersion, rows <= rowsVersion else { throw .newerVersion }
        var isChanged = false
        for schema in schemas where try bring(schema, isUpgrade: rows < rowsVersion) {
            isChanged = true
        }
        let generation = try (version("generation") ?? 0) + (isChanged ? 1 : 0)
        for (name, number) in [
            ("layout", Self.driverVersion), ("rows", rowsVersion), ("generation", generation),
        ] where try version(name) != number {
            try setVersion(name, number)
        }
        return generation
    }

    // MARK: -

    /// - Returns: whether columns came or went.
    private func bring(_ schema: TableSchema, isUpgrade: Bool) throws(StoreProblem) -> Bool {
        for name in [schema.name] + schema.indexes where !Self.isName(name) { throw .badName }
        let name = schema.name
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS \(name) "
                + "(key TEXT PRIMARY KEY NOT NULL, body TEXT NOT NULL, expires_at BIGINT) "
                + "WITHOUT ROWID")
        try connection.execute(
            "CREATE INDEX IF NOT EXISTS \(name)_by_expires_at ON \(name) (expires_at) "
                + "WHERE expires_at IS NOT NULL")
        let columns = try connection.texts("PRAGMA table_info(\(name))", column: 1)
        let stored = columns.filter { $0.hasSuffix("_value") }.map { String($0.dropLast(6)) }
        let gone = stored.filter { !schema.indexes.contains($0) }
        // An index that this version does not know would be left without its rows.
        guard gone.isEmpty || isUpgrade else { throw .newerVersion }
        for index in gone {
            try connection.execute("DROP INDEX IF EXISTS \(name)_by_\(index)")
            try connection.execute("ALTER TABLE \(name) DROP COLUMN \(index)_value")
            try connection.execute("ALTER TABLE \(name) DROP COLUMN \(index)_order")
        }
        let new = schema.indexes.filter { !stored.contains($0) }
        for index in new {
            try connection.execute("ALTER TABLE \(name) ADD COLUMN \(index)_value TEXT")
            try connection.execute("ALTER TABLE \(name) ADD COLUMN \(index)_order BIGINT")
            try connection.execute(
                "CREATE INDEX \(name)_by_\(index) ON \(name) "
                    + "(\(index)_value, \(index)_order, key) WHERE \(index)_value IS NOT NULL")
        }
        if !new.isEmpty { try reindex(schema) }
        return !new.isEmpty || !gone.isEmpty
    }

    /// Puts every row again, in key order, with the index values of today.
    private func reindex(_ schema: TableSchema) throws(StoreProblem) {
        let table = try SQLiteTable(schema, on: connection)
        let page = try connection.prepare(
            "SELECT key, body FROM \(schema.name) WHERE key > ? ORDER BY key LIMIT ?")
        var last = ""
        while true {
            var rows: [(key: String, body: [UInt8])] = []
            try page.bind(1, last)
            try page.bind(2, Int64(Self.reindexCount))
            while try page.step() { rows.append((page.text(0), page.bytes(1))) }
            page.reset()
            for row in rows {
                // A row that cannot be read stays as it is, out of the index; reading it fails by name.
                guard let write = schema.reindex(row.body) else { continue }
                try table.put(row.key, row.body, write)
            }
            guard let end = rows.last else { return }
            last = end.key
        }
    }

    func version(_ name: String) throws(StoreProblem) -> Int64? {
        let statement = try connection.prepare("SELECT version FROM schema_version WHERE name = ?")
        defer { statement.reset() }
        try statement.bind(1, name)
        return try statement.step() ? statement.integer(0) : nil
    }

    private func setVersion(_ name: String, _ number: Int64) throws(StoreProblem) {
        let statement = try connection.prepare(
            "INSERT INTO schema_version (name, version) VALUES (?, ?) "
                + "ON CONFLICT (name) DO UPDATE SET version = excluded.version")
        try statement.bind(1, name)
        try statement.bind(2, number)
        try statement.runToEnd()
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            text.utf8.count <= 48
        else { return false }
        return text.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "_")
        }
    }
}
