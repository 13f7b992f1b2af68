import Bus
import Effects
import Messages
import Primitives
import SMSCodeService
import ServiceTestKit
import TestKit
import Testing

@Suite("up-going texts", .closesBuses)
struct UpgoingTests {
    private func open(
        _ world: World, number: String? = nil, excluded: String? = nil
    ) async throws(ServiceFailure) -> OpenedUpgoing {
        try await world.shop.call(
            OpenUpgoing(
                schemeCode: World.schemeCode, purpose: "login", number: number,
                excludedNumber: excluded))
    }

    private func receive(
        _ world: World, _ text: String, from sender: String = World.number, id: String,
        at: Int64? = nil
    ) async throws(ServiceFailure) -> ReceivedSMS {
        try await world.gateway.call(
            ReceiveSMS(
                messageId: id, sender: sender, receiver: "10690001", text: text,
                sentAtMilliseconds: at))
    }

    private func check(
        _ world: World, _ id: UpgoingID, key: String? = nil
    ) async throws(ServiceFailure) -> CheckedUpgoing {
        try await world.shop.call(CheckUpgoing(upgoingId: id), CallOptions(requestKey: key))
    }

    @Test(
        "not received is not final; received is used up under its key",
        arguments: TransportUnderTest.allCases)
    func slice(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let opened = try await open(world)
            #expect(opened.receivingNumber == "10690001" && opened.text.count == 9)
            #expect(try await check(world, opened.upgoingId, key: "v").result == .notReceived)
            let spoilt = " " + opened.text.lowercased().replacing(" ", with: "-") + "\n"
            let received = try await receive(world, spoilt, id: "m1")
            #expect(received.matched && !received.repeated)
            let checked = try await check(world, opened.upgoingId, key: "v")
            #expect(checked.result == .received && checked.number?.e164 == World.number)
            #expect(try await check(world, opened.upgoingId, key: "v") == checked)
            #expect(try await check(world, opened.upgoingId, key: "w").result == .alreadyUsed)
        }
    }

    @Test(
        "F151 F152 F154 repeats by id, and by sender, text and time, are one message",
        arguments: TransportUnderTest.allCases)
    func repeats(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let opened = try await open(world)
            let now = world.clock.now().millisecondsSince1970
            #expect(try await receive(world, opened.text, id: "m1", at: now).matched)
            let sameID = try await receive(world, opened.text, id: "m1", at: now + 9_000)
            #expect(sameID.repeated && sameID.matched)
            let otherID = try await receive(world, opened.text, id: "m2", at: now + 2_000)
            #expect(otherID.repeated && otherID.matched)
            let earlier = try await receive(world, opened.text, id: "m3", at: now - 2_000)
            #expect(earlier.repeated)
            let later = try await receive(world, opened.text, id: "m4", at: now + 2_001)
            #expect(!later.repeated && !later.matched)
        }
    }

    @Test(
        "only the expected sender counts, the excluded one does not",
        arguments: TransportUnderTest.allCases)
    func senders(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let expected = try await open(world, number: World.number)
            #expect(
                try await receive(world, expected.text, from: "+14155550009", id: "m1").matched
                    == false)
            #expect(try await check(world, expected.upgoingId).result == .senderMismatch)
            #expect(try await receive(world, expected.text, id: "m2").matched)
            #expect(try await check(world, expected.upgoingId).result == .received)
            let excluded = try await open(world, excluded: World.number)
            #expect(try await receive(world, excluded.text, id: "m3").matched == false)
            #expect(
                try await receive(world, excluded.text, from: "+14155550009", id: "m4").matched)
        }
    }

    @Test(
        "F149 an inbound text lost before its commit is taken when the carrier sends it again",
        arguments: TransportUnderTest.allCases)
    func durable(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let opened = Lock<OpenedUpgoing?>(nil)
        try await world.serving(world.makeService(), host: "first") { world in
            let answer = try await open(world)
            opened.withLock { $0 = answer }
        }
        world.bus.crash(host: "first")
        let known = opened.withLock { $0 }
        let text = try #require(known)
        try await world.serving(world.makeService(), host: "second") { world in
            let received = try await receive(world, text.text, id: "m1")
            #expect(received.matched)
        }
        world.bus.crash(host: "second")
        try await world.serving(world.makeService(), host: "third") { world in
            let checked = try await check(world, text.upgoingId)
            #expect(checked.result == .received)
        }
    }

    @Test(
        "after ten minutes nothing is taken, neither from the carrier nor to be used up",
        arguments: TransportUnderTest.allCases)
    func expiry(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let first = try await open(world)
            let second = try await open(world)
            #expect(try await receive(world, second.text, id: "m1").matched)
            world.clock.advance(.seconds(600))
            #expect(try await receive(world, first.text, id: "m2").matched == false)
            #expect(try await check(world, first.upgoingId).result == .expired)
            #expect(try await check(world, second.upgoingId).result == .expired)
        }
    }

    @Test(
        "texts of a run are for services; five may wait; without a receiving number there is none",
        arguments: TransportUnderTest.allCases)
    func rights(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let run: RunID = world.random.identifier()
            let ofRun = OpenUpgoing(
                schemeCode: World.schemeCode, purpose: "scene:100001", runId: run)
            let opened = try await world.scene.call(ofRun)
            let belongs = await failure { () async throws(ServiceFailure) in
                try await world.gateway.call(CheckUpgoing(upgoingId: opened.upgoingId))
            }
            #expect(belongs.code == .belongsToRun)
            for _ in 0..<4 { _ = try await world.scene.call(ofRun) }
            let tooMany = await failure { () async throws(ServiceFailure) in
                try await world.scene.call(ofRun)
            }
            #expect(tooMany.code == .tooMany)
            world.clock.advance(.seconds(600))
            _ = try await world.scene.call(ofRun)
            let unknown = await failure { () async throws(ServiceFailure) in
                try await check(world, world.random.identifier())
            }
            #expect(unknown.code == .upgoingNotFound)
        }
        let bare = World(transport)
        try await bare.serving(bare.makeService { $0.receivingNumbers = [] }) { world in
            let none = await failure { () async throws(ServiceFailure) in try await open(world) }
            #expect(none.code == .providerUnavailable)
        }
    }

    @Test(
        "of parallel checks under different keys exactly one gets the number",
        arguments: TransportUnderTest.allCases)
    func race(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let opened = try await open(world)
            _ = try await receive(world, opened.text, id: "m1")
            let results = await withTaskGroup { group in
                for index in 0..<16 {
                    group.addTask {
                        try? await check(world, opened.upgoingId, key: "k\(index)").result
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == .received } == 1)
            #expect(results.count { $0 == .alreadyUsed } == 15)
        }
    }
}
