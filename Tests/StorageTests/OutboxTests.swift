import Effects
import Primitives
import Storage
import TestKit
import Testing

/// A provider that answers as scripted and remembers what it was given.
private final class Provider: Sendable {
    struct State {
        var script: [OutboxOutcome] = []
        var performed: [String] = []
        var inHand = 0
        var inHandMax = 0
    }
    let state = Lock(State())

    init(_ script: OutboxOutcome...) { state.withLock { $0.script = script } }

    var performed: [String] { state.withLock(\.performed) }

    func perform(_ row: OutboxRow) -> OutboxOutcome {
        state.withLock { state in
            state.performed.append("\(row.id)#\(row.attempts)")
            return state.script.isEmpty ? .done(note: "ref") : state.script.removeFirst()
        }
    }
}

private struct Post {
    let clock = ManualClock()
    let place: StoreUnderTest
    let store: any Store
    let records = Lock<[String]>([])

    init(_ driver: Driver = .memory, _ weather: StoreWeather = .calm) throws {
        place = try StoreUnderTest(
            driver, schemas: [Item.table.schema, OutboxRow.table.schema])
        store = try place.open(weather)
    }

    func pump(
        _ policy: OutboxPolicy = OutboxPolicy(),
        _ perform: @escaping OutboxPump.Perform
    ) -> OutboxPump {
        OutboxPump(
            store: store, clock: clock, pause: clock, policy: policy, perform: perform
        ) { row, settled, rows throws(ServiceFailure) in
            var item = rows.get(Item.table, row.id) ?? Item(id: row.id, rank: 0)
            item.text += "\(settled.word);"
            rows.put(Item.table, item)
        }
    }

    func row(_ id: String, usefulFor span: Duration? = nil) -> OutboxRow {
        OutboxRow(
            id: id, kind: "sms", body: [1, 2], at: clock.now(),
            usefulUntil: span.map { clock.now() + $0 })
    }

    func put(_ row: OutboxRow) async throws {
        try await store.decide { rows throws(ServiceFailure) in rows.put(OutboxRow.table, row) }
    }

    func isEmpty() async throws -> Bool {
        try await store.decide { rows throws(ServiceFailure) in
            rows.find(OutboxRow.table, "due", "due", limit: 1).isEmpty
        }
    }

    func record(_ id: String) async throws -> String { try await store.item(id)?.text ?? "" }

    /// Runs `pump` while `body` looks on, then drains it.
    func running(_ pump: OutboxPump, _ body: @escaping @Sendable () async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup { group in
            group.addTask { try await pump.run() }
            group.addTask {
                try await body()
                await pump.drain()
            }
            try await group.waitForAll()
        }
    }

    /// Looks until `condition` holds; lets the others run in between.
    @Sendable func until(_ condition: @Sendable () async throws -> Bool) async throws {
        while try await !condition() { await Task.yield() }
    }
}

extension OutboxSettled {
    fileprivate var word: String {
        switch self {
        case .done(let note): "done \(note ?? "-")"
        case .waiting: "waiting"
        case .abandoned(let reason): "abandoned \(reason)"
        }
    }
}

@Suite struct OutboxTests {
    @Test(
        "a fresh row is performed at a nudge, and recorded in the commit that removes it",
        arguments: Driver.allCases)
    func nudged(_ driver: Driver) async throws {
        let post = try Post(driver)
        let provider = Provider()
        let pump = post.pump { provider.perform($0) }
        try await post.running(pump) { () throws in
            try await post.put(post.row("a"))
            pump.nudge()
            try await post.until { try await post.isEmpty() }
            #expect(try await post.record("a") == "done ref;")
        }
        #expect(provider.performed == ["a#1"])
    }

    @Test("without a nudge the interval finds the row")
    func interval() async throws {
        let post = try Post()
        let provider = Provider()
        let pump = post.pump { provider.perform($0) }
        try await post.running(pump) { () throws in
            try await post.until { post.clock.sleepersCount == 1 }
            try await post.put(post.row("a"))
            post.clock.advance(.milliseconds(500))
            try await post.until { try await post.isEmpty() }
        }
        #expect(provider.performed == ["a#1"])
    }

