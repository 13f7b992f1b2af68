import Bus
import Effects
import Messages
import Primitives
import SMSCodeService
import ServiceTestKit
import TestKit
import Testing

@Suite("smscode.send", .closesBuses)
struct SendTests {
    @Test("a code is sent, and the right one passes", arguments: TransportUnderTest.allCases)
    func slice(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send()
            #expect(sent.delivery == .sent && sent.codeLength == 6 && sent.codeType == 1)
            #expect(sent.sendsLeft == 4 && sent.code == nil)
            let now = world.clock.now().millisecondsSince1970
            #expect(sent.expiresAtMilliseconds == now + 300_000)
            #expect(sent.resendAtMilliseconds == now + 60_000)
            let code = world.provider.code(for: World.number)
            #expect(code.count == 6)
            let checked = try await world.check(code)
            #expect(checked.result == .accepted && checked.challengeId == sent.challengeId)
            #expect(checked.number?.e164 == World.number)
        }
    }

    @Test(
        "F047 F051 a refused resend names the wait, harms nothing, and is accepted in time",
        arguments: TransportUnderTest.allCases)
    func cooldown(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let first = try await world.send()
            let code = world.provider.code(for: World.number)
            world.clock.advance(.seconds(5))
            let refused = await failure { () async throws(ServiceFailure) in try await world.send()
            }
            #expect(refused.code == .cooldown && refused.retryAfterMilliseconds == 55_000)
            #expect(world.provider.submissions.count == 1)
            world.clock.advance(.seconds(55))
            let second = try await world.send()
            #expect(second.sendsLeft == first.sendsLeft - 1)
            #expect(second.challengeId == first.challengeId)
            #expect(world.provider.code(for: World.number) != code)
        }
    }

    @Test(
        "F047 the code that was there still passes after a refused resend",
        arguments: TransportUnderTest.allCases)
    func refusedResend(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            _ = await failure { () async throws(ServiceFailure) in try await world.send() }
            let code = world.provider.code(for: World.number)
            #expect(try await world.check(code).result == .accepted)
        }
    }

    @Test(
        "F064 F106 five sends an hour, ten in 24 hours; refused means not sent",
        arguments: TransportUnderTest.allCases)
    func windows(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            for _ in 0..<5 {
                _ = try await world.send()
                world.clock.advance(.seconds(60))
            }
            let hour = await failure { () async throws(ServiceFailure) in try await world.send() }
            #expect(hour.code == .numberLimit && hour.field == "hour")
            #expect(hour.retryAfterMilliseconds == 3_300_000)
            #expect(world.provider.submissions.count == 5)
            world.clock.advance(.seconds(3300))
            for _ in 0..<5 {
                _ = try await world.send()
                world.clock.advance(.seconds(60))
            }
            world.clock.advance(.seconds(3600))
            let day = await failure { () async throws(ServiceFailure) in try await world.send() }
            #expect(day.code == .numberLimit && day.field == "day")
            #expect(world.provider.submissions.count == 10)
            world.clock.advance(.seconds(86_400))
            #expect(try await world.send().delivery == .sent)
        }
    }

    @Test("a number takes 40 sends a day over all schemes", arguments: TransportUnderTest.allCases)
    func allSchemes(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        for index in 0..<5 { world.put(policy: .standard, code: "FA\(index)") }
        try await world.serving(world.makeService()) { world in
            for index in 0..<4 {
                for round in 0..<10 {
                    _ = try await world.send(scheme: "FA\(index)")
                    world.clock.advance(.seconds(round == 4 ? 3600 : 60))
                }
            }
            let refused = await failure { () async throws(ServiceFailure) in
                try await world.send(scheme: "FA4")
            }
            #expect(refused.code == .numberLimit && refused.field == "day_all_schemes")
        }
    }

    @Test(
        "F071 F129 F131 sixty sends an hour by IPv4 address and IPv6 /64, loopback never",
        arguments: TransportUnderTest.allCases)
    func addresses(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            func send(_ index: Int, _ address: String) async throws(ServiceFailure) -> SentCode {
                try await world.gateway.call(
                    SendCode(
                        schemeCode: World.schemeCode, purpose: "p",
                        number: "+14155\(550_000 + index)", origin: SendOrigin(address: address)))
            }
            for index in 0..<60 { _ = try await send(index, "2001:db8::\(index + 1)") }
            let refused = await failure { () async throws(ServiceFailure) in
                try await send(60, "2001:db8::ffff")
            }
            #expect(refused.code == .addressLimit && refused.field == "address_hour")
            #expect(try await send(61, "2001:db8:0:1::1").delivery == .sent)
            for index in 100..<170 { _ = try await send(index, "127.0.0.1") }
            for index in 200..<260 { _ = try await send(index, ClientAddress.unknown) }
            let unknown = await failure { () async throws(ServiceFailure) in
                try await send(260, ClientAddress.unknown)
            }
            #expect(unknown.code == .addressLimit)
        }
    }

    @Test(
        "F011 a bound number has a budget of its own that strangers cannot use up",
        arguments: TransportUnderTest.allCases)
    func boundNumber(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let run: RunID = world.random.identifier()
            func bound(_ template: String) async throws(ServiceFailure) -> SentCode {
                try await world.scene.call(
                    SendCode(
                        schemeCode: World.schemeCode, purpose: "scene:\(template)",
                        number: World.number,
                        origin: SendOrigin(
                            runId: run, templateId: template, toBoundNumber: true)))
            }
            for _ in 0..<5 {
                _ = try await world.send()
                world.clock.advance(.seconds(60))
            }
            let stranger = await failure { () async throws(ServiceFailure) in try await world.send()
            }
            #expect(stranger.code == .numberLimit)
            #expect(try await bound("100005").delivery == .sent)
            // Resetting a password needs no proof of ownership: it is a stranger's send.
            let reset = await failure { () async throws(ServiceFailure) in
                try await bound("100003")
            }
            #expect(reset.code == .numberLimit)
            let again = await failure { () async throws(ServiceFailure) in
                try await bound("100005")
            }
            #expect(again.code == .cooldown)
        }
    }

    @Test(
        "rule 6: of 32 parallel sends exactly one is sent within the cool-down",
        arguments: TransportUnderTest.allCases)
    func race(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let sentCount = await withTaskGroup { group in
                for _ in 0..<32 {
                    group.addTask { (try? await world.send()) == nil ? 0 : 1 }
                }
                return await group.reduce(0, +)
            }
            #expect(sentCount == 1)
            #expect(world.provider.submissions.count == 1)
        }
    }

    @Test(
        "F052 F057 same repeats the code, newest and all make new ones",
        arguments: TransportUnderTest.allCases)
    func duplicatePolicies(_ transport: TransportUnderTest) async throws {
        for policy in [DuplicatePolicy.newest, .all, .same] {
            let world = World(transport, policy: SchemePolicy(duplicatePolicy: policy))
            try await world.serving(world.makeService()) { world in
                _ = try await world.send()
                let first = world.provider.code(for: World.number)
                world.clock.advance(.seconds(60))
                _ = try await world.send()
                let second = world.provider.code(for: World.number)
                #expect((first == second) == (policy == .same))
                let checked = try await world.check(first)
                #expect(checked.result == (policy == .newest ? .superseded : .accepted))
                if policy == .newest {
                    #expect(try await world.check(second).result == .accepted)
                }
            }
        }
    }

    @Test(
        "F059 the old code's answer names when the newer one was sent",
        arguments: TransportUnderTest.allCases)
    func superseded(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let old = world.provider.code(for: World.number)
            world.clock.advance(.seconds(61))
            _ = try await world.send()
            let sentAt = world.clock.now().millisecondsSince1970
            world.clock.advance(.seconds(3))
            let checked = try await world.check(old)
            #expect(checked.result == .superseded && checked.newerSentAtMilliseconds == sentAt)
        }
    }

    @Test(
        "a text without the code's place passes the same limits and leaves live codes alone",
        arguments: TransportUnderTest.allCases)
    func plainText(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            let literal = MessageTextRequest(
                templateCode: "100001", parameters: ["code": "4321", "min": "5"])
            let early = await failure { () async throws(ServiceFailure) in
                try await world.send(text: literal)
            }
            #expect(early.code == .cooldown)
            world.clock.advance(.seconds(60))
            let sent = try await world.send(text: literal, returnCode: true)
            #expect(sent.challengeId == nil && sent.code == nil && sent.codeLength == nil)
            #expect(sent.sendsLeft == 3)
            #expect(world.provider.texts.last?.contains("4321") == true)
            #expect(try await world.check("4321").result == .rejected)
            #expect(try await world.check(code).result == .accepted)
        }
    }

    @Test(
        "same request key, same answer, one SMS; another body is a conflict",
        arguments: TransportUnderTest.allCases)
    func requestKey(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let first = try await world.send(returnCode: true, key: "k")
            let second = try await world.send(returnCode: true, key: "k")
            #expect(first.messageId == second.messageId)
            #expect(first.code == second.code && first.code != nil)
            #expect(world.provider.submissions.count == 1)
            let other = await failure { () async throws(ServiceFailure) in
                try await world.send(purpose: "reset", key: "k")
            }
            #expect(other.code == .conflict)
            #expect(try await world.check(first.code?.reveal() ?? "").result == .accepted)
        }
    }

    @Test(
        "who may say what: origins, reserved purposes, codes in answers, others' schemes",
        arguments: TransportUnderTest.allCases)
    func rights(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        world.put(policy: .standard, code: "FA9", owner: "other")
        world.put(policy: .standard, code: "FA8", disabled: true)
        try await world.serving(world.makeService()) { world in
            let expectations: [(ErrorCode, SendCode, any BusCaller)] = [
                (
                    .notAllowed,
                    request(origin: SendOrigin(address: "1.2.3.4")), world.shop
                ),
                (.notAllowed, request(purpose: "scene:100001"), world.shop),
                (.notAllowed, request(purpose: "api:x"), world.shop),
                (.notAllowed, request(returnCode: true), world.scene),
                (.schemeNotFound, request(scheme: "FA9"), world.shop),
                (.schemeNotFound, request(scheme: "FA7"), world.shop),
                (.schemeDisabled, request(scheme: "FA8"), world.shop),
                (.numberInvalid, request(number: "12"), world.shop),
                (.invalidParameters, request(codeLength: 3), world.shop),
                (.invalidParameters, request(lifetime: 601), world.shop),
                (
                    .invalidParameters,
                    request(origin: SendOrigin(address: "1.2.3.4, 5.6.7.8")), world.gateway
                ),
                (.textRefused, request(text: MessageTextRequest(templateCode: "9")), world.shop),
            ]
            for (code, request, caller) in expectations {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await caller.call(request)
                }
                #expect(refused.code == code)
            }
            #expect(world.provider.submissions.isEmpty)
        }
    }

    private func request(
        scheme: String = World.schemeCode, purpose: String = "login",
        number: String = World.number, text: MessageTextRequest? = nil, codeLength: Int? = nil,
        lifetime: Int64? = nil, returnCode: Bool? = nil, origin: SendOrigin? = nil
    ) -> SendCode {
        SendCode(
            schemeCode: scheme, purpose: purpose, number: number, text: text,
            codeLength: codeLength, lifetimeSeconds: lifetime, returnCode: returnCode,
            origin: origin)
    }

    @Test(
        "lifetimes and cool-downs of the request; at least 60 s between sends of a run",
        arguments: TransportUnderTest.allCases)
    func settings(_ transport: TransportUnderTest) async throws {
        let world = World(transport, policy: SchemePolicy(codeLength: 8, codeLifetimeSeconds: 120))
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send(cooldown: 1)
            let now = world.clock.now().millisecondsSince1970
            #expect(sent.expiresAtMilliseconds == now + 120_000 && sent.codeLength == 8)
            world.clock.advance(.seconds(1))
            #expect(try await world.send(codeLength: 4, cooldown: 1).codeLength == 4)
            world.clock.advance(.seconds(1))
            let run: RunID = world.random.identifier()
            let early = await failure { () async throws(ServiceFailure) in
                try await world.scene.call(
                    SendCode(
                        schemeCode: World.schemeCode, purpose: "scene:100001",
                        number: World.number, cooldownSeconds: 1,
                        origin: SendOrigin(runId: run, templateId: "100001")))
            }
            #expect(early.code == .cooldown && early.retryAfterMilliseconds == 59_000)
        }
    }

    @Test(
        "F062 expired codes free their place, and the next send opens another challenge",
        arguments: TransportUnderTest.allCases)
    func expiry(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let first = try await world.send()
            world.clock.advance(.seconds(300))
            let second = try await world.send()
            #expect(first.challengeId != second.challengeId)
            for _ in 0..<3 {
                world.clock.advance(.seconds(300))
                _ = try await world.send()
            }
            // Five expired codes: what is refused is the sixth send of the hour, to its moment.
            world.clock.advance(.seconds(300))
            let sixth = await failure { () async throws(ServiceFailure) in try await world.send() }
            #expect(sixth.code == .numberLimit && sixth.field == "hour")
            #expect(sixth.retryAfterMilliseconds == 2_100_000)
            world.clock.advance(.milliseconds(2_100_000))
            #expect(try await world.send().delivery == .sent)
        }
    }

    @Test(
        "F094 a text of any script reaches the provider as it was written",
        arguments: TransportUnderTest.allCases)
    func scripts(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            for (index, words) in ["Código: ", "验证码：", "Код 👍🏽 ", "e\u{301} "].enumerated() {
                let number = "+1415555000\(index)"
                let body = MessageTextRequest(body: "\(words)##code## ✅")
                _ = try await world.send(number, text: body)
                let text = try #require(world.provider.texts.last)
                let code = world.provider.code(for: number)
                #expect(Array(text.utf8) == Array("\(words)\(code) ✅".utf8))
                #expect(try await world.check(code, number).result == .accepted)
            }
        }
    }

    @Test(
        "after too many wrong codes no further one is sent", arguments: TransportUnderTest.allCases)
    func exhausted(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            for step in 1...5 { _ = try await world.check(world.wrong(code, step)) }
            world.clock.advance(.seconds(60))
            let refused = await failure { () async throws(ServiceFailure) in try await world.send()
            }
            #expect(refused.code == .guessesExhausted)
            #expect(refused.retryAfterMilliseconds == 3_540_000)
            #expect(try await world.send(purpose: "other").delivery == .sent)
        }
    }
}
