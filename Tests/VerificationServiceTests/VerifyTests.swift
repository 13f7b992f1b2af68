import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import VerificationService

/// Over a bus, so that every message is encoded and decoded.
@Suite("verification.verify", .closesBuses)
struct VerifyTests {
    private let world = World()

    private func verify(
        _ token: Secret<String>, number: String? = nil, scheme: String? = nil
    ) -> VerifyMaskToken {
        VerifyMaskToken(maskToken: token, number: number, schemeCode: scheme)
    }

    @Test(
        "evidence of each kind gives PASS with the number", arguments: TransportUnderTest.allCases,
        EvidenceKind.allCases)
    func pass(_ transport: TransportUnderTest, kind: EvidenceKind) async throws {
        let evidence: [EvidenceKind: Evidence] = [
            .carrier: .carrier, .smsCode: .code, .upgoing: .upgoing,
        ]
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(try #require(evidence[kind])))
            #expect(opened.maskToken.reveal().hasPrefix("1."))
            let verified = try await callers.owner.call(
                verify(opened.maskToken, number: "138 0000 0001", scheme: World.schemeCode))
            #expect(
                verified
                    == Verified(
                        verificationId: opened.verificationId, result: .pass,
                        phoneNumber: World.number, schemeCode: World.schemeCode,
                        templateId: World.template, nodeId: World.node))
            let again = try await callers.owner.call(verify(opened.maskToken))
            #expect(again.result == .unknown && again.reason == .alreadyUsed)
            #expect(again.phoneNumber == nil)
        }
    }

    @Test(
        "nested calls bear the verification id, so that they may be repeated",
        arguments: TransportUnderTest.allCases)
    func nestedKeys(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            for evidence in [Evidence.code, .upgoing, .carrier] {
                let opened = try await callers.scene.call(world.open(evidence))
                _ = try await callers.owner.call(verify(opened.maskToken))
                switch evidence.kind {
                case .smsCode:
                    #expect(
                        world.bus.options(of: RedeemGuess.self).map(\.requestKey)
                            == [opened.verificationId.text])
                case .upgoing:
                    #expect(
                        world.bus.options(of: CheckUpgoing.self).map(\.requestKey)
                            == [opened.verificationId.text])
                case .carrier:
                    #expect(world.references.withLock(\.self) == [opened.verificationId.text])
                }
            }
        }
    }

    @Test(
        "a code that does not pass is a final UNKNOWN with its reason, asked for once",
        arguments: TransportUnderTest.allCases,
        [
            (CodeResult.rejected, VerificationReason.codeRejected), (.exhausted, .codeExhausted),
            (.expired, .codeExpired), (.superseded, .codeSuperseded),
            (.cancelled, .codeCancelled), (.alreadyUsed, .alreadyRedeemed),
            (.notFound, .codeExpired),
        ])
    func codeReasons(_ transport: TransportUnderTest, _ given: (CodeResult, VerificationReason))
        async throws
    {
        let (result, reason) = given
        world.codeAnswer.withLock { $0 = .sample(result, attemptsLeft: 3) }
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            for _ in 0..<3 {
                let verified = try await callers.owner.call(verify(opened.maskToken))
                #expect(verified.result == .unknown && verified.reason == reason)
                #expect(verified.attemptsLeft == 3)
            }
            #expect(world.bus.requests(RedeemGuess.self).count == 1)
        }
    }

    @Test(
        "a guess that is gone with its challenge has expired",
        arguments: TransportUnderTest.allCases)
    func guessGone(_ transport: TransportUnderTest) async throws {
        world.bus.on(RedeemGuess.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.guessNotFound, "there is no such guess")
        }
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            let verified = try await callers.owner.call(verify(opened.maskToken))
            #expect(verified.reason == .codeExpired)
        }
    }

    @Test(
        "an up-going text that does not pass is a final UNKNOWN",
        arguments: TransportUnderTest.allCases,
        [
            (UpgoingResult.expired, VerificationReason.upgoingExpired),
            (.senderMismatch, .senderMismatch), (.alreadyUsed, .alreadyRedeemed),
        ])
    func upgoingReasons(
        _ transport: TransportUnderTest, _ given: (UpgoingResult, VerificationReason)
    ) async throws {
        let (result, reason) = given
        world.upgoingAnswer.withLock { $0 = .sample(result, number: nil) }
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.upgoing))
            for _ in 0..<2 {
                let verified = try await callers.owner.call(verify(opened.maskToken))
                #expect(verified.result == .unknown && verified.reason == reason)
            }
            #expect(world.bus.requests(CheckUpgoing.self).count == 1)
        }
    }

    @Test(
        "a text that has not arrived leaves the token open; the same key keeps its answer",
        arguments: TransportUnderTest.allCases)
    func notReceived(_ transport: TransportUnderTest) async throws {
        world.upgoingAnswer.withLock { $0 = .sample(.notReceived, number: nil) }
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.upgoing))
            let keyed = CallOptions(requestKey: "k1")
            let early = try await callers.owner.call(verify(opened.maskToken), keyed)
            #expect(early.result == .unknown && early.reason == .notReceived)
            let status = try await callers.owner.call(
                GetVerificationStatus(verificationId: opened.verificationId))
            #expect(status.state == .open && status.reason == .notReceived)
            world.upgoingAnswer.withLock { $0 = .sample(.received) }
            #expect(try await callers.owner.call(verify(opened.maskToken), keyed) == early)
            let late = try await callers.owner.call(verify(opened.maskToken))
            #expect(late.result == .pass && late.phoneNumber == World.number)
        }
    }

    @Test(
        "an up-going sender other than the expected one does not count",
        arguments: TransportUnderTest.allCases)
    func senderMismatch(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(
                world.open(.upgoing, expected: World.otherNumber))
            let verified = try await callers.owner.call(verify(opened.maskToken))
            #expect(verified.result == .unknown && verified.reason == .senderMismatch)
        }
    }

    @Test(
        "F024 F031 F032 a code of another scheme, purpose, run or number does not count",
        arguments: TransportUnderTest.allCases)
    func bindingMismatch(_ transport: TransportUnderTest) async throws {
        let others: [RedeemedGuess] = [
            .sample(.accepted, scheme: World.otherSchemeCode),
            .sample(.accepted, purpose: "scene:100003"), .sample(.accepted, run: .sample(9)),
            .sample(.accepted, run: nil), .sample(.accepted, number: World.otherNumber),
        ]
        for (index, other) in others.enumerated() {
            let world = World()
            world.codeAnswer.withLock { $0 = other }
            try await world.serve(over: transport) { callers in
                let opened = try await callers.scene.call(
                    world.open(.code, expected: World.number))
                let verified = try await callers.owner.call(verify(opened.maskToken))
                #expect(
                    verified.result == .unknown && verified.reason == .bindingMismatch, "\(index)")
                #expect(verified.phoneNumber == nil)
            }
        }
    }

    @Test(
        "a carrier that is late or away leaves the token open, one that refuses does not",
        arguments: TransportUnderTest.allCases,
        [
            (ErrorCode.deadlinePassed, VerificationReason.carrierTimeout, true),
            (.carrierUnavailable, .carrierUnavailable, true),
            (.unavailable, .carrierUnavailable, true), (.workerLost, .carrierUnavailable, true),
            (.tokenInvalid, .carrierRefused, false), (.providerRefused, .carrierRefused, false),
        ])
    func carrierReasons(
        _ transport: TransportUnderTest, _ given: (ErrorCode, VerificationReason, Bool)
    ) async throws {
        let (code, reason, staysOpen) = given
        world.carrierAnswer.withLock { $0 = .failure(ServiceFailure(code, "as the test says")) }
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.carrier))
            let first = try await callers.owner.call(verify(opened.maskToken))
            #expect(first.result == .unknown && first.reason == reason)
            world.carrierAnswer.withLock { $0 = .success(World.number) }
            let second = try await callers.owner.call(verify(opened.maskToken))
            #expect(second.result == (staysOpen ? .pass : .unknown))
            let references = world.references.withLock(\.self)
            #expect(Set(references).count == 1, "the reference is one")
            #expect(references.count == (staysOpen ? 2 : 1))
        }
    }

    @Test(
        "the carrier's number is compared with the expected and the excluded one",
        arguments: TransportUnderTest.allCases)
    func carrierNumbers(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let bound = try await callers.scene.call(
                world.open(.carrier, expected: World.otherNumber))
            let mismatch = try await callers.owner.call(verify(bound.maskToken))
            #expect(mismatch.result == .unknown && mismatch.reason == .numberMismatch)
            let old = try await callers.scene.call(
                world.open(.carrier, excluded: World.number))
            let excluded = try await callers.owner.call(verify(old.maskToken))
            #expect(excluded.result == .unknown && excluded.reason == .numberMismatch)
        }
    }

    @Test(
        "another stated number is REJECT, and stays so for the right one",
        arguments: TransportUnderTest.allCases)
    func reject(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            let rejected = try await callers.owner.call(
                verify(opened.maskToken, number: World.otherNumber.e164))
            #expect(rejected.result == .reject && rejected.reason == .numberMismatch)
            #expect(rejected.phoneNumber == nil)
            let again = try await callers.owner.call(
                verify(opened.maskToken, number: World.number.e164))
            #expect(again.result == .reject)
            #expect(world.bus.requests(RedeemGuess.self).count == 1)
        }
    }

    @Test(
        "F017 a number that cannot be read is an error and uses nothing up",
        arguments: TransportUnderTest.allCases)
    func numberInvalid(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            let failure = await #expect(throws: ServiceFailure.self) {
                try await callers.owner.call(verify(opened.maskToken, number: "12"))
            }
            #expect(failure?.code == .numberInvalid && failure?.field == "number")
            let verified = try await callers.owner.call(verify(opened.maskToken))
            #expect(verified.result == .pass)
        }
    }

    @Test(
        "a token of somebody else, of no one, or of another scheme all look alike",
        arguments: TransportUnderTest.allCases)
    func invalid(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            let never = MaskToken(
                random: Array(repeating: 9, count: 32), digest: FakeCryptography(salt: 5))
            let answers = [
                try await callers.rival.call(verify(opened.maskToken)),
                try await callers.rival.call(verify(opened.maskToken, number: "12")),
                try await callers.rival.call(verify(never.text)),
                try await callers.rival.call(verify(Secret("1.short"))),
                try await callers.owner.call(
                    verify(opened.maskToken, scheme: World.otherSchemeCode)),
            ]
            for answer in answers {
                #expect(answer == Verified(result: .unknown, reason: .maskTokenInvalid))
            }
            #expect(world.bus.requests(RedeemGuess.self).isEmpty)
            #expect(try await callers.operator.call(verify(opened.maskToken)).result == .pass)
        }
    }

    @Test(
        "a token is refused from its expiry on, also when the wall clock jumps back",
        arguments: TransportUnderTest.allCases)
    func expired(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(
                world.open(.code, lifetime: .seconds(60)))
            world.clock.advance(.seconds(60))
            #expect(
                try await callers.owner.call(verify(opened.maskToken)).reason == .maskTokenExpired)
            let status = try await callers.owner.call(
                GetVerificationStatus(verificationId: opened.verificationId))
            #expect(status.state == .expired && status.reason == .maskTokenExpired)
            #expect(world.bus.requests(RedeemGuess.self).isEmpty)
        }
    }

    @Test(
        "a scheme that is switched off refuses within the cache time and uses nothing up",
        arguments: TransportUnderTest.allCases)
    func disabled(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let first = try await callers.scene.call(world.open(.carrier))
            let second = try await callers.scene.call(world.open(.carrier))
            #expect(try await callers.owner.call(verify(first.maskToken)).result == .pass)
            world.disabled.withLock { $0 = true }
            world.clock.advance(SchemeDirectory.freshFor)
            let refused = try await callers.owner.call(verify(second.maskToken))
            #expect(refused.result == .unknown && refused.reason == .schemeDisabled)
            world.disabled.withLock { $0 = false }
            world.clock.advance(SchemeDirectory.freshFor)
            #expect(try await callers.owner.call(verify(second.maskToken)).result == .pass)
        }
    }

    @Test(
        "while a service cannot be asked the answer is try_again and the token stays open",
        arguments: TransportUnderTest.allCases)
    func tryAgain(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            world.bus.on(RedeemGuess.self) { _, _ throws(ServiceFailure) in
                throw ServiceFailure(.unavailable, "nobody serves this at the moment")
            }
            let early = try await callers.owner.call(verify(opened.maskToken))
            #expect(early.result == .unknown && early.reason == .tryAgain)
            world.bus.on(RedeemGuess.self) { _, _ in .sample(.accepted) }
            #expect(try await callers.owner.call(verify(opened.maskToken)).result == .pass)
        }
        let away = World()
        away.bus.on(GetScheme.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.unavailable, "nobody serves this at the moment")
        }
        try await away.serve(over: transport) { callers in
            let opened = try await callers.scene.call(away.open(.code))
            #expect(try await callers.owner.call(verify(opened.maskToken)).reason == .tryAgain)
        }
    }

    @Test(
        "F026 the same request key gets the same PASS, with another body a conflict",
        arguments: TransportUnderTest.allCases)
    func sameKey(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            let keyed = CallOptions(requestKey: "k1")
            let first = try await callers.owner.call(verify(opened.maskToken), keyed)
            #expect(first.result == .pass)
            world.disabled.withLock { $0 = true }
            world.clock.advance(.seconds(3600))
            #expect(try await callers.owner.call(verify(opened.maskToken), keyed) == first)
            let failure = await #expect(throws: ServiceFailure.self) {
                try await callers.owner.call(
                    verify(opened.maskToken, number: World.number.e164), keyed)
            }
            #expect(failure?.code == .conflict)
        }
    }

    @Test(
        "a score comes with a PASS only, only when asked for, and within 0…100",
        arguments: TransportUnderTest.allCases)
    func score(_ transport: TransportUnderTest) async throws {
        let scorer = FixedScorer(score: 140)
        try await world.serve([world.instance(scorer: scorer)], over: transport) { callers in
            let plain = try await callers.scene.call(world.open(.carrier))
            #expect(try await callers.owner.call(verify(plain.maskToken)).phoneScore == nil)
            #expect(scorer.asked.withLock { $0 } == 0)
            let asked = try await callers.scene.call(world.open(.carrier, score: true))
            #expect(try await callers.owner.call(verify(asked.maskToken)).phoneScore == 100)
            world.codeAnswer.withLock { $0 = .sample(.rejected) }
            let wrong = try await callers.scene.call(world.open(.code, score: true))
            #expect(try await callers.owner.call(verify(wrong.maskToken)).phoneScore == nil)
            #expect(scorer.asked.withLock { $0 } == 1)
        }
        try await world.serve(over: transport) { callers in
            let asked = try await callers.scene.call(world.open(.carrier, score: true))
            let verified = try await callers.owner.call(verify(asked.maskToken))
            #expect(verified.result == .pass && verified.phoneScore == nil)
        }
    }

    @Test(
        "no token, number or code is in a log line or in the store",
        arguments: TransportUnderTest.allCases)
    func secrets(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(
                world.open(.carrier, expected: World.number, excluded: World.otherNumber))
            _ = try await callers.owner.call(
                verify(opened.maskToken, number: World.number.e164),
                CallOptions(requestKey: "k"))
            _ = try await callers.owner.call(
                GetNumber(schemeCode: World.schemeCode, carrierToken: Secret("other-token")))
            let token = opened.maskToken.reveal()
            let secrets = [
                token, String(token.dropFirst(2)), "carrier-token", "other-token",
                World.number.e164, World.otherNumber.e164,
            ]
            var everything = world.log.lines
            for table in VerificationTables.schemas.map(\.name) {
                for row in world.disk.dump(table) {
                    everything.append(row.key)
                    everything.append(String(decoding: row.body, as: UTF8.self))
                }
            }
            #expect(everything.count > 5)
            for secret in secrets {
                #expect(!everything.contains { $0.contains(secret.dropFirst()) }, "\(secret)")
            }
        }
    }
}

