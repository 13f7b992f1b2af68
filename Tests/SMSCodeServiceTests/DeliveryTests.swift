import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import SMSCodeService

@Suite("delivery", .closesBuses)
struct DeliveryTests {
    private func pump(_ service: SMSCodeService) async throws {
        for leased in try await service.leaseDue(limit: 16) { await service.deliver(leased) }
    }

    private func status(_ world: World, _ sent: SentCode) async throws -> CodeStatus {
        try await world.shop.call(GetCodeStatus(challengeId: try #require(sent.challengeId)))
    }

    @Test(
        "F109 F111 a provider's refusal is the answer, gives back the budget, leaves nothing half",
        arguments: TransportUnderTest.allCases)
    func refused(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            world.provider.answer { _ in .refused(reason: "blocked") }
            let refused = await failure { () async throws(ServiceFailure) in
                try await world.send(key: "k")
            }
            #expect(refused.code == .providerRefused)
            let again = await failure { () async throws(ServiceFailure) in
                try await world.send(key: "k")
            }
            #expect(again == refused && world.provider.submissions.count == 1)
            // The code that nobody got is none, and its number is like one that asked for nothing.
            let withdrawn = world.provider.code(for: World.number)
            let checked = try await world.check(withdrawn)
            #expect(checked.result == .rejected)
            let stranger = try await world.check(withdrawn, "+14155550000")
            #expect(checked == stranger)
            world.provider.answer { _ in .accepted }
            let sent = try await world.send()
            #expect(sent.sendsLeft == 4)
        }
    }

    @Test(
        "rule 3: a resend that the provider refused leaves the live code and its wait alone",
        arguments: TransportUnderTest.allCases)
    func refusedResend(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            world.clock.advance(.seconds(60))
            world.provider.answer { _ in .refused(reason: "blocked") }
            _ = await failure { () async throws(ServiceFailure) in try await world.send() }
            #expect(try await world.check(code).result == .accepted)
        }
    }

    @Test(
        "an unavailable provider: queued, tried again under the same reference with the same code",
        arguments: TransportUnderTest.allCases)
    func queued(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService()
        try await world.serving(service) { world in
            world.provider.answer { _ in .unavailable(retryAfter: nil) }
            let sent = try await world.send()
            #expect(sent.delivery == .queued)
            world.provider.answer { _ in .accepted }
            try await pump(service)
            #expect(world.provider.submissions.count == 1)
            world.clock.advance(.seconds(5))
            try await pump(service)
            let all = world.provider.submissions
            #expect(all.count == 2)
            #expect(Set(all.map(\.reference)).count == 1 && Set(all.map(\.text)).count == 1)
            #expect(try await status(world, sent).delivery == .sent)
            let code = world.provider.code(for: World.number)
            #expect(try await world.check(code).result == .accepted)
        }
    }

    @Test(
        "F066 a provider that says 429 for a minute is called three times, and never after expiry",
        arguments: TransportUnderTest.allCases)
    func backoff(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService()
        try await world.serving(service) { world in
            world.provider.answer { _ in .unavailable(retryAfter: nil) }
            let sent = try await world.send(lifetime: 120)
            for _ in 0..<59 {
                world.clock.advance(.seconds(1))
                try await pump(service)
            }
            #expect(world.provider.submissions.count == 3)
            for _ in 0..<600 {
                world.clock.advance(.seconds(1))
                try await pump(service)
            }
            let last = try #require(world.provider.submissions.last)
            #expect(last.at < .seconds(120))
            let after = try await status(world, sent)
            #expect(after.delivery == .abandoned && after.deliveryReason == "too_late")
        }
    }

    @Test(
        "F056 a first message overtaken by the second: not sent where it is void, else still good",
        arguments: TransportUnderTest.allCases)
    func overtaken(_ transport: TransportUnderTest) async throws {
        for policy in [DuplicatePolicy.newest, .all, .same] {
            let world = World(transport, policy: SchemePolicy(duplicatePolicy: policy))
            let service = world.makeService()
            try await world.serving(service) { world in
                world.provider.answer { _ in .unavailable(retryAfter: nil) }
                #expect(try await world.send().delivery == .queued)
                let first = try #require(world.provider.submissions.first)
                world.clock.advance(.seconds(60))
                world.provider.answer { _ in .accepted }
                #expect(try await world.send().delivery == .sent)
                try await pump(service)
                let arrived = world.provider.submissions.dropFirst()
                #expect(arrived.count == (policy == .newest ? 1 : 2))
                #expect((arrived.last?.reference == first.reference) == (policy != .newest))
                // What the handset shows last is good at once: nobody has to ask again.
                let code = world.provider.code(for: World.number)
                #expect(try await world.check(code).result == .accepted)
            }
        }
    }

