import Effects
import Foundation
import Primitives
import SQLiteStorage
import Storage
import TestKit
import Testing

/// What only the SQLite driver promises: about its file, its thread, its process.
@Suite struct SQLiteStoreTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/store.db" }

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ tables: [TableSchema] = [Item.table.schema], version: Int = 1,
        limits: SQLiteLimits = SQLiteLimits(), log: Log = .silent
    ) throws(StoreProblem) -> SQLiteStore {
        try SQLiteStore(path: path, tables: tables, version: version, limits: limits, log: log)
    }

    @Test("the file and all its companions belong to their owner alone")
    func fileMode() async throws {
        let store = try open()
        try await store.put(Item(id: "a", rank: 1))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: folder.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test("a process killed in the middle of its work loses nothing that it answered")
    func killed() async throws {
        let path = path
        let answeredPath = folder.path + "/answered"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, answeredPath = answeredPath as String] in
            try await writeUntilKilled(path, answeredPath)
        }
        let answered = try String(contentsOfFile: answeredPath, encoding: .utf8)
            .split(separator: "\n").map(String.init)
        #expect(answered.count >= 300)
        let store = try open()
        for id in answered { #expect(try await store.item(id) != nil, "\(id) was answered") }
        // The lock of the dead process is gone, and the count is of whole decisions.
        let count = try #require(try await store.item("sum")).count
        #expect(count >= answered.count)
        #expect(try await store.increment("sum") == count + 1)
    }

    @Test("close answers everything taken, then refuses, and a new store has it all")
    func close() async throws {
        let store = try open()
        let answered = await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask { (try? await store.increment("n\(number % 7)")) != nil ? 1 : 0 }
            }
            group.addTask {
                await store.close()
                return 0
            }
            return await group.reduce(0, +)
        }
        let failure = await #expect(throws: ServiceFailure.self) { try await store.item("n0") }
        #expect(failure?.code == .unavailable)
        await store.close()
        let again = try open()
        var sum = 0
        for number in 0..<7 { sum += try await again.item("n\(number)")?.count ?? 0 }
        #expect(sum == answered)
    }

    @Test("more decisions than the queue holds are overloaded, and the others still answered")
    func overload() async throws {
        let store = try open(limits: SQLiteLimits(queueCountMax: 4))
        // Holds the thread until every other decision has been offered.
        let gate = Gate()
        let codes = await withTaskGroup { group in
            group.addTask {
                await code {
                    try await store.decide { rows throws(ServiceFailure) in
                        // A decision that reads has its second round on the thread.
                        _ = rows.get(Item.table, "n")
                        gate.wait()
                    }
                }
            }
            await gate.waitForEntry()
            for _ in 0..<10 {
                group.addTask {
                    let word = await code { _ = try await store.increment("n") }
                    if word == "overloaded" { gate.count() }
                    return word
                }
            }
            group.addTask {
                await gate.waitForCount(6)
                gate.open()
                return "opened"
            }
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(codes.filter { $0 == "overloaded" }.count == 6)
        #expect(try await store.item("n")?.count == 4)
    }

    @Test("a new index finds the rows that were there before it")
    func newIndex() async throws {
        let plain = Table<Item>("item", key: \.id)
        do {
            let store = try open([plain.schema])
            for number in 0..<1_200 {
                let item = Item(id: "\(number)", group: "g\(number % 2)", rank: Int64(-number))
                try await store.decide { rows throws(ServiceFailure) in rows.put(plain, item) }
            }
            await store.close()
        }
        let store = try open()
        #expect(try await store.ids("g0", limit: 2) == ["1198", "1196"])
        #expect(try await store.ids("g1", limit: 1_000).count == 600)
    }

    @Test("a process that opened the file before it got an index writes no more rows without it")
    func layoutChanged() async throws {
        let plain = Table<Item>("item", key: \.id)
        let told = RecordingLog()
        let old = try open([plain.schema], log: Log(told))
        let new = try open()
        let failure = await #expect(throws: ServiceFailure.self) {
            try await old.decide { rows throws(ServiceFailure) in
                rows.put(plain, Item(id: "a", group: "g", rank: 1))
            }
        }
        #expect(failure?.code == .unavailable)
        #expect(told.lines.count == 1 && told.lines[0].contains("layout_changed"))
        try await new.put(Item(id: "b", group: "g", rank: 1))
        #expect(try await new.ids("g") == ["b"])
        // And it cannot come back: it does not know the index.
        #expect(throws: StoreProblem.newerVersion) { try open([plain.schema]) }
        // Giving an index up takes a new version.
        let newest = try open([plain.schema], version: 2)
        await newest.close()
        #expect(throws: StoreProblem.newerVersion) { try open() }
    }

    @Test("a file of a newer version is refused with what to do")
    func newerVersion() async throws {
        await (try open(version: 7)).close()
        let problem = #expect(throws: StoreProblem.self) { try open(version: 6) }
        #expect(problem == .newerVersion)
        #expect(problem?.description.contains("run that version") == true)
        await (try open(version: 7)).close()
        await (try open(version: 8)).close()
    }

    @Test("a missing folder, a file that is no database and a bad name are told apart")
    func cannotOpen() throws {
        #expect(throws: StoreProblem.cannotOpen) {
            _ = try SQLiteStore(path: folder.path + "/no/store.db", tables: [])
        }
        try Data(repeating: 65, count: 8_192).write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreProblem.damaged) { try open() }
        #expect(throws: StoreProblem.badName) {
            let bad = Table<Item>("item; DROP TABLE item", key: \.id)
            _ = try SQLiteStore(path: folder.path + "/other.db", tables: [bad.schema])
        }
    }

    @Test("damage found later fails the decisions that meet it; the thread lives")
    func damagedLater() async throws {
        let store = try open([Item.table.schema, Item.others.schema])
        for number in 0..<400 {
            try await store.put(
                Item(id: "\(number)", rank: 0, next: String(repeating: "x", count: 500)))
        }
        await store.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in 8..<40 {
            bytes.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(count: 64))
        }
        try bytes.write(to: URL(fileURLWithPath: path))

        let told = RecordingLog()
        let again = try open([Item.table.schema, Item.others.schema], log: Log(told))
        var failedCount = 0
        for number in 0..<400 {
            if await code({ _ = try await again.item("\(number)") }) == "unavailable" {
                failedCount += 1
            }
        }
        #expect(failedCount > 0)
        try await again.decide { rows throws(ServiceFailure) in
            rows.put(Item.others, Item(id: "a", rank: 0))
        }
        // Other pages are whole: that decisions succeed does not mend it.
        #expect(told.lines.count == 1)
        #expect(told.lines.first?.hasPrefix("error the store does not work") == true)
        #expect(told.lines.first?.contains("damaged") == true)
    }

    @Test("a write that the system refuses fails its decision, and work goes on when there is room")
    func noRoom() async throws {
        let path = path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let told = RecordingLog()
            let store = try SQLiteStore(
                path: path, tables: [Item.table.schema], log: Log(told))
            try await store.put(Item(id: "a", rank: 0))
            #expect(told.lines.isEmpty)
            // No file of this process may grow beyond 1 MB: as if the disk were full.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let old = limit.rlim_cur
            limit.rlim_cur = 1_000_000
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            for _ in 0..<3 {
                let failure = await #expect(throws: ServiceFailure.self) {
                    try await store.put(
                        Item(id: "big", rank: 0, next: String(repeating: "x", count: 4_000_000)))
                }
                #expect(failure?.code == .unavailable)
                // It can still be read, which does not mean that it works.
                #expect(try await store.item("a") != nil)
            }
            #expect(told.lines.count == 1, "\(told.lines)")
            #expect(told.lines.first?.hasPrefix("error the store does not work problem=") == true)
            limit.rlim_cur = old
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try await store.put(Item(id: "b", rank: 0))
            #expect(told.lines.count == 2)
            #expect(told.lines.last?.hasPrefix("info the store works again") == true)
            #expect(try await store.item("a") != nil)
            #expect(try await store.item("b") != nil)
            #expect(try await store.item("big") == nil)
        }
    }

    @Test("a folder that may not be written is refused as such")
    func readOnlyFolder() async throws {
        let path = path
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        await #expect(processExitsWith: .success) { [path = path as String] in
            // The rights of a folder do not bind root.
            if geteuid() == 0 { _ = seteuid(65_534) }
            #expect(throws: StoreProblem.readOnly) {
                _ = try SQLiteStore(path: path, tables: [Item.table.schema])
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    }

    @Test("a decision that cannot be written takes only itself back, not its group")
    func savepoint() async throws {
        let store = try open()
        await withTaskGroup { group in
            for number in 0..<30 {
                group.addTask {
                    await code {
                        try await store.decide { rows throws(ServiceFailure) in
                            rows.put(Item.table, Item(id: "\(number)", group: "g", rank: 0))
                            rows.put(
                                Item.table, Item(id: "too \(number)", group: "g", rank: 0))
                            if number % 3 == 0 {
                                rows.put(Table<Item>("none", key: \.id), Item(id: "x", rank: 0))
                            }
                        }
                    }
                }
            }
            await group.waitForAll()
        }
        #expect(try await store.ids("g").count == 40)
    }
}

