import Effects
import Primitives
import Storage
import TestKit
import Testing

private struct Reply: Codable, Sendable, Equatable {
    var count: Int
}

private struct Plan: Codable, Sendable, Equatable {
    var number: String
}

/// One service's answers over one store, with a counter that tells how often a decision counted.
private struct Desk {
    let clock = ManualClock()
    let place: StoreUnderTest
    let store: any Store

    init(_ driver: Driver = .memory, _ weather: StoreWeather = .calm) throws {
        place = try StoreUnderTest(driver)
        store = try place.open(weather)
    }

    func answers(
        _ cryptography: FakeCryptography = FakeCryptography(), _ other: (any Store)? = nil
    ) -> Answers {
        Answers(
            store: other ?? store, sealer: cryptography, digest: cryptography, clock: clock)
    }

    func count() async throws -> Int { try await store.item("n")?.count ?? 0 }
}

private func key(
    _ key: String = "k", body: String = "b", scope: String = "a", chosen: Bool = true
) -> AnswerKey {
    AnswerKey(
        scope: scope, method: "item.add", key: key, body: Secret(Array(body.utf8)),
        isChosenByCaller: chosen)
}

@Sendable private func add(_ rows: inout Rows) -> Reply {
    var item = rows.get(Item.table, "n") ?? Item(id: "n", rank: 0)
    item.count += 1
    rows.put(Item.table, item)
    return Reply(count: item.count)
}

private typealias PlanBegun = Begun<Plan, Reply>

extension Answers {
    fileprivate func addOnce(_ key: AnswerKey) async throws(ServiceFailure) -> Reply {
        try await once(key) { rows throws(ServiceFailure) in add(&rows) }
    }

    fileprivate func addLater(_ key: AnswerKey) async throws(ServiceFailure) -> PlanBegun {
        try await begin(key) { rows throws(ServiceFailure) in
            .pending(Plan(number: "p\(add(&rows).count)"))
        }
    }
}

extension Begun {
    fileprivate var word: String {
        switch self {
        case .started(let plan): "started \(plan)"
        case .resumed(let plan): "resumed \(plan)"
        case .answered(let reply): "answered \(reply)"
        }
    }
}

@Suite struct AnswersTests {
    @Test(
        "a repeat gets the first answer; another key, scope or method decides anew",
        arguments: Driver.allCases)
    func repeats(_ driver: Driver) async throws {
        let desk = try Desk(driver)
        let answers = desk.answers()
        #expect(try await answers.addOnce(key()) == Reply(count: 1))
        #expect(try await answers.addOnce(key()) == Reply(count: 1))
        #expect(try await answers.addOnce(key("l")) == Reply(count: 2))
        #expect(try await answers.addOnce(key(scope: "b")) == Reply(count: 3))
        #expect(try await answers.addOnce(key()) == Reply(count: 1))
        #expect(try await desk.count() == 3)
    }

    @Test("scope, method and key cannot run into each other")
    func keysStayApart() async throws {
        let answers = try Desk().answers()
        #expect(try await answers.addOnce(key("c", scope: "a\u{0}b")) == Reply(count: 1))
        #expect(try await answers.addOnce(key("b\u{0}c", scope: "a")) == Reply(count: 2))
    }

