import CSQLite
import Primitives

/// One connection. Used by one thread at a time: it is opened without SQLite's own mutex.
final class SQLiteConnection {
    fileprivate let handle: OpaquePointer

    init(path: String) throws(StoreProblem) {
        var opened: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
            | SQLITE_OPEN_PRIVATECACHE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw StoreProblem(code: code)
        }
        handle = opened
        sqlite3_busy_timeout(handle, Int32(SQLiteLimits.waitMax.wholeMillisecondsClamped))
    }

    /// Statements must be gone before.
    deinit { sqlite3_close_v2(handle) }

    /// False once SQLite has taken the whole transaction back by itself (disk full, I/O error).
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    var changesCount: Int { Int(sqlite3_changes(handle)) }
    /// Since it was opened, what was taken back included.
    var changesCountEver: Int64 { sqlite3_total_changes64(handle) }

    /// Statements without values or rows.
    func execute(_ sql: String) throws(StoreProblem) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreProblem(code: code) }
    }

    /// Prepared for the life of the connection.
    func prepare(_ sql: String) throws(StoreProblem) -> SQLiteStatement {
        try SQLiteStatement(sql, on: self)
    }

    /// The first column of every row, for pragmas and other one-time questions.
    func texts(_ sql: String, column: Int32 = 0) throws(StoreProblem) -> [String] {
        let statement = try prepare(sql)
        defer { statement.reset() }
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(column)) }
        return texts
    }
}

/// A prepared statement: bind, step until false, reset.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    /// SQLite copies what is bound: the macro SQLITE_TRANSIENT is a cast that does not import.
    private static var copied: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    fileprivate init(_ sql: String, on connection: SQLiteConnection) throws(StoreProblem) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw StoreProblem(code: code) }
        handle = prepared
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ place: Int32, _ text: String?) throws(StoreProblem) {
        guard let text else { return try check(sqlite3_bind_null(handle, place)) }
        try bind(place, utf8: Array(text.utf8))
    }

    /// UTF-8 text given as bytes.
    func bind(_ place: Int32, utf8 bytes: [UInt8]) throws(StoreProblem) {
        let code = bytes.withUnsafeBytes { raw in
            // An empty array may have no address, which would bind NULL.
            guard let start = raw.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                return sqlite3_bind_text(handle, place, "", 0, Self.copied)
            }
            return sqlite3_bind_text(handle, place, start, Int32(raw.count), Self.copied)
        }
        try check(code)
    }

    func bind(_ place: Int32, _ integer: Int64?) throws(StoreProblem) {
        try check(
            integer.map { sqlite3_bind_int64(handle, place, $0) }
                ?? sqlite3_bind_null(handle, place))
    }

    /// - Returns: whether there is a row to read.
    func step() throws(StoreProblem) -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw StoreProblem(code: code)
        }
    }

    func runToEnd() throws(StoreProblem) {
        defer { reset() }
        while try step() {}
    }

    func reset() {
        // Repeats the error of the last step, which was thrown there.
        _ = sqlite3_reset(handle)
    }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// A copy: the column's memory goes with the next step.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, column))
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    private func check(_ code: Int32) throws(StoreProblem) {
        guard code == SQLITE_OK else { throw StoreProblem(code: code) }
    }
}