private struct FixedScorer: PhoneScorer {
    let score: Int
    let asked = Lock(0)

    func score(_ number: PhoneNumber, schemeCode: String, timeout: Duration) async -> Int? {
        asked.withLock { $0 += 1 }
        return score
    }
}

@Suite("verification.internal.open", .closesBuses)
struct OpenTests {
    private let world = World()

    @Test(
        "the same request key gets the same mask token, another key another one",
        arguments: TransportUnderTest.allCases)
    func sameKey(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let request = world.open(.code)
            let keyed = CallOptions(requestKey: "k")
            let first = try await callers.scene.call(request, keyed)
            let second = try await callers.scene.call(request, keyed)
            #expect(first.maskToken == second.maskToken)
            #expect(first.verificationId == second.verificationId)
            let other = try await callers.scene.call(request, CallOptions(requestKey: "l"))
            #expect(other.maskToken != first.maskToken)
            #expect(world.disk.count(in: "verification") == 2)
        }
    }

    @Test(
        "exactly the field of the kind is taken, and only services may open",
        arguments: TransportUnderTest.allCases)
    func shape(_ transport: TransportUnderTest) async throws {
        let wrong: [(Evidence, String)] = [
            (Evidence(kind: .carrier), "evidence.carrierToken"),
            (Evidence(kind: .smsCode, upgoingId: .sample), "evidence.guessId"),
            (
                Evidence(kind: .smsCode, guessId: .sample, upgoingId: .sample),
                "evidence.upgoingId"
            ),
            (
                Evidence(kind: .carrier, carrierToken: Secret("t"), guessId: .sample),
                "evidence.guessId"
            ),
            (Evidence(kind: .carrier, carrierToken: Secret("")), "evidence.carrierToken"),
        ]
        try await world.serve(over: transport) { callers in
            for (evidence, field) in wrong {
                let failure = await #expect(throws: ServiceFailure.self) {
                    try await callers.scene.call(world.open(evidence))
                }
                #expect(failure?.code == .invalidParameters && failure?.field == field)
            }
            let failure = await #expect(throws: ServiceFailure.self) {
                try await callers.owner.call(world.open(.code))
            }
            #expect(failure?.code == .notAllowed)
        }
    }

    @Test(
        "a mask token lives 10 minutes at most; the clocks of two hosts may differ a little",
        arguments: TransportUnderTest.allCases)
    func lifetime(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let now = world.clock.now()
            let longest = try await callers.scene.call(world.open(.code, lifetime: .seconds(630)))
            #expect(
                longest.expiresAtMilliseconds == (now + .seconds(600)).millisecondsSince1970)
            for lifetime in [Duration.zero, .seconds(-1), .seconds(661)] {
                let failure = await #expect(throws: ServiceFailure.self) {
                    try await callers.scene.call(world.open(.code, lifetime: lifetime))
                }
                #expect(failure?.field == "expiresAtMilliseconds")
            }
        }
    }
}