    @Test(
        "a refused row is tried again after its backoff, and abandoned by name at the last attempt")
    func retries() async throws {
        let post = try Post()
        let provider = Provider(.retry(), .retry(after: .seconds(7)), .retry(), .retry())
        let pump = post.pump(OutboxPolicy(attemptsMax: 3, interval: .milliseconds(100))) {
            provider.perform($0)
        }
        try await post.running(pump) { () throws in
            try await post.put(post.row("a"))
            pump.nudge()
            try await post.until { try await post.record("a") == "waiting;" }
            post.clock.advance(.milliseconds(999))
            pump.nudge()
            #expect(provider.performed.count == 1)
            post.clock.advance(.milliseconds(1))
            pump.nudge()
            try await post.until { try await post.record("a") == "waiting;waiting;" }
            post.clock.advance(.seconds(7))
            pump.nudge()
            try await post.until { try await post.isEmpty() }
            #expect(
                try await post.record("a") == "waiting;waiting;abandoned attempts_exhausted;")
        }
        #expect(provider.performed == ["a#1", "a#2", "a#3"])
    }

    @Test("backoff doubles up to its bound")
    func backoff() {
        let policy = OutboxPolicy(backoffMin: .seconds(1), backoffMax: .seconds(5))
        let waits = [1, 2, 3, 4, 1_000].map { policy.backoff(after: $0) }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
    }

    @Test("a row that comes too late is abandoned unperformed")
    func tooLate() async throws {
        let post = try Post()
        let provider = Provider()
        let pump = post.pump { provider.perform($0) }
        try await post.put(post.row("a", usefulFor: .seconds(300)))
        post.clock.advance(.seconds(300))
        try await post.running(pump) { try await post.until { try await post.isEmpty() } }
        #expect(try await post.record("a") == "abandoned too_late;")
        #expect(provider.performed.isEmpty)
    }

    @Test("a row whose pump died is taken by another when the lease ends, not before")
    func takenOver() async throws {
        let post = try Post()
        // The dead pump leased the row and nothing more.
        try await post.put(post.row("a").leased(until: post.clock.now() + .seconds(15)))
        let provider = Provider()
        let pump = post.pump { provider.perform($0) }
        try await post.running(pump) { () throws in
            post.clock.advance(.milliseconds(14_999))
            pump.nudge()
            for _ in 0..<50 { await Task.yield() }
            #expect(provider.performed.isEmpty)
            post.clock.advance(.milliseconds(1))
            pump.nudge()
            try await post.until { try await post.isEmpty() }
        }
        #expect(provider.performed == ["a#2"])
    }

    @Test("two pumps on one table perform each row once", arguments: Driver.allCases)
    func twoPumps(_ driver: Driver) async throws {
        let post = try Post(driver)
        let provider = Provider()
        let pumps = [post.pump { provider.perform($0) }, post.pump { provider.perform($0) }]
        for number in 0..<40 { try await post.put(post.row("r\(number)")) }
        try await post.running(pumps[0]) {
            try await post.running(pumps[1]) { try await post.until { try await post.isEmpty() } }
        }
        #expect(Set(provider.performed).count == 40)
        #expect(provider.performed.count == 40)
    }

    @Test("a pump that lost its lease keeps `done` and forgets anything else")
    func lostLease() async throws {
        let post = try Post()
        let provider = Provider(.retry(), .done(note: "late"))
        let pump = post.pump { row in
            // Meanwhile the lease ended and another pump took the row.
            try? await post.put(
                row.leased(until: post.clock.now() + .seconds(15)))
            return provider.perform(row)
        }
        let first = post.row("a").leased(until: post.clock.now() + .seconds(15))
        try await post.put(first)
        try await post.running(pump) { () throws in
            #expect(await pump.carry(first, waitingUpTo: .seconds(3)) == nil)
            #expect(try await post.record("a") == "")
            #expect(await pump.carry(first, waitingUpTo: .seconds(3)) == .done(note: "late"))
            #expect(try await post.isEmpty())
            #expect(try await post.record("a") == "done late;")
        }
    }

    @Test("at most parallelMax rows are performed at a time, and all are performed")
    func parallel() async throws {
        let post = try Post()
        let provider = Provider()
        let pump = post.pump(OutboxPolicy(parallelMax: 3)) { row in
            provider.state.withLock { state in
                state.inHand += 1
                state.inHandMax = max(state.inHandMax, state.inHand)
            }
            for _ in 0..<5 { await Task.yield() }
            provider.state.withLock { $0.inHand -= 1 }
            return provider.perform(row)
        }
        for number in 0..<20 { try await post.put(post.row("r\(number)")) }
        try await post.running(pump) { try await post.until { try await post.isEmpty() } }
        #expect(provider.performed.count == 20)
        #expect((1...3).contains(provider.state.withLock(\.inHandMax)))
    }

    @Test("who carries a leased row learns its end; a slow one goes on after the wait")
    func carried() async throws {
        let post = try Post()
        let isSlow = Lock(false)
        let pump = post.pump(OutboxPolicy(interval: .seconds(3_600))) { _ in
            if isSlow.withLock(\.self) { try? await post.clock.wait(.seconds(4)) }
            return .done(note: "ref")
        }
        try await post.running(pump) { () throws in
            let quick = post.row("a").leased(until: post.clock.now() + .seconds(15))
            try await post.put(quick)
            #expect(await pump.carry(quick, waitingUpTo: .seconds(3)) == .done(note: "ref"))
            isSlow.withLock { $0 = true }
            let slow = post.row("b")
            try await post.put(slow)
            async let waited = pump.carry(slow, waitingUpTo: .seconds(3))
            // Asleep: the interval, the provider, the wait.
            try await post.until { post.clock.sleepersCount == 3 }
            post.clock.advance(.seconds(3))
            #expect(await waited == nil)
            post.clock.advance(.seconds(1))
            try await post.until { try await post.isEmpty() }
            #expect(try await post.record("b") == "done ref;")
        }
    }

    @Test("a store that fails while settling is asked again, so nothing is performed twice")
    func settleAgain() async throws {
        let provider = Provider()
        let hasFailed = Lock(false)
        // The first decision after the performing is that of settling.
        let weather = StoreWeather.faulty {
            hasFailed.withLock { hasFailed in
                guard !hasFailed, !provider.performed.isEmpty else { return .none }
                hasFailed = true
                return .beforeCommit
            }
        }
        let post = try Post(.memory, weather)
        let pump = post.pump(OutboxPolicy(interval: .seconds(3_600))) { provider.perform($0) }
        let row = post.row("a").leased(until: post.clock.now() + .seconds(15))
        try await post.put(row)
        try await post.running(pump) { () throws in
            async let waited = pump.carry(row, waitingUpTo: .seconds(9))
            // Asleep: the interval, the wait, the settling.
            try await post.until { post.clock.sleepersCount == 3 }
            post.clock.advance(.milliseconds(200))
            #expect(await waited == .done(note: "ref"))
        }
        #expect(provider.performed == ["a#1"])
    }

    @Test("drain finishes what is in hand and takes nothing new")
    func drain() async throws {
        let post = try Post()
        let pump = post.pump(OutboxPolicy(parallelMax: 1, interval: .seconds(3_600))) { _ in
            try? await post.clock.wait(.seconds(1))
            return .done(note: nil)
        }
        try await post.put(post.row("a"))
        try await post.running(pump) { () throws in
            try await post.until { post.clock.sleepersCount == 2 }
            try await post.put(post.row("b"))
            await pump.drain()
            // The interval's sleeper went with the drain.
            try await post.until { post.clock.sleepersCount == 1 }
            post.clock.advance(.seconds(1))
        }
        #expect(try await post.record("a") == "done -;")
        #expect(try await post.record("b") == "")
        #expect(try await !post.isEmpty())
    }

    @Test("the sweeper sweeps at start and every interval, round after round while there is more")
    func sweeper() async throws {
        let post = try Post()
        for number in 0..<500 {
            try await post.put(Item(id: "\(number)", rank: 0, goneAt: post.clock.now()))
        }
        let sweeper = Sweeper(store: post.store, clock: post.clock, pause: post.clock)
        try await withThrowingTaskGroup { group in
            group.addTask { try await sweeper.run() }
            group.addTask {
                for left in [300, 100] {
                    try await post.until { post.place.disk.count(in: "item") == left }
                    try await post.until { post.clock.sleepersCount == 2 }
                    post.clock.advance(Sweeper.shortPause)
                }
                try await post.until { post.place.disk.count(in: "item") == 0 }
                try await post.put(Item(id: "late", rank: 0, goneAt: post.clock.now()))
                post.clock.advance(Sweeper.interval)
                try await post.until { post.place.disk.count(in: "item") == 0 }
                await sweeper.drain()
            }
            try await group.waitForAll()
        }
    }
}

extension Item {
    fileprivate init(id: String, rank: Int64, goneAt: WallTime) {
        self.init(id: id, group: nil, rank: rank, goneAt: goneAt)
    }
}

extension Post {
    fileprivate func put(_ item: Item) async throws { try await store.put(item) }
}
