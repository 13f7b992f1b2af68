import Effects
import Messages
import Primitives
import SceneService
import ServiceTestKit
import Storage
import TestKit
import Testing

/// Every graph from its beginning to an end, over the bus.
@Suite(.closesBuses) struct GraphTests {
    static let phone = "+8613800000001"
    static let newPhone = "+8613800000002"

    @Test(
        "100001 by SMS code: safe device, other login, code, PASS, end 110005",
        arguments: TransportUnderTest.allCases)
    func loginByCode(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            let start = try await app.start("100001")
            #expect(start.resultCodes == [700_001])
            #expect(start.node?.kind == .numberAuth)
            #expect(start.node?.nodeName == "numberAuth")
            #expect(start.runKey != nil)
            try await app.submit(NodeInput(otherLogin: true))
            #expect(app.at == "005")
            #expect(app.view?.node?.numberInput == .typed)
            #expect(app.view?.node?.codeLength == 6)
            let sent = try await app.send(Self.phone)
            #expect(sent.resultCodes == [500_007])
            #expect(sent.node?.resendAtMilliseconds != nil)
            let won = try await app.code(world.neighbours.lastCode)
            #expect(won.resultCodes == [500_013])
            #expect(won.maskToken != nil)
            #expect(won.step == sent.step)
            #expect(world.neighbours.verify(won.maskToken))
            let end = try await app.proceed(true)
            #expect(end.state == .passed)
            #expect(end.endCode == 110_005)
            #expect(end.node == nil)
            #expect(app.codes == [700_001, 500_007, 500_013, 110_005])
            let opened = try #require(world.neighbours.opened.first)
            #expect(opened.purpose == "scene:100001")
            #expect(opened.score == true)
            #expect(opened.expectedNumber?.e164 == Self.phone)
        }
    }

    @Test("100001 by the carrier: one click, PASS, end", arguments: TransportUnderTest.allCases)
    func oneClick(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let won = try await app.submit(NodeInput(carrierToken: Secret(Self.phone)))
            #expect(won.resultCodes == [400_006])
            #expect(world.neighbours.verify(won.maskToken))
            let end = try await app.proceed(true)
            #expect(end.state == .passed)
            #expect(world.neighbours.opened.first?.score == true)
        }
    }

    @Test(
        "100001 falls from carrier to SMS to up-going SMS, each by continue(false)",
        arguments: TransportUnderTest.allCases)
    func fallBacks(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let failed = try await app.submit(NodeInput(failed: 1_600_011))
            #expect(failed.resultCodes == [400_007])
            #expect(failed.reason == "inner_1600011")
            #expect(app.at == "004")
            try await app.proceed(false)
            #expect(app.at == "005")
            try await app.proceed(false)
            #expect(app.at == "007")
            #expect(app.view?.node?.upgoing?.text.hasPrefix("TEXT-") == true)
            #expect(app.view?.node?.upgoing?.receivingNumber == "106900000000")
            let won = try await app.submit(NodeInput(sent: true))
            #expect(won.resultCodes == [600_007])
            #expect(!world.neighbours.verify(won.maskToken))
            world.neighbours.arrive(from: Self.phone)
            #expect(world.neighbours.verify(won.maskToken))
            #expect(try await app.proceed(true).endCode == 110_005)
        }
    }

    @Test(
        "a failure edge that leads to END ends the run with 200001",
        arguments: TransportUnderTest.allCases)
    func failedEnd(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            for expected in ["005", "007", "-"] {
                try await app.proceed(false)
                #expect(app.at == expected)
            }
            #expect(app.view?.state == .failed)
            #expect(app.view?.endCode == 200_001)
            #expect(app.codes.last == 200_001)
        }
    }

    @Test(
        "F036 100002: half-way on the old number, then the new one; the old number is told",
        arguments: TransportUnderTest.allCases)
    func numberChange(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let service = world.service()
        try await world.serving(service) {
            let app = try world.client(bound: Self.phone)
            let start = try await app.start("100002")
            #expect(app.at == "003")
            #expect(start.node?.halfway == true)
            #expect(start.node?.numberInput == NumberInput.none)
            #expect(start.node?.maskedNumber == Neighbours.number(Self.phone).masked)
            try await app.send()
            let old = try await app.code(world.neighbours.lastCode)
            #expect(old.resultCodes == [500_013])
            let refused = await failure { () async throws(ServiceFailure) in
                try await app.halfway(true)
            }
            #expect(refused?.code == .passNotOnRecord)
            world.neighbours.verify(old.maskToken)
            let next = try await app.halfway(true)
            #expect(app.at == "004")
            #expect(next.node?.numberInput == .typed)
            let same = try await app.send(Self.phone)
            #expect(same.resultCodes == [500_008])
            #expect(same.reason == "number_unchanged")
            #expect(world.neighbours.sentNumbers == [Self.phone])
            try await app.send(Self.newPhone)
            let new = try await app.code(world.neighbours.lastCode)
            #expect(world.neighbours.opened.last?.excludedNumber?.e164 == Self.phone)
            world.neighbours.verify(new.maskToken)
            #expect(try await app.proceed(true).state == .passed)
        }
        await runOutbox(service, world)
        let notice = try #require(world.neighbours.notices.first)
        #expect(world.neighbours.notices.count == 1)
        #expect(notice.number.e164 == Self.phone)
        #expect(notice.kind == .numberChanged)
    }

    @Test(
        "F034 100002 with the old number proven only: continue does not pass",
        arguments: TransportUnderTest.allCases)
    func onlyOldNumber(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100002")
            try await app.send()
            world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken)
            try await app.halfway(true)
            let refused = await failure { () async throws(ServiceFailure) in
                try await app.proceed(true)
            }
            #expect(refused?.code == .passNotOnRecord)
            #expect(try await app.stop().state == .stopped)
            #expect(app.view?.endCode == 100_004)
            #expect(world.disk.count(in: "outbox") == 0)
        }
    }

    @Test("100003: the typed number must be the account's", arguments: TransportUnderTest.allCases)
    func passwordReset(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100003")
            #expect(app.at == "003")
            let wrong = try await app.send(Self.newPhone)
            #expect(wrong.resultCodes == [500_015])
            #expect(world.neighbours.sentNumbers.isEmpty)
            // The attempt was counted under the number that was typed.
            let again = try await app.send(Self.newPhone)
            #expect(again.resultCodes == [500_009])
            let right = try await app.send(Self.phone)
            #expect(right.resultCodes == [500_007])
            let won = try await app.code(world.neighbours.lastCode)
            #expect(won.resultCodes == [500_011])
            world.neighbours.verify(won.maskToken)
            #expect(try await app.proceed(true).endCode == 110_005)
            let sent = world.neighbours.bus.requests(SendCode.self)
            #expect(sent.first?.origin?.toBoundNumber == nil)
        }
    }

    @Test("100004: any number may be typed", arguments: TransportUnderTest.allCases)
    func newNumber(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100004")
            try await app.send(Self.newPhone)
            let won = try await app.code(world.neighbours.lastCode)
            #expect(won.resultCodes == [500_013])
            world.neighbours.verify(won.maskToken)
            #expect(try await app.proceed(true).state == .passed)
        }
    }

    @Test(
        "100005: the bound number replaces the client's word, and has a budget of its own",
        arguments: TransportUnderTest.allCases)
    func boundNumber(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100005")
            #expect(app.at == "002")
            try await app.send(Self.newPhone)
            #expect(world.neighbours.sentNumbers == [Self.phone])
            let sent = world.neighbours.bus.requests(SendCode.self)
            #expect(sent.first?.origin?.toBoundNumber == true)
            let won = try await app.code(world.neighbours.lastCode)
            world.neighbours.verify(won.maskToken)
            #expect(try await app.stop().state == .passed)
            #expect(app.view?.endCode == 110_005)
        }
    }

    @Test(
        "100005 without any number: a risky device leads to a node that nobody can use, 200001",
        arguments: TransportUnderTest.allCases)
    func upgoingWithoutNumber(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(device: nil)
            let start = try await app.start("100005")
            #expect(start.resultCodes == [700_004, 200_001])
            #expect(start.state == .failed)
            #expect(start.reason == "number_unknown")
            #expect(world.neighbours.upgoings.isEmpty)
        }
    }

    @Test(
        "100005 up-going: the sender must be the bound number, else the pre-filled node's",
        arguments: TransportUnderTest.allCases)
    func upgoingSender(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100005")
            try await app.proceed(false)
            #expect(app.at == "003")
            #expect(world.neighbours.upgoings.last?.number == Self.phone)
            let won = try await app.submit(NodeInput(sent: true))
            world.neighbours.arrive(from: Self.newPhone)
            #expect(!world.neighbours.verify(won.maskToken))
            let other = try world.client(device: "device-2")
            try await other.start("100005")
            try await other.send(Self.newPhone)
            try await other.proceed(false)
            #expect(world.neighbours.upgoings.last?.number == Self.newPhone)
        }
    }

    @Test(
        "100002 up-going: the old number before the half-way PASS, any other after it",
        arguments: TransportUnderTest.allCases)
    func upgoingAroundHalfway(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100002")
            try await app.proceed(false)
            #expect(world.neighbours.upgoings.last?.number == Self.phone)
            let other = try world.client(bound: Self.phone, device: "device-2")
            try await other.start("100002")
            try await other.send()
            world.neighbours.verify(try await other.code(world.neighbours.lastCode).maskToken)
            try await other.halfway(true)
            try await other.proceed(false)
            #expect(other.at == "005")
            #expect(world.neighbours.upgoings.last?.number == nil)
            #expect(world.neighbours.upgoings.last?.excludedNumber == Self.phone)
        }
    }

    /// One round of the loops that run beside the worker.
    private func runOutbox(_ service: SceneService, _ world: SceneWorld) async {
        await withTaskGroup { group in
            for part in service.parts() { group.addTask { try? await part.run() } }
            for _ in 0..<10_000 where world.neighbours.notices.isEmpty { await Task.yield() }
            group.cancelAll()
        }
    }
}