    @Test("the same key with another body is a conflict and changes nothing")
    func conflict() async throws {
        let desk = try Desk()
        _ = try await desk.answers().addOnce(key())
        let failure = await #expect(throws: ServiceFailure.self) {
            try await desk.answers().addOnce(key(body: "other"))
        }
        #expect(failure?.code == .conflict)
        #expect(try await desk.count() == 1)
    }

    @Test("parallel deliveries of one request decide once", arguments: Driver.allCases)
    func parallelRepeats(_ driver: Driver) async throws {
        let desk = try Desk(driver)
        let answers = desk.answers()
        let replies = try await withThrowingTaskGroup { group in
            for _ in 0..<40 { group.addTask { try await answers.addOnce(key()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.allSatisfy { $0 == Reply(count: 1) })
        #expect(try await desk.count() == 1)
    }

    @Test("a refusal is an answer under a chosen key, and takes its writes back")
    func refusedChosen() async throws {
        let desk = try Desk()
        let answers = desk.answers()
        for _ in 0..<2 {
            await #expect(throws: refused) {
                try await answers.once(key()) { rows throws(ServiceFailure) -> Reply in
                    _ = add(&rows)
                    throw refused
                }
            }
        }
        #expect(try await desk.count() == 0)
        await #expect(throws: refused) { try await answers.addOnce(key()) }
    }

    @Test("a refusal under the bus's own request id is not kept")
    func refusedImplicit() async throws {
        let answers = try Desk().answers()
        await #expect(throws: refused) {
            try await answers.once(key(chosen: false)) { _ throws(ServiceFailure) -> Reply in
                throw refused
            }
        }
        #expect(try await answers.addOnce(key(chosen: false)) == Reply(count: 1))
    }

    @Test(
        "a failure that only says not now is never kept",
        arguments: [ErrorCode.internalFault, .unavailable, .overloaded, .deadlinePassed])
    func passingFailure(_ code: ErrorCode) async throws {
        let answers = try Desk().answers()
        await #expect(throws: ServiceFailure.self) {
            try await answers.once(key()) { _ throws(ServiceFailure) -> Reply in
                throw ServiceFailure(code, "not now")
            }
        }
        #expect(try await answers.addOnce(key()) == Reply(count: 1))
    }

    @Test("an implicit key is new again after 10 minutes, a chosen one after 24 hours")
    func expiry() async throws {
        let desk = try Desk()
        let answers = desk.answers()
        _ = try await answers.addOnce(key("chosen"))
        _ = try await answers.addOnce(key("implicit", chosen: false))
        desk.clock.advance(.seconds(599))
        #expect(try await answers.addOnce(key("implicit", chosen: false)) == Reply(count: 2))
        desk.clock.advance(.seconds(1))
        #expect(try await answers.addOnce(key("implicit", chosen: false)) == Reply(count: 3))
        desk.clock.advance(.seconds(24 * 3600 - 601))
        #expect(try await answers.addOnce(key("chosen")) == Reply(count: 1))
        desk.clock.advance(.seconds(1))
        #expect(try await answers.addOnce(key("chosen")) == Reply(count: 4))
        desk.clock.advance(.seconds(24 * 3600))
        #expect(try await desk.store.sweep(now: desk.clock.now(), limit: 10) == 2)
    }

    @Test(
        "a pending write is resumed with the same plan, and answered after its end",
        arguments: Driver.allCases)
    func pending(_ driver: Driver) async throws {
        let desk = try Desk(driver)
        let answers = desk.answers()
        #expect(try await answers.addLater(key()).word == "started Plan(number: \"p1\")")
        #expect(try await answers.addLater(key()).word == "resumed Plan(number: \"p1\")")
        let end = try await answers.finish(key()) { rows throws(ServiceFailure) in add(&rows) }
        #expect(end == Reply(count: 2))
        // The second finisher's decision does not run.
        let again = try await answers.finish(key()) { rows throws(ServiceFailure) in add(&rows) }
        #expect(again == Reply(count: 2))
        #expect(try await answers.addLater(key()).word == "answered Reply(count: 2)")
        #expect(try await desk.count() == 2)
    }

    @Test("a refused end is final for every finisher; a passing one leaves the write pending")
    func refusedEnd() async throws {
        let desk = try Desk()
        let answers = desk.answers()
        _ = try await answers.addLater(key(chosen: false))
        await #expect(throws: ServiceFailure.self) {
            try await answers.finish(key(chosen: false)) { _ throws(ServiceFailure) -> Reply in
                throw ServiceFailure(.unavailable, "not now")
            }
        }
        #expect(try await answers.addLater(key(chosen: false)).word.hasPrefix("resumed"))
        for _ in 0..<2 {
            await #expect(throws: refused) {
                try await answers.finish(key(chosen: false)) {
                    rows throws(ServiceFailure) -> Reply in
                    _ = add(&rows)
                    throw refused
                }
            }
        }
        await #expect(throws: refused) { try await answers.addLater(key(chosen: false)) }
        #expect(try await desk.count() == 1)
    }

    @Test("an end without a beginning is a fault of ours and writes nothing")
    func endWithoutBeginning() async throws {
        let desk = try Desk()
        let failure = await #expect(throws: ServiceFailure.self) {
            try await desk.answers().finish(key()) { rows throws(ServiceFailure) in add(&rows) }
        }
        #expect(failure?.code == .internalFault)
        #expect(try await desk.count() == 0)
    }

    @Test(
        "a sweep gets an abandoned write after 5 s, one sweeper at a time, and can end it",
        arguments: Driver.allCases)
    func resumeBySweep(_ driver: Driver) async throws {
        let desk = try Desk(driver)
        let answers = desk.answers()
        _ = try await answers.addLater(key(scope: "integrator/a", chosen: false))
        desk.clock.advance(.milliseconds(4_999))
        #expect(try await answers.pending(Plan.self, method: "item.add", limit: 10).isEmpty)
        desk.clock.advance(.milliseconds(1))
        #expect(try await answers.pending(Plan.self, method: "item.other", limit: 10).isEmpty)
        let found = try await answers.pending(Plan.self, method: "item.add", limit: 10)
        let open = try #require(found.first)
        #expect(found.count == 1 && open.plan == Plan(number: "p1"))
        #expect(open.key.scope == "integrator/a" && open.key.key == "k")
        #expect(open.key.method == "item.add" && !open.key.isChosenByCaller)
        #expect(try await answers.pending(Plan.self, method: "item.add", limit: 10).isEmpty)
        desk.clock.advance(.seconds(5))
        #expect(try await answers.pending(Plan.self, method: "item.add", limit: 10).count == 1)

        let end = try await answers.finish(open.key) { rows throws(ServiceFailure) in add(&rows) }
        #expect(end == Reply(count: 2))
        // The caller's own retry still proves its body.
        let replay = try await answers.addLater(key(scope: "integrator/a", chosen: false))
        #expect(replay.word == "answered Reply(count: 2)")
        desk.clock.advance(.seconds(5))
        #expect(try await answers.pending(Plan.self, method: "item.add", limit: 10).isEmpty)
    }

    @Test("a rotated key loses no replay, no pending write and no conflict")
    func rotation() async throws {
        let desk = try Desk()
        let before = desk.answers()
        _ = try await before.addOnce(key("old"))
        _ = try await before.addLater(key("open"))
        let both = desk.answers(FakeCryptography(currentVersion: 2, versions: [1, 2]))
        #expect(try await both.addOnce(key("old")) == Reply(count: 1))
        #expect(try await both.addLater(key("open")).word == "resumed Plan(number: \"p2\")")
        let end = try await both.finish(key("open")) { rows throws(ServiceFailure) in add(&rows) }
        #expect(end == Reply(count: 3))
        let failure = await #expect(throws: ServiceFailure.self) {
            try await both.addOnce(key("old", body: "other"))
        }
        #expect(failure?.code == .conflict)
        // One that already holds the new key, but still makes values with the old, finds new rows too.
        _ = try await both.addOnce(key("new"))
        let slow = desk.answers(FakeCryptography(currentVersion: 1, versions: [1, 2]))
        #expect(try await slow.addOnce(key("new")) == Reply(count: 4))
        #expect(try await desk.count() == 4)
    }

    @Test("a commit whose answer got lost is answered by the retry, once")
    func unknownOutcome() async throws {
        let faults = Lock([StoreFault.beforeCommit, .afterCommit])
        let weather = StoreWeather.faulty {
            faults.withLock { $0.isEmpty ? .none : $0.removeFirst() }
        }
        let desk = try Desk(.memory, weather)
        for _ in 0..<2 {
            let failure = await #expect(throws: ServiceFailure.self) {
                try await desk.answers().addOnce(key())
            }
            #expect(failure?.code == .unavailable)
        }
        #expect(try await desk.answers().addOnce(key()) == Reply(count: 1))
        #expect(try await desk.count() == 1)
    }

    @Test("nothing readable of key, body, plan or reply lies in the table")
    func sealedAtRest() async throws {
        let desk = try Desk()
        let answers = desk.answers()
        _ = try await answers.once(key("KEY-1", body: "BODY-1", scope: "SCOPE-1")) {
            _ throws(ServiceFailure) in "REPLY-1"
        }
        let _: Begun<String, String> = try await answers.begin(
            key("KEY-2", body: "BODY-2", scope: "SCOPE-2")
        ) { _ throws(ServiceFailure) in .pending("PLAN-2") }
        let dump = desk.place.disk.dump("answer")
            .map { $0.key + String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(desk.place.disk.count(in: "answer") == 2)
        for word in ["KEY", "BODY", "SCOPE", "REPLY", "PLAN"] { #expect(!dump.contains(word)) }
    }
}
