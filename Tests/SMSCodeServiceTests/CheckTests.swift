import Bus
import Effects
import Messages
import Primitives
import SMSCodeService
import ServiceTestKit
import TestKit
import Testing

@Suite("smscode.check", .closesBuses)
struct CheckTests {
    @Test(
        "F001 F002 F006 after five wrong codes the right one is refused as exhausted",
        arguments: TransportUnderTest.allCases)
    func exhaustion(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send()
            let code = world.provider.code(for: World.number)
            for step in 1...5 {
                let checked = try await world.check(world.wrong(code, step))
                #expect(checked.result == .rejected && checked.attemptsLeft == 5 - step)
                #expect((checked.retryAfterMilliseconds != nil) == (step == 5))
            }
            let checked = try await world.check(code)
            #expect(checked.result == .exhausted && checked.retryAfterMilliseconds == 3_600_000)
            let status = try await world.shop.call(
                GetCodeStatus(challengeId: try #require(sent.challengeId)))
            #expect(status.state == .exhausted)
        }
    }

    @Test(
        "F007 F016 of 500 parallel wrong codes exactly five are evaluated, over two instances",
        arguments: TransportUnderTest.allCases)
    func parallelGuesses(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            try await world.serving(world.makeService(instance: "i2"), host: "second") { world in
                let rejected = await withTaskGroup { group in
                    for index in 0..<500 {
                        group.addTask {
                            let guess = world.wrong(code, index % 9 + 1)
                            return try? await world.check(guess).result
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(rejected.count { $0 == .rejected } == 5)
                #expect(rejected.count { $0 == .exhausted } == 495)
                let right = try await world.check(code)
                #expect(right.result == .exhausted)
            }
        }
    }

    @Test(
        "F009 the defaults are safe: twenty wrong codes, then the right one is refused",
        arguments: TransportUnderTest.allCases)
    func defaults(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            for step in 0..<20 { _ = try await world.check(world.wrong(code, step % 9 + 1)) }
            #expect(try await world.check(code).result == .exhausted)
        }
    }

    @Test(
        "F004 wrong guesses are kept over a resend, in every policy",
        arguments: TransportUnderTest.allCases)
    func keptOverResend(_ transport: TransportUnderTest) async throws {
        for policy in [DuplicatePolicy.newest, .all, .same] {
            let world = World(transport, policy: SchemePolicy(duplicatePolicy: policy))
            let service = world.makeService { $0.guessesPerHour = 3 }
            try await world.serving(service) { world in
                _ = try await world.send()
                let first = world.provider.code(for: World.number)
                _ = try await world.check(world.wrong(first, 1))
                _ = try await world.check(world.wrong(first, 2))
                world.clock.advance(.seconds(60))
                _ = try await world.send()
                let second = world.provider.code(for: World.number)
                #expect(try await world.check(world.wrong(second, 3)).attemptsLeft == 0)
                #expect(try await world.check(second).result == .exhausted)
            }
        }
    }

    @Test(
        "the window lets go after an hour, and twenty in 24 hours are the end of the day",
        arguments: TransportUnderTest.allCases)
    func windows(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            for round in 0..<4 {
                _ = try await world.send()
                let code = world.provider.code(for: World.number)
                for step in 1...5 {
                    #expect(try await world.check(world.wrong(code, step)).result == .rejected)
                }
                if round < 3 { world.clock.advance(.seconds(3600)) }
            }
            world.clock.advance(.seconds(3600))
            #expect(try await world.check("000000").result == .exhausted)
        }
    }

    @Test(
        "four digits end after ten wrong guesses in 24 hours",
        arguments: TransportUnderTest.allCases)
    func fourDigits(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            for round in 0..<2 {
                _ = try await world.send(codeLength: 4)
                let code = world.provider.code(for: World.number)
                for step in 1...5 {
                    #expect(try await world.check(world.wrong(code, step)).result == .rejected)
                }
                if round == 0 { world.clock.advance(.seconds(3600)) }
            }
            world.clock.advance(.seconds(3600))
            let refused = await failure { () async throws(ServiceFailure) in
                try await world.send(codeLength: 4)
            }
            #expect(refused.code == .guessesExhausted)
        }
    }

