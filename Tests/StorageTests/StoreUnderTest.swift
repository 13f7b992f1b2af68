import Effects
import Foundation
import Primitives
import SQLiteStorage
import Storage

/// The rows that the contract suite works on.
struct Item: StoredRow, Equatable {
    var id: String
    var group: String?
    var rank: Int64
    var text: String = ""
    var count: Int = 0
    var goneAt: WallTime?

    static let table = Table<Item>(
        "item", key: \.id,
        indexes: [Index("by_group", value: \.group, order: \.rank)],
        expiresAt: \.goneAt)
    static let others = Table<Item>("other_item", key: \.id)
}

enum Driver: String, CaseIterable {
    case memory, sqlite
}

/// A driver with a place to keep rows that outlives its store.
final class StoreUnderTest: Sendable {
    let driver: Driver
    let disk = MemoryDisk()
    let folder: TemporaryFolder
    let schemas: [TableSchema]

    init(
        _ driver: Driver,
        schemas: [TableSchema] = [Item.table.schema, Item.others.schema, AnswerRow.table.schema]
    ) throws {
        self.driver = driver
        self.schemas = schemas
        folder = try TemporaryFolder()
    }

    var path: String { folder.path + "/store.db" }

    /// Opens a store; on SQLite, on the same file each time.
    func open(_ weather: StoreWeather = .calm) throws -> any Store {
        switch driver {
        case .memory: MemoryStore(tables: schemas, disk: disk, weather: weather)
        case .sqlite: try SQLiteStore(path: path, tables: schemas)
        }
    }
}

/// A folder that goes with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("fusion-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension Store {
    func put(_ items: Item...) async throws {
        try await decide { rows throws(ServiceFailure) in
            for item in items { rows.put(Item.table, item) }
        }
    }

    func item(_ id: String) async throws -> Item? {
        try await decide { rows throws(ServiceFailure) in rows.get(Item.table, id) }
    }

    func ids(
        _ group: String, upTo: Int64? = nil, newestFirst: Bool = false, limit: Int = 100
    ) async throws -> [String] {
        try await decide { rows throws(ServiceFailure) in
            rows.find(
                Item.table, "by_group", group, upTo: upTo, newestFirst: newestFirst, limit: limit
            ).map(\.id)
        }
    }

    /// Adds one to `id` and answers the new count.
    func increment(_ id: String) async throws(ServiceFailure) -> Int {
        try await decide { rows throws(ServiceFailure) in
            var item = rows.get(Item.table, id) ?? Item(id: id, rank: 0)
            item.count += 1
            rows.put(Item.table, item)
            return item.count
        }
    }
}

extension Item {
    init(id: String, rank: Int64) { self.init(id: id, group: nil, rank: rank) }
}

let refused = ServiceFailure(.cooldown, "not yet")
