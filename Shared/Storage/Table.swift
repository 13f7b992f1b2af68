package import Primitives

/// A stored record. Its JSON form is what the driver keeps; new fields are optional.
package protocol StoredRow: Codable, Sendable {}

/// A table as data: how a row is named, found, and when it may go. A service declares its tables in
/// one
/// file; drivers make columns of it. No service writes SQL.
package struct Table<Row: StoredRow>: Sendable {
    /// Lower case and `_`; unique within a service.
    package let name: String
    package let key: @Sendable (Row) -> String
    package let indexes: [Index<Row>]
    /// The instant after which the row means nothing and is swept; nil keeps it.
    package let expiresAt: @Sendable (Row) -> WallTime?

    package init(
        _ name: String, key: @escaping @Sendable (Row) -> String, indexes: [Index<Row>] = [],
        expiresAt: @escaping @Sendable (Row) -> WallTime? = { _ in nil }
    ) {
        self.name = name
        self.key = key
        self.indexes = indexes
        self.expiresAt = expiresAt
    }

    /// The table without its row type, for drivers.
    package var schema: TableSchema {
        TableSchema(name: name, indexes: indexes.map(\.name)) { body in
            guard let row = try? RowCoding.decode(Row.self, body) else { return nil }
            return write(row)
        }
    }

    func write(_ row: Row) -> RowWrite {
        RowWrite(
            row: row, encode: { try RowCoding.encode(row) }, expiresAt: expiresAt(row),
            indexed: indexes.map { IndexEntry(value: $0.value(row), order: $0.order(row)) })
    }
}

/// A way to find rows other than by key: rows of one `value`, in ascending `order`.
package struct Index<Row: StoredRow>: Sendable {
    /// Lower case and `_`; unique within the table.
    package let name: String
    /// nil leaves the row out of the index.
    package let value: @Sendable (Row) -> String?
    package let order: @Sendable (Row) -> Int64

    package init(
        _ name: String, value: @escaping @Sendable (Row) -> String?,
        order: @escaping @Sendable (Row) -> Int64
    ) {
        self.name = name
        self.value = value
        self.order = order
    }
}

/// A table as a driver sees it.
package struct TableSchema: Sendable {
    package let name: String
    package let indexes: [String]
    /// Reads a stored body again for its index values, when a table gained an index; nil when it
    /// cannot be read.
    package let reindex: @Sendable (_ body: [UInt8]) -> RowWrite?

    init(
        name: String, indexes: [String],
        reindex: @escaping @Sendable (_ body: [UInt8]) -> RowWrite?
    ) {
        self.name = name
        self.indexes = indexes
        self.reindex = reindex
    }
}

/// All tables of one service, in one file: `enum SMSCodeTables: ServiceTables`.
package protocol ServiceTables {
    /// Those of `Answers` and of the outbox included where the service has them.
    static var schemas: [TableSchema] { get }
}