    @Test(
        "several live codes: one guess is charged for each", arguments: TransportUnderTest.allCases)
    func chargedPerCode(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            var codes: [String] = []
            for _ in 0..<4 {
                _ = try await world.send(codeLength: 4, cooldown: 1, policy: .all)
                codes.append(world.provider.code(for: World.number))
                world.clock.advance(.seconds(1))
            }
            let wrong = (0..<10_000).lazy.map { String(String($0 + 10_000).suffix(4)) }
                .filter { !codes.contains($0) }
            let guesses = Array(wrong.prefix(3))
            // Ten charges, four a guess.
            #expect(try await world.check(guesses[0]).attemptsLeft == 1)
            #expect(try await world.check(guesses[1]).attemptsLeft == 0)
            #expect(try await world.check(codes[0]).result == .exhausted)
        }
    }

    @Test(
        "F012 right codes raise no count and no wait, neither of codes nor of up-going texts",
        arguments: TransportUnderTest.allCases)
    func rightCodesCostNothing(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            for _ in 0..<3 {
                _ = try await world.send()
                let code = world.provider.code(for: World.number)
                #expect(try await world.check(code).result == .accepted)
                world.clock.advance(.seconds(60))
            }
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            let wrong = try await world.check(world.wrong(code))
            #expect(wrong.result == .rejected && wrong.attemptsLeft == 4)
            let upgoing = try await world.shop.call(
                OpenUpgoing(schemeCode: World.schemeCode, purpose: "login", number: World.number))
            let checked = try await world.shop.call(CheckUpgoing(upgoingId: upgoing.upgoingId))
            #expect(checked.result == .notReceived)
        }
    }

    @Test(
        "F019 F021 F022 of 32 parallel checks with the right code exactly one passes",
        arguments: TransportUnderTest.allCases)
    func race(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            try await world.serving(world.makeService(instance: "i2"), host: "second") { world in
                let results = await withTaskGroup { group in
                    for _ in 0..<32 {
                        group.addTask { try? await world.check(code).result }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(results.count { $0 == .accepted } == 1)
                #expect(results.count { $0 == .alreadyUsed } == 31)
            }
        }
    }

    @Test("F026 two checks with one request key both pass", arguments: TransportUnderTest.allCases)
    func requestKey(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            let first = try await world.check(code, key: "auto")
            let second = try await world.check(code, key: "auto")
            #expect(first == second && first.result == .accepted)
        }
    }

    @Test(
        "F029 a used code is not accepted again, and saying so costs no attempt",
        arguments: TransportUnderTest.allCases)
    func usedCode(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            #expect(try await world.check(code).result == .accepted)
            for _ in 0..<10 { #expect(try await world.check(code).result == .alreadyUsed) }
            #expect(try await world.check(world.wrong(code)).attemptsLeft == 4)
        }
    }

    @Test(
        "F024 F031 F032 a code is good for its purpose, and trying it elsewhere leaves it good",
        arguments: TransportUnderTest.allCases)
    func purposes(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send(purpose: "login")
            let login = world.provider.code(for: World.number)
            world.clock.advance(.seconds(60))
            let other = try await world.send(purpose: "reset")
            let reset = world.provider.code(for: World.number)
            #expect(try await world.check(login, purpose: "reset").result == .rejected)
            #expect(
                try await world.check(id: try #require(other.challengeId), login).result
                    == .rejected)
            #expect(try await world.check(login, purpose: "login").result == .accepted)
            #expect(try await world.check(reset, purpose: "reset").result == .accepted)
        }
    }

    @Test(
        "F027 a cancel voids open codes of every purpose, and counters stay",
        arguments: TransportUnderTest.allCases)
    func cancel(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send(purpose: "reset")
            let code = world.provider.code(for: World.number)
            _ = try await world.check(world.wrong(code), purpose: "reset")
            let count = try await world.shop.call(
                CancelCode(schemeCode: World.schemeCode, number: World.number)
            ).count
            #expect(count == 1)
            #expect(try await world.check(code, purpose: "reset").result == .cancelled)
            #expect(
                try await world.check(world.wrong(code), purpose: "reset").attemptsLeft == 3)
        }
    }

    @Test(
        "F067 F104 a code that came too late is expired, not wrong",
        arguments: TransportUnderTest.allCases)
    func expired(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let long = try await world.send(lifetime: 300)
            let first = world.provider.code(for: World.number)
            world.clock.advance(.seconds(200))
            #expect(try await world.check(first).result == .accepted)
            let short = try await world.send(lifetime: 180)
            let second = world.provider.code(for: World.number)
            world.clock.advance(.seconds(200))
            #expect(try await world.check(second).result == .expired)
            let byID = try await world.check(id: try #require(short.challengeId), "000000")
            #expect(byID.result == .expired)
            #expect(
                try await world.check(id: try #require(long.challengeId), first).result
                    == .alreadyUsed)
        }
    }

    @Test(
        "F054 after a resend the right code passes and nothing more is sent",
        arguments: TransportUnderTest.allCases)
    func resend(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send()
            world.clock.advance(.seconds(60))
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            let checked = try await world.check(id: try #require(sent.challengeId), code)
            #expect(checked.result == .accepted)
            #expect(world.provider.submissions.count == 2)
        }
    }

    @Test(
        "F119 F121 F122 rule 11: without a code in hand known and unknown numbers answer alike",
        arguments: TransportUnderTest.allCases)
    func oracle(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            for step in 1...7 {
                let known = try await world.check(world.wrong(code, step % 9 + 1))
                let unknown = try await world.check("123456", "+14155550000")
                #expect(known == unknown)
            }
        }
    }

    @Test(
        "F084 F087 codes are text: short, long and unlike ones are wrong, marks are refused",
        arguments: TransportUnderTest.allCases)
    func text(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService { $0.guessesPerHour = 5 }) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            #expect(try await world.check(String(code.dropFirst())).result == .rejected)
            #expect(try await world.check("0" + code).result == .rejected)
            #expect(try await world.check("1e5").result == .rejected)
            for text in ["+\(code)", "-\(code)", "1.5", String(repeating: "1", count: 65)] {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await world.check(text)
                }
                #expect(refused.code == .invalidParameters && refused.field == "code")
            }
            // F017: what was refused unseen cost nothing.
            #expect(try await world.check(code).result == .accepted)
        }
    }

    @Test(
        "F082 the right code typed with another keyboard passes",
        arguments: TransportUnderTest.allCases)
    func scripts(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let arabic = world.provider.code(for: World.number).unicodeScalars.map {
                String(UnicodeScalar($0.value - 0x30 + 0x660) ?? "0")
            }
            let typed = arabic.prefix(3).joined() + " " + arabic.suffix(3).joined()
            #expect(try await world.check(typed).result == .accepted)
        }
    }

    @Test(
        "letters pass in either case unless the policy or the check demands it",
        arguments: TransportUnderTest.allCases)
    func letterCase(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send(codeType: 2, returnCode: true)
            let code = try #require(sent.code).reveal()
            let isUpper = code.allSatisfy { $0.isUppercase }
            #expect(isUpper)
            let strict = try await world.check(code.lowercased(), caseSensitive: true)
            #expect(strict.result == .rejected)
            #expect(try await world.check(code.lowercased()).result == .accepted)
        }
    }

    @Test(
        "a check may name one code of a challenge: a newer one supersedes it, whatever was typed",
        arguments: TransportUnderTest.allCases)
    func namedCode(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            func check(_ sent: SentCode, _ code: String) async throws -> CodeResult {
                let request = CheckCode(
                    challengeId: sent.challengeId, codeSequence: sent.codeSequence, code: code)
                return try await world.shop.call(request).result
            }
            let first = try await world.send(cooldown: 1)
            let firstCode = world.provider.code(for: World.number)
            world.clock.advance(.seconds(1))
            let second = try await world.send(cooldown: 1)
            let secondCode = world.provider.code(for: World.number)
            #expect(first.challengeId == second.challengeId)
            #expect(first.codeSequence == 0 && second.codeSequence == 1)
            for code in [firstCode, secondCode, world.wrong(secondCode)] {
                #expect(try await check(first, code) == .superseded)
            }
            // None of these was a guess.
            let wrong = try await world.check(
                id: try #require(second.challengeId), world.wrong(secondCode))
            #expect(wrong.attemptsLeft == 4)
            #expect(try await check(second, secondCode) == .accepted)
            #expect(try await check(second, secondCode) == .alreadyUsed)
            #expect(try await check(first, firstCode) == .alreadyUsed)
        }
    }

    @Test(
        "others' challenges, unknown ones and those of a run are not to be checked",
        arguments: TransportUnderTest.allCases)
    func rights(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let mine = try #require(try await world.send().challengeId)
            let run: RunID = world.random.identifier()
            let ofRun = try await world.scene.call(
                SendCode(
                    schemeCode: World.schemeCode, purpose: "scene:100001", number: "+14155550001",
                    origin: SendOrigin(runId: run, templateId: "100001")))
            let other = world.caller(.integrator, "other")
            let expectations: [(ErrorCode, ChallengeID, any BusCaller)] = [
                (.challengeNotFound, mine, other),
                (.challengeNotFound, world.random.identifier(), world.shop),
                (.belongsToRun, try #require(ofRun.challengeId), world.shop),
            ]
            for (code, id, caller) in expectations {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await caller.call(CheckCode(challengeId: id, code: "123456"))
                }
                #expect(refused.code == code)
            }
            let status = await failure { () async throws(ServiceFailure) in
                try await other.call(GetCodeStatus(challengeId: mine))
            }
            #expect(status.code == .challengeNotFound)
        }
    }

    @Test(
        "an id shown for another scheme, purpose or number is not found, and nothing is counted",
        arguments: TransportUnderTest.allCases)
    func othersID(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        world.put(policy: .standard, code: "FA00000000000002")
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send()
            let id = try #require(sent.challengeId)
            let code = world.provider.code(for: World.number)
            let strangers = [
                CheckCode(challengeId: id, purpose: "camara:x", code: code),
                CheckCode(challengeId: id, schemeCode: "FA00000000000002", code: code),
                CheckCode(challengeId: id, number: "+14155550001", code: code),
                CheckCode(challengeId: id, purpose: "camara:x", code: world.wrong(code)),
            ]
            for request in strangers {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await world.shop.call(request)
                }
                #expect(refused.code == .challengeNotFound)
            }
            let status = await failure { () async throws(ServiceFailure) in
                try await world.shop.call(GetCodeStatus(challengeId: id, purpose: "camara:x"))
            }
            #expect(status.code == .challengeNotFound)
            let cancelled = await failure { () async throws(ServiceFailure) in
                try await world.shop.call(
                    CancelCode(challengeId: id, schemeCode: "FA00000000000002"))
            }
            #expect(cancelled.code == .challengeNotFound)
            let wrong = try await world.check(id: id, world.wrong(code))
            #expect(wrong.attemptsLeft == 4)
            let right = try await world.shop.call(
                CheckCode(
                    challengeId: id, schemeCode: World.schemeCode, purpose: "login",
                    number: World.number, code: code))
            #expect(right.result == .accepted)
        }
    }
}
