import Bus
import Effects
import Messages
import Primitives
import SMSCodeService
import ServiceTestKit
import TestKit
import Testing

@Suite("guesses of runs", .closesBuses)
struct RunGuessTests {
    private struct Run: Sendable {
        let id: RunID
        let challenge: ChallengeID
        let code: String
    }

    private func start(
        _ world: World, _ number: String = World.number, purpose: String = "scene:100001"
    ) async throws -> Run {
        let id: RunID = world.random.identifier()
        let sent = try await world.scene.call(
            SendCode(
                schemeCode: World.schemeCode, purpose: purpose, number: number,
                origin: SendOrigin(runId: id, templateId: "100001")))
        return Run(
            id: id, challenge: try #require(sent.challengeId),
            code: world.provider.code(for: number))
    }

    private func attach(
        _ world: World, _ run: Run, _ code: String
    ) async throws(ServiceFailure) -> GuessID {
        try await world.scene.call(
            AttachGuess(challengeId: run.challenge, runId: run.id, code: code)
        ).guessId
    }

    private func redeem(
        _ world: World, _ guess: GuessID, key: String
    ) async throws(ServiceFailure) -> RedeemedGuess {
        try await world.caller(.service, "verification").call(
            RedeemGuess(guessId: guess), CallOptions(requestKey: key))
    }

    @Test(
        "a right guess redeems once; its own key repeats the answer, another is told it is used",
        arguments: TransportUnderTest.allCases)
    func redeems(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let run = try await start(world)
            let guess = try await attach(world, run, run.code)
            let first = try await redeem(world, guess, key: "vrf_1")
            #expect(first.result == .accepted && first.number.e164 == World.number)
            #expect(first.runId == run.id && first.purpose == "scene:100001")
            #expect(try await redeem(world, guess, key: "vrf_1") == first)
            #expect(try await redeem(world, guess, key: "vrf_2").result == .alreadyUsed)
        }
    }

    @Test(
        "attaching counts nothing; at most five guesses wait for one challenge",
        arguments: TransportUnderTest.allCases)
    func attaching(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let run = try await start(world)
            var guesses: [GuessID] = []
            for step in 1...5 {
                guesses.append(try await attach(world, run, world.wrong(run.code, step)))
            }
            let refused = await failure { () async throws(ServiceFailure) in
                try await attach(world, run, run.code)
            }
            #expect(refused.code == .tooMany)
            #expect(try await redeem(world, guesses[0], key: "v0").attemptsLeft == 4)
            let right = try await attach(world, run, run.code)
            #expect(try await redeem(world, right, key: "v1").result == .accepted)
            #expect(try await redeem(world, guesses[1], key: "v2").result == .alreadyUsed)
        }
    }

    @Test(
        "redeemed wrong guesses and checked ones share one limit; then the right one is exhausted",
        arguments: TransportUnderTest.allCases)
    func exhaustion(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let run = try await start(world, purpose: "scene:100001")
            for step in 1...3 {
                let guess = try await attach(world, run, world.wrong(run.code, step))
                #expect(try await redeem(world, guess, key: "v\(step)").result == .rejected)
            }
            // The same purpose outside runs, as a service asks.
            for step in 1...2 {
                let checked = try await world.scene.call(
                    CheckCode(
                        schemeCode: World.schemeCode, purpose: "scene:100001",
                        number: World.number, code: world.wrong(run.code, step)))
                #expect(checked.result == .rejected)
            }
            let right = try await attach(world, run, run.code)
            #expect(try await redeem(world, right, key: "v9").result == .exhausted)
        }
    }

    @Test(
        "rule 2: of parallel redemptions exactly five wrong ones are evaluated",
        arguments: TransportUnderTest.allCases)
    func race(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            var guesses: [GuessID] = []
            for index in 0..<4 {
                let run = try await start(world)
                for step in 1...5 {
                    guesses.append(
                        try await attach(world, run, world.wrong(run.code, (step + index) % 9 + 1)))
                }
                world.clock.advance(.seconds(60))
            }
            let results = await withTaskGroup { [guesses] group in
                for (index, guess) in guesses.enumerated() {
                    group.addTask { try? await redeem(world, guess, key: "v\(index)").result }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count { $0 == .rejected } == 5)
            #expect(results.count { $0 == .exhausted } == 15)
        }
    }

    @Test(
        "another run never kills a live code, and its code is not good here",
        arguments: TransportUnderTest.allCases)
    func runs(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let first = try await start(world)
            world.clock.advance(.seconds(60))
            let second = try await start(world)
            #expect(first.challenge != second.challenge)
            let crossed = try await attach(world, first, second.code)
            #expect(try await redeem(world, crossed, key: "v1").result == .rejected)
            let right = try await attach(world, first, first.code)
            #expect(try await redeem(world, right, key: "v2").result == .accepted)
            let other = try await attach(world, second, second.code)
            #expect(try await redeem(world, other, key: "v3").result == .accepted)
        }
    }

    @Test(
        "expired and cancelled challenges say so, uncounted; foreign runs find nothing",
        arguments: TransportUnderTest.allCases)
    func ends(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let run = try await start(world)
            let late = try await attach(world, run, run.code)
            let stranger = Run(
                id: world.random.identifier(), challenge: run.challenge, code: run.code)
            let refused = await failure { () async throws(ServiceFailure) in
                try await attach(world, stranger, run.code)
            }
            #expect(refused.code == .challengeNotFound)
            let malformed = await failure { () async throws(ServiceFailure) in
                try await attach(world, run, "+12345")
            }
            #expect(malformed.code == .invalidParameters)
            world.clock.advance(.seconds(300))
            #expect(try await redeem(world, late, key: "v1").result == .expired)
            let unknown = await failure { () async throws(ServiceFailure) in
                try await redeem(world, world.random.identifier(), key: "v2")
            }
            #expect(unknown.code == .guessNotFound)
            let next = try await start(world)
            let cancelled = try await attach(world, next, next.code)
            _ = try await world.scene.call(CancelCode(challengeId: next.challenge))
            #expect(try await redeem(world, cancelled, key: "v3").result == .cancelled)
        }
    }
}
