import Effects
import Primitives
import Storage
import TestKit
import Testing

/// What only the driver of tests and simulations promises: its faults and its time.
@Suite struct MemoryStoreTests {
    @Test("a fault before the commit writes nothing; one after it writes all and does not say so")
    func faults() async throws {
        let faults = Lock([StoreFault.beforeCommit, .afterCommit])
        let place = try StoreUnderTest(.memory)
        let store = try place.open(
            .faulty { faults.withLock { $0.isEmpty ? .none : $0.removeFirst() } })
        for expected in [0, 1] {
            let failure = await #expect(throws: ServiceFailure.self) {
                try await store.increment("n")
            }
            #expect(failure?.code == .unavailable)
            #expect(place.disk.count(in: "item") == expected)
        }
        #expect(try await store.increment("n") == 2)
    }

    @Test("a decision takes its time before it decides and before it answers")
    func time() async throws {
        let clock = ManualClock()
        let place = try StoreUnderTest(.memory)
        let store = try place.open(
            StoreWeather(
                pause: clock, timeBefore: { .milliseconds(3) }, timeAfter: { .milliseconds(4) }))
        async let count = store.increment("n")
        try await clock.untilSleepers(1)
        #expect(place.disk.count(in: "item") == 0)
        clock.advance(.milliseconds(3))
        try await clock.untilSleepers(1)
        #expect(place.disk.count(in: "item") == 1)
        clock.advance(.milliseconds(4))
        #expect(try await count == 1)
    }

    @Test("a crash keeps exactly what was committed, and answers nobody")
    func crash() async throws {
        let clock = ManualClock()
        let place = try StoreUnderTest(.memory)
        let spans = Lock([Duration.milliseconds(9), .milliseconds(1)])
        let store = MemoryStore(
            tables: place.schemas, disk: place.disk,
            weather: StoreWeather(
                pause: clock, timeBefore: { spans.withLock { $0.removeFirst() } },
                timeAfter: { .milliseconds(5) }))
        async let late = code { _ = try await store.increment("late") }
        try await clock.untilSleepers(1)
        async let early = code { _ = try await store.increment("early") }
        try await clock.untilSleepers(2)
        clock.advance(.milliseconds(1))
        // `late` before its decision, `early` between its commit and its answer.
        while place.disk.count(in: "item") == 0 { await Task.yield() }
        try await clock.untilSleepers(2)
        store.crash()
        clock.advance(.milliseconds(20))
        #expect(await [late, early] == ["unavailable", "unavailable"])
        let again = try place.open()
        #expect(try await again.item("late") == nil)
        #expect(try await again.item("early")?.count == 1)
    }
}

extension ManualClock {
    fileprivate func untilSleepers(_ count: Int) async throws {
        while sleepersCount != count { await Task.yield() }
    }
}