    @Test(
        "F056 an older code that arrives last is told as older, and the newer one stays good",
        arguments: TransportUnderTest.allCases)
    func arrivesLast(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let late = world.provider.code(for: World.number)
            world.clock.advance(.seconds(60))
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            #expect(try await world.check(late).result == .superseded)
            // It was compared with the live code, and counts like any guess at that.
            #expect(try await world.check(world.wrong(code)).attemptsLeft == 3)
            #expect(try await world.check(code).result == .accepted)
            #expect(world.provider.submissions.count == 2)
        }
    }

    @Test(
        "F112 a message that did not arrive is told to who sent it",
        arguments: TransportUnderTest.allCases)
    func undelivered(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send()
            _ = try await world.gateway.call(
                ReceiveReceipt(
                    reference: sent.messageId.text, delivered: false, reason: "absent"))
            let after = try await status(world, sent)
            #expect(after.delivery == .undelivered && after.deliveryReason == "absent")
        }
    }

    @Test(
        "a message whose code was used or cancelled is not sent any more",
        arguments: TransportUnderTest.allCases)
    func deadCode(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService()
        try await world.serving(service) { world in
            world.provider.answer { _ in .unavailable(retryAfter: nil) }
            let sent = try await world.send()
            _ = try await world.shop.call(CancelCode(challengeId: sent.challengeId))
            world.clock.advance(.seconds(10))
            try await pump(service)
            #expect(world.provider.submissions.count == 1)
            #expect(try await status(world, sent).deliveryReason == "code_died")
        }
    }

    @Test(
        "F157 the second provider sends the same code when the first does not answer",
        arguments: TransportUnderTest.allCases)
    func fallOver(_ transport: TransportUnderTest) async throws {
        let world = World(transport, providers: ["one", "two"])
        let service = world.makeService()
        try await world.serving(service) { world in
            let clock = world.clock
            world.providers[0].answer { _ in
                clock.advance(.seconds(3))
                return .unavailable(retryAfter: nil)
            }
            let sent = try await world.send()
            #expect(sent.delivery == .queued)
            try await pump(service)
            #expect(world.providers[1].submissions.count == 1)
            #expect(world.providers[1].texts == world.providers[0].texts)
            let code = world.providers[1].code(for: World.number)
            #expect(try await world.check(code).result == .accepted)
        }
    }

    @Test(
        "F157 a refusal goes to the next provider at once; the last one's word counts",
        arguments: TransportUnderTest.allCases)
    func refusalFallsOver(_ transport: TransportUnderTest) async throws {
        let world = World(transport, providers: ["one", "two"])
        try await world.serving(world.makeService()) { world in
            world.providers[0].answer { _ in .refused(reason: "no route") }
            let sent = try await world.send()
            #expect(sent.delivery == .sent)
            world.providers[1].answer { _ in .refused(reason: "blocked") }
            let refused = await failure { () async throws(ServiceFailure) in
                try await world.send("+14155550002")
            }
            #expect(refused.code == .providerRefused)
        }
    }

    @Test(
        "a provider that fails three times in a row rests for half a minute",
        arguments: TransportUnderTest.allCases)
    func breaker(_ transport: TransportUnderTest) async throws {
        let world = World(transport, providers: ["one", "two"])
        try await world.serving(world.makeService()) { world in
            world.providers[0].answer { _ in .unavailable(retryAfter: nil) }
            for index in 0..<6 { _ = try await world.send("+1415555000\(index)") }
            #expect(world.providers[0].submissions.count == 3)
            #expect(world.providers[1].submissions.count == 6)
            world.clock.advance(.seconds(31))
            _ = try await world.send("+14155550009")
            #expect(world.providers[0].submissions.count == 4)
        }
    }

    @Test(
        "rule 12: what a crash left sending is sent once more, same reference, same code",
        arguments: TransportUnderTest.allCases)
    func crash(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let dying = world.makeService()
        let started = Lock(false)
        let isDead = Lock(false)
        try await world.serving(dying, host: "dying") { world in
            world.provider.answer { _ in
                started.withLock { $0 = true }
                // The process ends while the provider holds the message.
                while !isDead.withLock(\.self) { await Task.yield() }
                return .accepted
            }
            await withTaskGroup { group in
                group.addTask { _ = try? await world.send(key: "k") }
                while !started.withLock(\.self) { await Task.yield() }
                group.cancelAll()
            }
            (dying.store as? MemoryStore)?.crash()
            world.bus.crash(host: "dying")
            isDead.withLock { $0 = true }
        }
        world.provider.answer { _ in .accepted }
        let service = world.makeService(instance: "i2")
        try await world.serving(service, host: "next") { world in
            try await pump(service)
            #expect(world.provider.submissions.count == 1)
            world.clock.advance(SMSMessage.lease)
            try await pump(service)
            #expect(world.provider.submissions.count == 2)
            #expect(Set(world.provider.submissions.map(\.reference)).count == 1)
            #expect(Set(world.provider.texts).count == 1)
            await service.finishOpenSends()
            // The caller asks again under its key, and gets the answer of the first request.
            let again = try await world.send(key: "k")
            #expect(again.delivery == .sent && world.provider.submissions.count == 2)
            let code = world.provider.code(for: World.number)
            #expect(try await world.check(code).result == .accepted)
        }
    }

    @Test(
        "beyond a quarter of the credit a send answers queued at once, and the outbox sends it",
        arguments: TransportUnderTest.allCases)
    func waiters(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService { $0.waitingSends = 0 }
        try await world.serving(service) { world in
            let sent = try await world.send(returnCode: true)
            #expect(sent.delivery == .queued && world.provider.submissions.isEmpty)
            #expect(sent.code != nil)
            try await pump(service)
            #expect(world.provider.code(for: World.number) == sent.code?.reveal())
        }
    }

    @Test("the outbox runs by itself, and drains", arguments: TransportUnderTest.allCases)
    func parts(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService { $0.waitingSends = 0 }
        let parts = service.parts()
        try await world.serving(service) { world in
            try await withThrowingTaskGroup { group in
                for part in parts { group.addTask { try await part.run() } }
                _ = try await world.send()
                while world.provider.submissions.isEmpty { await Task.yield() }
                for part in parts { await part.drain() }
                try await group.waitForAll()
            }
            #expect(world.provider.submissions.count == 1)
        }
    }

    @Test(
        "F146 receipts are taken; repeats, late contradictions and unknown ones change nothing",
        arguments: TransportUnderTest.allCases)
    func receipts(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            let sent = try await world.send()
            func receipt(_ reference: String, _ delivered: Bool) async throws(ServiceFailure) {
                _ = try await world.gateway.call(
                    ReceiveReceipt(reference: reference, delivered: delivered, reason: "r"))
            }
            try await receipt(sent.messageId.text, true)
            try await receipt(sent.messageId.text, true)
            try await receipt(sent.messageId.text, false)
            try await receipt("nobody's", true)
            #expect(try await status(world, sent).delivery == .delivered)
            let day = UTCDay(world.clock.now()).text
            let statistics = try await world.shop.call(
                GetSMSStatistics(schemeCode: World.schemeCode, fromDay: day, toDay: day))
            #expect(
                statistics.days == [
                    SMSDay(day: day, sent: 1, delivered: 1, failed: 0, accepted: 0, rejected: 0)
                ])
        }
    }

    @Test(
        "details show the newest first, codes as dots, and only the scheme's own",
        arguments: TransportUnderTest.allCases)
    func details(_ transport: TransportUnderTest) async throws {
        let world = World(transport, policy: SchemePolicy(signature: "Shop"))
        world.put(policy: .standard, code: "FA2")
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            world.clock.advance(.seconds(60))
            let literal = MessageTextRequest(
                body: "PIN ${code}", parameters: ["code": "998877"])
            let second = try await world.send(text: literal)
            _ = try await world.send(scheme: "FA2")
            let day = UTCDay(world.clock.now()).text
            let all = try await world.shop.call(
                GetSendDetails(
                    schemeCode: World.schemeCode, number: World.number, day: day, page: 1,
                    pageSize: 10))
            #expect(all.total == 2)
            #expect(all.details.first?.messageId == second.messageId)
            #expect(all.details.first?.content == "[Shop] PIN ••••••")
            #expect(all.details.last?.content.hasPrefix("[Shop] •••••• is your code") == true)
            let page = try await world.shop.call(
                GetSendDetails(
                    schemeCode: World.schemeCode, number: World.number, day: day, page: 2,
                    pageSize: 1))
            #expect(page.total == 2 && page.details.count == 1)
            let everything = try await world.caller(.operator, "root").call(
                GetSendDetails(number: World.number, day: day, page: 1, pageSize: 10))
            #expect(everything.total == 3)
            let missing = await failure { () async throws(ServiceFailure) in
                try await world.shop.call(
                    GetSendDetails(number: World.number, day: day, page: 1, pageSize: 10))
            }
            #expect(missing.code == .invalidParameters && missing.field == "schemeCode")
        }
    }

    @Test(
        "F036 a notice goes to the old number without a code and outside the limits",
        arguments: TransportUnderTest.allCases)
    func notice(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService { $0.sendsPerHour = 0 }
        try await world.serving(service) { world in
            let number = try #require(PhoneNumber(e164: World.number))
            _ = try await world.scene.call(
                NotifyNumber(
                    schemeCode: World.schemeCode, number: number, kind: .numberChanged))
            try await pump(service)
            let text = try #require(world.provider.texts.first)
            #expect(text.contains("was changed") && !text.contains { $0.isNumber })
        }
    }

    @Test("F114 a limit of 0 refuses every send", arguments: TransportUnderTest.allCases)
    func zero(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService { $0.sendsPerDayAllSchemes = 0 }) { world in
            let refused = await failure { () async throws(ServiceFailure) in try await world.send()
            }
            #expect(refused.code == .numberLimit && refused.retryAfterMilliseconds == nil)
        }
    }
}