/// What an attempt came to, as a word.
func code(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "done"
    } catch {
        return (error as? ServiceFailure)?.code.rawValue ?? "other"
    }
}

/// Runs in a child process: parallel decisions; each answered id is noted outside the store; then the
/// process kills itself with others in hand.
@Sendable private func writeUntilKilled(_ path: String, _ answeredPath: String) async throws {
    let store = try SQLiteStore(path: path, tables: [Item.table.schema])
    try Data().write(to: URL(fileURLWithPath: answeredPath))
    let answered = try FileHandle(forWritingTo: URL(fileURLWithPath: answeredPath))
    let count = Lock(0)
    try await withThrowingTaskGroup { group in
        for writer in 0..<32 {
            group.addTask {
                for number in 0... {
                    let id = "\(writer)-\(number)"
                    try await store.decide { rows throws(ServiceFailure) in
                        var sum = rows.get(Item.table, "sum") ?? Item(id: "sum", rank: 0)
                        sum.count += 1
                        rows.put(Item.table, sum)
                        rows.put(Item.table, Item(id: id, group: "g", rank: Int64(number)))
                    }
                    count.withLock { count in
                        answered.write(Data("\(id)\n".utf8))
                        count += 1
                        if count == 300 { kill(getpid(), SIGKILL) }
                    }
                }
            }
        }
        try await group.waitForAll()
    }
}

/// Lets a test hold the store's thread.
private final class Gate: Sendable {
    private let isOpen = DispatchSemaphore(value: 0)
    private let state = Lock((visitsCount: 0, count: 0))

    /// The first visit is that of the caller's round and passes; the second is on the store's thread.
    func wait() {
        let visit = state.withLock { state in
            state.visitsCount += 1
            return state.visitsCount
        }
        if visit == 2 { isOpen.wait() }
    }

    func open() { isOpen.signal() }
    func count() { state.withLock { $0.count += 1 } }
    func waitForEntry() async { while state.withLock(\.visitsCount) < 2 { await Task.yield() } }
    func waitForCount(_ count: Int) async {
        while state.withLock({ $0.count < count }) { await Task.yield() }
    }
}
