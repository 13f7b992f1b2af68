import Bus
import Messages
import Primitives
import SceneService
import ServiceTestKit
import Storage
import TestKit
import Testing

/// Crashes, restarts, neighbours that are away.
@Suite(.closesBuses) struct RecoveryTests {
    static let phone = "+8613800000001"

    @Test(
        "a restart in the middle goes on where the run stood",
        arguments: TransportUnderTest.allCases)
    func restart(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let app = try world.client()
        try await world.serving {
            try await app.start("100001")
            try await app.submit(NodeInput(otherLogin: true))
            try await app.send(Self.phone)
        }
        try await world.serving(world.service(seed: 9)) {
            let won = try await app.code(world.neighbours.lastCode)
            world.neighbours.verify(won.maskToken)
            #expect(try await app.proceed(true).state == .passed)
        }
    }

    @Test(
        "a mask token whose last transaction failed comes with the retry, and only once",
        arguments: TransportUnderTest.allCases)
    func crashBeforeLast(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let app = try world.client()
        try await world.serving {
            try await app.start("100001")
            try await app.submit(NodeInput(otherLogin: true))
            try await app.send(Self.phone)
        }
        let code = world.neighbours.lastCode
        for (seed, fault) in [(20, StoreFault.beforeCommit), (30, .afterCommit)] {
            // Reading the run's facts, begin, finish: the third decision fails.
            let count = Lock(0)
            let weather = StoreWeather.faulty {
                count.withLock { count in
                    count += 1
                    return count == 3 ? fault : .none
                }
            }
            let key = "code-\(fault)"
            let openedBefore = world.neighbours.opened.count
            try await world.serving(world.service(seed: UInt64(seed), weather: weather)) {
                let lost = await failure { () async throws(ServiceFailure) in
                    try await app.code(code, key: key)
                }
                #expect(lost?.code == .unavailable)
            }
            try await world.serving(world.service(seed: UInt64(seed) + 1)) {
                let first = try await app.code(code, key: key)
                let second = try await app.code(code, key: key)
                #expect(first.resultCodes == [500_013])
                #expect(first.maskToken != nil)
                #expect(first.maskToken?.reveal() == second.maskToken?.reveal())
                #expect(world.neighbours.opened.count == openedBefore + 1)
            }
        }
    }

    @Test(
        "a send whose answer was lost is found again by the next press, without a second SMS",
        arguments: TransportUnderTest.allCases)
    func lostSend(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            try await app.submit(NodeInput(otherLogin: true))
            world.neighbours.loseAnswer(of: "smscode.send")
            let lost = await failure { () async throws(ServiceFailure) in
                try await app.send(Self.phone)
            }
            #expect(lost?.code == .workerLost)
            let again = try await app.send(Self.phone)
            #expect(again.resultCodes == [500_007])
            #expect(world.neighbours.sentNumbers == [Self.phone])
            let won = try await app.code(world.neighbours.lastCode)
            #expect(world.neighbours.verify(won.maskToken))
        }
    }

    @Test(
        "an open request that nobody repeats is carried on by the sweep after 5 seconds",
        arguments: TransportUnderTest.allCases)
    func resumed(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let service = world.service()
        try await world.serving(service) {
            let app = try world.client()
            try await app.start("100001")
            try await app.submit(NodeInput(otherLogin: true))
            world.neighbours.down("smscode.send")
            _ = await failure { () async throws(ServiceFailure) in
                try await app.send(Self.phone, key: "k")
            }
            world.neighbours.up()
            world.clock.advance(.seconds(4))
            await service.sweep()
            #expect(world.neighbours.sentNumbers.isEmpty)
            world.clock.advance(.seconds(1))
            await service.sweep()
            #expect(world.neighbours.sentNumbers == [Self.phone])
            // The late retry gets what the sweep settled.
            #expect(try await app.send(Self.phone, key: "k").resultCodes == [500_007])
            #expect(world.neighbours.sentNumbers == [Self.phone])
        }
    }

    @Test(
        "an open request whose callee stays away is given up with a reason",
        arguments: TransportUnderTest.allCases)
    func givenUp(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let service = world.service()
        try await world.serving(service) {
            let app = try world.client()
            try await app.start("100001")
            try await app.submit(NodeInput(otherLogin: true))
            world.neighbours.down("smscode.send")
            _ = await failure { () async throws(ServiceFailure) in
                try await app.send(Self.phone, key: "k")
            }
            world.clock.advance(.seconds(121))
            await service.sweep()
            let view = try await app.send(Self.phone, key: "k")
            #expect(view.resultCodes == [500_008])
            #expect(view.reason == "unavailable")
            // What it had counted is given back: the next press is not too frequent.
            world.neighbours.up()
            #expect(try await app.send(Self.phone).resultCodes == [500_007])
        }
    }

    @Test(
        "F109 a refusal of the provider reaches the client, and costs no attempt",
        arguments: TransportUnderTest.allCases)
    func refusedSend(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            try await app.submit(NodeInput(otherLogin: true))
            world.neighbours.refuse(
                "smscode.send", ServiceFailure(.providerRefused, "the provider said no"))
            let view = try await app.send(Self.phone)
            #expect(view.resultCodes == [500_008])
            #expect(view.reason == "provider_refused")
            #expect(view.node?.nodeId.hasSuffix("005") == true)
            world.neighbours.refuse("smscode.send", nil)
            #expect(try await app.send(Self.phone).resultCodes == [500_007])
        }
    }

    @Test(
        "F047 a resend that comes too early tells the wait and leaves the live code alone",
        arguments: TransportUnderTest.allCases)
    func earlyResend(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100005")
            try await app.send()
            let code = world.neighbours.lastCode
            world.clock.advance(.seconds(5))
            world.neighbours.refuse(
                "smscode.send",
                ServiceFailure(.cooldown, "too early", retryAfterMilliseconds: 55_000))
            let view = try await app.send()
            #expect(view.resultCodes == [500_009])
            #expect(view.reason == "cooldown")
            let wait =
                (view.node?.resendAtMilliseconds ?? 0) - world.clock.now().millisecondsSince1970
            #expect(wait == 55_000)
            let won = try await app.code(code)
            #expect(world.neighbours.verify(won.maskToken))
        }
    }

    @Test(
        "no receiving number: the up-going node is unusable and the run fails with a reason",
        arguments: TransportUnderTest.allCases)
    func noUpgoing(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100005")
            world.neighbours.refuse(
                "upgoing.open", ServiceFailure(.providerUnavailable, "no receiving number"))
            let end = try await app.proceed(false)
            #expect(end.state == .failed)
            #expect(end.endCode == 200_001)
            #expect(end.reason == "provider_unavailable")
        }
    }

    @Test(
        "the up-going service away: the move is refused, the run stays, a retry moves it",
        arguments: TransportUnderTest.allCases)
    func upgoingAway(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100005")
            let step = app.step
            world.neighbours.down("upgoing.open")
            let away = await failure { () async throws(ServiceFailure) in
                try await app.proceed(false, key: "c")
            }
            #expect(away?.code == .unavailable)
            #expect(try await app.get().step == step)
            world.neighbours.up()
            let view = try await app.proceed(false, key: "c")
            #expect(view.node?.upgoing != nil)
        }
    }
}
