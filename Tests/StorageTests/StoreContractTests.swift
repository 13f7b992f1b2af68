import Effects
import Primitives
import Storage
import Testing

/// What every driver promises. Each case runs on all of them.
@Suite struct StoreContractTests {
    @Test(
        "a row comes back as it was put, is replaced by its key, and goes when deleted",
        arguments: Driver.allCases)
    func putGetDelete(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        #expect(try await store.item("a") == nil)
        let odd = Item(
            id: "a", group: "ä\u{0}'\"; --", rank: .min, text: "\u{1F4F1}\n\\/", count: 7)
        try await store.put(odd)
        #expect(try await store.item("a") == odd)
        #expect(try await store.ids("ä\u{0}'\"; --") == ["a"])
        try await store.put(Item(id: "a", group: "h", rank: .max))
        #expect(try await store.item("a") == Item(id: "a", group: "h", rank: .max))
        #expect(try await store.ids("ä\u{0}'\"; --") == [])
        #expect(try await store.ids("h") == ["a"])
        try await store.decide { rows throws(ServiceFailure) in rows.delete(Item.table, "a") }
        #expect(try await store.item("a") == nil)
        #expect(try await store.ids("h") == [])
    }

    @Test("tables with the same keys do not touch each other", arguments: Driver.allCases)
    func tablesAreApart(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        try await store.put(Item(id: "a", group: "g", rank: 1))
        let other = try await store.decide { rows throws(ServiceFailure) in
            rows.get(Item.others, "a")
        }
        #expect(other == nil)
        let failure = await #expect(throws: ServiceFailure.self) {
            try await store.decide { rows throws(ServiceFailure) in
                rows.put(Table<Item>("undeclared", key: \.id), Item(id: "a", rank: 1))
            }
        }
        #expect(failure?.code == .internalFault)
    }

    @Test(
        "a find gives its value's rows in order, ties by key, cut at limit and bound",
        arguments: Driver.allCases)
    func order(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        try await store.put(
            Item(id: "c", group: "g", rank: 5), Item(id: "b", group: "g", rank: 5),
            Item(id: "a", group: "g", rank: 9), Item(id: "d", group: "g", rank: -3),
            Item(id: "e", group: "h", rank: 0), Item(id: "f", group: nil, rank: 0))
        #expect(try await store.ids("g") == ["d", "b", "c", "a"])
        #expect(try await store.ids("g", newestFirst: true) == ["a", "c", "b", "d"])
        #expect(try await store.ids("g", limit: 2) == ["d", "b"])
        #expect(try await store.ids("g", upTo: 5) == ["d", "b", "c"])
        #expect(try await store.ids("g", upTo: 4) == ["d"])
        #expect(try await store.ids("g", upTo: 5, newestFirst: true, limit: 1) == ["c"])
        #expect(try await store.ids("unknown") == [])
    }

    @Test("a decision sees its own writes, in get and in find", arguments: Driver.allCases)
    func ownWrites(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        try await store.put(
            Item(id: "a", group: "g", rank: 1), Item(id: "b", group: "g", rank: 2))
        let seen = try await store.decide { rows throws(ServiceFailure) -> [String] in
            rows.put(Item.table, Item(id: "c", group: "g", rank: 0))
            rows.put(Item.table, Item(id: "a", group: "h", rank: 1))
            rows.delete(Item.table, "b")
            #expect(rows.get(Item.table, "b") == nil)
            rows.put(Item.table, Item(id: "d", group: "g", rank: 4))
            return rows.find(Item.table, "by_group", "g", limit: 10).map(\.id)
        }
        #expect(seen == ["c", "d"])
        #expect(try await store.ids("g") == ["c", "d"])
    }

    @Test(
        "a full find that loses rows to own writes shows the rows behind them",
        arguments: Driver.allCases)
    func ownWritesBehindLimit(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        for rank in 0..<6 {
            try await store.put(Item(id: "r\(rank)", group: "g", rank: Int64(rank)))
        }
        let seen = try await store.decide { rows throws(ServiceFailure) -> [String] in
            rows.delete(Item.table, "r0")
            rows.put(Item.table, Item(id: "r1", group: "g", rank: 99))
            return rows.find(Item.table, "by_group", "g", limit: 2).map(\.id)
        }
        #expect(seen == ["r2", "r3"])
    }

    @Test(
        "three rounds are enough for a chain of three; a longer chain fails and writes nothing",
        arguments: Driver.allCases)
    func rounds(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        try await store.put(
            Item(id: "1", rank: 0, next: "2"), Item(id: "2", rank: 0, next: "3"),
            Item(id: "3", rank: 0, next: "4"), Item(id: "4", rank: 0))
        @Sendable func follow(_ links: Int, _ rows: inout Rows) -> String? {
            var id = "1"
            for _ in 0..<links {
                guard let item = rows.get(Item.table, id) else { return nil }
                id = item.text
            }
            rows.put(Item.table, Item(id: "mark", rank: 0, next: id))
            return id
        }
        let end = try await store.decide { rows throws(ServiceFailure) in follow(3, &rows) }
        #expect(end == "4")
        #expect(try await store.item("mark")?.text == "4")
        let failure = await #expect(throws: ServiceFailure.self) {
            try await store.decide { rows throws(ServiceFailure) in follow(4, &rows) }
        }
        #expect(failure?.code == .internalFault)
        #expect(try await store.item("mark")?.text == "4")
    }

    @Test("what was prefetched costs no further round", arguments: Driver.allCases)
    func prefetch(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        try await store.put(Item(id: "a", rank: 1), Item(id: "b", rank: 2))
        let runs = Lock(0)
        _ = try await store.decide { rows throws(ServiceFailure) in
            runs.withLock { $0 += 1 }
            rows.prefetch(Item.table, "b")
            guard rows.get(Item.table, "a") != nil else { return Int64(0) }
            return rows.get(Item.table, "b")?.rank ?? 0
        }
        #expect(runs.withLock(\.self) == 2)
    }

    @Test("a refusal takes back all of its writes and keeps its code", arguments: Driver.allCases)
    func refusal(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        try await store.put(Item(id: "a", group: "g", rank: 1))
        await #expect(throws: refused) {
            try await store.decide { rows throws(ServiceFailure) in
                rows.put(Item.table, Item(id: "b", group: "g", rank: 2))
                rows.delete(Item.table, "a")
                throw refused
            }
        }
        #expect(try await store.ids("g") == ["a"])
    }

    @Test("a row that cannot be read is a failure, not an absence", arguments: Driver.allCases)
    func unreadableRow(_ driver: Driver) async throws {
        struct Stranger: StoredRow {
            var id: String
        }
        let store = try StoreUnderTest(driver).open()
        let asStranger = Table<Stranger>("item", key: \.id)
        try await store.decide { rows throws(ServiceFailure) in
            rows.put(asStranger, Stranger(id: "a"))
        }
        let failure = await #expect(throws: ServiceFailure.self) { try await store.item("a") }
        #expect(failure?.code == .internalFault)
    }

    @Test("parallel increments are exact", arguments: Driver.allCases)
    func parallelIncrements(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        let seen = try await withThrowingTaskGroup { group in
            for number in 0..<400 {
                group.addTask { try await store.increment("n\(number % 3)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(seen).count == 134)
        var sum = 0
        for number in 0..<3 { sum += try await store.item("n\(number)")?.count ?? 0 }
        #expect(sum == 400)
    }

    @Test("a limit of k lets exactly k of n parallel decisions through", arguments: Driver.allCases)
    func parallelLimit(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        let accepted = await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    do {
                        try await store.decide { rows throws(ServiceFailure) in
                            let taken = rows.find(Item.table, "by_group", "g", limit: 10)
                            guard taken.count < 7 else { throw refused }
                            rows.put(Item.table, Item(id: "\(number)", group: "g", rank: 0))
                        }
                        return 1
                    } catch {
                        return 0
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(accepted == 7)
        #expect(try await store.ids("g").count == 7)
    }

    @Test("a new store on the same place has every row and every index", arguments: Driver.allCases)
    func restart(_ driver: Driver) async throws {
        let place = try StoreUnderTest(driver)
        do {
            let store = try place.open()
            for rank in 0..<50 {
                try await store.put(Item(id: "r\(rank)", group: "g", rank: Int64(rank)))
            }
        }
        let store = try place.open()
        #expect(try await store.ids("g").count == 50)
        #expect(try await store.item("r49")?.rank == 49)
    }

    @Test("two stores on one place decide one after the other", arguments: Driver.allCases)
    func twoStores(_ driver: Driver) async throws {
        let place = try StoreUnderTest(driver)
        let stores = [try place.open(), try place.open()]
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask { _ = try await stores[number % 2].increment("n") }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].item("n")?.count == 200)
        #expect(try await stores[1].item("n")?.count == 200)
    }

    @Test(
        "a sweep takes what has expired, the oldest first, within its limit",
        arguments: Driver.allCases)
    func sweep(_ driver: Driver) async throws {
        let store = try StoreUnderTest(driver).open()
        for at in 1...5 {
            try await store.put(
                Item(
                    id: "\(at)", group: "g", rank: Int64(at),
                    goneAt: WallTime(millisecondsSince1970: Int64(at) * 10)))
        }
        try await store.put(Item(id: "for ever", group: "g", rank: 9))
        let now = WallTime(millisecondsSince1970: 40)
        #expect(try await store.sweep(now: now, limit: 3) == 3)
        #expect(try await store.ids("g") == ["4", "5", "for ever"])
        #expect(try await store.sweep(now: now, limit: 3) == 1)
        #expect(try await store.sweep(now: now, limit: 3) == 0)
        #expect(try await store.ids("g") == ["5", "for ever"])
    }

    @Test("random decisions leave both drivers with the same rows")
    func driversAgree() async throws {
        let stores = try Driver.allCases.map { try StoreUnderTest($0).open() }
        var random = SplitMix(state: 20_250)
        for _ in 0..<300 {
            let (id, group) = ("i\(random.next() % 12)", "g\(random.next() % 3)")
            let (rank, kind) = (Int64(random.next() % 5), random.next() % 4)
            var answers: [[Item]] = []
            for store in stores {
                answers.append(
                    try await store.decide { rows throws(ServiceFailure) in
                        if kind == 0 { rows.delete(Item.table, id) }
                        if kind > 1 {
                            rows.put(Item.table, Item(id: id, group: group, rank: rank))
                        }
                        return rows.find(
                            Item.table, "by_group", group, upTo: rank, newestFirst: kind == 2,
                            limit: 3)
                    })
            }
            #expect(answers[0] == answers[1])
        }
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension Item {
    init(id: String, rank: Int64, next: String) {
        self.init(id: id, group: nil, rank: rank, text: next)
    }
}
