import Primitives
import Storage

/// One open file: the connection, its tables, and the turn to write. Belongs to one thread.
final class SQLiteFile {
    let connection: SQLiteConnection
    /// The first problem of the group, also of a group that SQLite took back by itself.
    private(set) var groupProblem: StoreProblem?
    private var changesCountBefore: Int64 = 0
    private let turnstile: Turnstile
    /// In the order of declaration.
    private let tables: [SQLiteTable]
    private let byName: [String: SQLiteTable]
    private let generation: Int64
    private let generationStatement: SQLiteStatement
    private let begin: SQLiteStatement
    private let commit: SQLiteStatement
    private let rollback: SQLiteStatement
    private let savepoint: SQLiteStatement
    private let release: SQLiteStatement
    private let rollbackTo: SQLiteStatement

    init(path: String, schemas: [TableSchema], rowsVersion: Int64) throws(StoreProblem) {
        closeFile(try openPrivate(path))
        let turnstile = try Turnstile(path: path)
        self.turnstile = turnstile
        // Others that open the same file wait outside.
        try turnstile.enter(within: SQLiteLimits.waitMax)
        defer { turnstile.leave() }
        let connection = try SQLiteConnection(path: path)
        self.connection = connection
        try Self.prepare(connection)
        let layout = SQLiteLayout(
            connection: connection, schemas: schemas, rowsVersion: rowsVersion)
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StoreProblem) {
            generation = try layout.bring()
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
        var tables: [SQLiteTable] = []
        for schema in schemas { tables.append(try SQLiteTable(schema, on: connection)) }
        self.tables = tables
        byName = Dictionary(tables.map { ($0.schema.name, $0) }) { first, _ in first }
        generationStatement = try connection.prepare(
            "SELECT version FROM schema_version WHERE name = 'generation'")
        begin = try connection.prepare("BEGIN IMMEDIATE")
        commit = try connection.prepare("COMMIT")
        rollback = try connection.prepare("ROLLBACK")
        savepoint = try connection.prepare("SAVEPOINT decision")
        release = try connection.prepare("RELEASE SAVEPOINT decision")
        rollbackTo = try connection.prepare("ROLLBACK TO SAVEPOINT decision")
    }

    private static func prepare(_ connection: SQLiteConnection) throws(StoreProblem) {
        guard try connection.texts("PRAGMA journal_mode = WAL").first == "wal" else {
            throw .readOnly
        }
        // FULL: a commit is on the disk before it is answered, also through a power cut.
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.execute("PRAGMA wal_autocheckpoint = \(SQLiteLimits.checkpointPages)")
        try connection.execute("PRAGMA cache_size = -\(SQLiteLimits.cacheKibibytes)")
        try connection.execute("PRAGMA temp_store = MEMORY")
        try connection.execute("PRAGMA trusted_schema = OFF")
        try connection.execute("PRAGMA cell_size_check = ON")
    }

    // MARK: A group's transaction

    func beginGroup() throws(StoreProblem) {
        groupProblem = nil
        changesCountBefore = connection.changesCountEver
        try turnstile.enter(within: SQLiteLimits.waitMax)
        do throws(StoreProblem) {
            try begin.runToEnd()
            defer { generationStatement.reset() }
            guard try generationStatement.step(), generationStatement.integer(0) == generation
            else { throw .layoutChanged }
        } catch {
            rollbackGroup()
            throw error
        }
    }

    var groupWrote: Bool { connection.changesCountEver != changesCountBefore }

    func commitGroup() throws(StoreProblem) {
        do throws(StoreProblem) {
            try commit.runToEnd()
            turnstile.leave()
        } catch {
            rollbackGroup()
            throw error
        }
    }

    func rollbackGroup() {
        if connection.isInTransaction { try? rollback.runToEnd() }
        turnstile.leave()
    }

    // MARK: One decision's part of it

    func answer(_ needs: [RowNeed]) throws(StoreProblem) -> [[(name: RowName, body: [UInt8])]] {
        try noting { () throws(StoreProblem) in try rows(needs) }
    }

    private func rows(
        _ needs: [RowNeed]
    ) throws(StoreProblem) -> [[(name: RowName, body: [UInt8])]] {
        var answers: [[(name: RowName, body: [UInt8])]] = []
        for need in needs {
            switch need {
            case .row(let name):
                let body = try table(name.table).get(name.key)
                answers.append(body.map { [(name, $0)] } ?? [])
            case .find(let find):
                answers.append(try table(find.table).find(find))
            }
        }
        return answers
    }

    /// All of `writes` or none.
    func apply(
        _ writes: [(name: RowName, write: RowWrite, body: [UInt8])]
    ) throws(StoreProblem) {
        try noting { () throws(StoreProblem) in try applyOrUndo(writes) }
    }

    private func applyOrUndo(
        _ writes: [(name: RowName, write: RowWrite, body: [UInt8])]
    ) throws(StoreProblem) {
        // One statement is all or nothing by itself.
        if writes.count > 1 { try savepoint.runToEnd() }
        do throws(StoreProblem) {
            for (name, write, body) in writes {
                let table = try table(name.table)
                if write.isDelete {
                    try table.delete(name.key)
                } else {
                    try table.put(name.key, body, write)
                }
            }
            if writes.count > 1 { try release.runToEnd() }
        } catch {
            // The first reason, should the undoing fail too.
            groupProblem = groupProblem ?? error
            if writes.count > 1, connection.isInTransaction {
                try rollbackTo.runToEnd()
                try release.runToEnd()
            }
            throw error
        }
    }

    func sweep(now: WallTime, limit: Int) throws(StoreProblem) -> Int {
        try noting { () throws(StoreProblem) in
            var count = 0
            for table in tables { count += try table.sweep(now: now, limit: limit) }
            return count
        }
    }

    private func noting<Output>(
        _ body: () throws(StoreProblem) -> Output
    ) throws(StoreProblem) -> Output {
        do throws(StoreProblem) {
            return try body()
        } catch {
            groupProblem = groupProblem ?? error
            throw error
        }
    }

    func declares(_ table: String) -> Bool { byName[table] != nil }

    private func table(_ name: String) throws(StoreProblem) -> SQLiteTable {
        guard let table = byName[name] else { throw .badName }
        return table
    }
}
