import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import SMSCodeService

@Suite("test numbers, secrets, time", .closesBuses)
struct PolicyTests {
    private func policy(_ world: World, seconds: Int64) -> SchemePolicy {
        SchemePolicy(testNumbers: [
            TestNumber(
                number: "+1415555xxxx", code: "246810",
                endsAtMilliseconds: world.clock.now().millisecondsSince1970 + seconds * 1000)
        ])
    }

    @Test(
        "F117 F139 F164 F166 a test number is never texted, has a fixed code, and no send limit",
        arguments: TransportUnderTest.allCases)
    func testNumbers(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        world.put(policy: policy(world, seconds: 3600))
        try await world.serving(world.makeService()) { world in
            for _ in 0..<100 {
                let sent = try await world.send("+14155550123")
                #expect(sent.delivery == .simulated)
                #expect(try await world.check("246810", "+14155550123").result == .accepted)
            }
            #expect(world.provider.submissions.isEmpty)
            // Just outside the pattern.
            #expect(try await world.send("+14155560123").delivery == .sent)
            #expect(try await world.check("246810", "+14155560123").result == .rejected)
        }
    }

    @Test("a fixed code lives no longer than a derived one", arguments: TransportUnderTest.allCases)
    func fixedCodeExpires(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        world.put(policy: policy(world, seconds: 3600))
        try await world.serving(world.makeService()) { world in
            _ = try await world.send("+14155550123")
            world.clock.advance(.seconds(300))
            let checked = try await world.check("246810", "+14155550123")
            #expect(checked.result == .expired)
        }
    }

    @Test(
        "F164 after its end date the number takes the real path, and its code is never accepted",
        arguments: TransportUnderTest.allCases)
    func endDate(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        world.put(policy: policy(world, seconds: 100))
        try await world.serving(world.makeService()) { world in
            _ = try await world.send("+14155550123")
            world.clock.advance(.seconds(100))
            #expect(try await world.check("246810", "+14155550123").result == .expired)
            #expect(try await world.send("+14155550123").delivery == .sent)
            #expect(try await world.check("246810", "+14155550123").result != .accepted)
        }
    }

    @Test(
        "F141 F142 rule 10: no code, no full number in any log line or row, at debug too",
        arguments: TransportUnderTest.allCases)
    func secrets(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService()
        try await world.serving(service) { world in
            let sent = try await world.send(returnCode: true, key: "k")
            let code = try #require(sent.code).reveal()
            _ = try await world.check(world.wrong(code))
            world.provider.answer { _ in .refused(reason: "blocked") }
            _ = try? await world.send("+14155550001")
            let opened = try await world.shop.call(
                OpenUpgoing(schemeCode: World.schemeCode, purpose: "login", number: World.number))
            _ = try await world.gateway.call(
                ReceiveSMS(
                    messageId: "m", sender: World.number, receiver: "1", text: opened.text))
            _ = try await world.check(code)
            var places = world.recording.lines
            for table in SMSCodeTables.schemas {
                places += world.disk.dump(table.name).map {
                    "\($0.key) \(String(decoding: $0.body, as: UTF8.self))"
                }
            }
            #expect(places.count > 10)
            for place in places {
                #expect(!place.contains(code))
                #expect(!place.contains("4155552671") && !place.contains("4155550001"))
                #expect(!place.contains(UpgoingText.normal(opened.text)))
            }
        }
    }

    @Test("F144 a month later only counts are left", arguments: TransportUnderTest.allCases)
    func retention(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let service = world.makeService()
        try await world.serving(service) { world in
            _ = try await world.send()
            _ = try await world.check("000000")
            let opened = try await world.shop.call(
                OpenUpgoing(schemeCode: World.schemeCode, purpose: "login"))
            _ = try await world.gateway.call(
                ReceiveSMS(
                    messageId: "m", sender: World.number, receiver: "1", text: opened.text))
            world.clock.advance(.seconds(31 * 86_400))
            _ = try await service.store.sweep(now: world.clock.now(), limit: 1000)
            for table in SMSCodeTables.schemas where table.name != "sms_day" {
                #expect(world.disk.count(in: table.name) == 0, "\(table.name)")
            }
            #expect(world.disk.count(in: "sms_day") > 0)
        }
    }

    @Test(
        "F014 a counted guess survives the end of the process",
        arguments: TransportUnderTest.allCases)
    func restart(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let code = Lock("")
        try await world.serving(world.makeService(), host: "first") { world in
            _ = try await world.send()
            code.withLock { $0 = world.provider.code(for: World.number) }
            let right = code.withLock(\.self)
            for step in 1...3 { _ = try await world.check(world.wrong(right, step)) }
        }
        world.bus.crash(host: "first")
        try await world.serving(world.makeService(), host: "second") { world in
            let right = code.withLock(\.self)
            let fourth = try await world.check(world.wrong(right, 4))
            #expect(fourth.attemptsLeft == 1)
            let last = try await world.check(right)
            #expect(last.result == .accepted)
        }
    }

    @Test(
        "a wall clock that jumps back grants neither attempts nor lifetime",
        arguments: TransportUnderTest.allCases)
    func clock(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService()) { world in
            _ = try await world.send()
            let code = world.provider.code(for: World.number)
            for step in 1...5 { _ = try await world.check(world.wrong(code, step)) }
            world.clock.jumpWall(.seconds(-7200))
            #expect(try await world.check(code).result == .exhausted)
            let refused = await failure { () async throws(ServiceFailure) in try await world.send()
            }
            #expect(refused.code == .guessesExhausted)
        }
    }

    @Test(
        "F061 a daemon two seconds behind accepts a resend at the told moment",
        arguments: TransportUnderTest.allCases)
    func skew(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving(world.makeService(), host: "first") { world in
            _ = try await world.send()
        }
        world.bus.crash(host: "first")
        world.clock.advance(.seconds(60))
        let behind = Behind(clock: world.clock)
        try await world.serving(world.makeService(instance: "i2", clock: behind), host: "second") {
            world in
            let sent = try await world.send()
            #expect(sent.delivery == .sent)
        }
    }

    private struct Behind: WallClock {
        let clock: ManualClock
        func now() -> WallTime { clock.now() - .seconds(2) }
    }

    @Test(
        "counters and codes outlive a rotation of their keys",
        arguments: TransportUnderTest.allCases)
    func rotation(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        let code = Lock("")
        try await world.serving(world.makeService(), host: "first") { world in
            _ = try await world.send()
            code.withLock { $0 = world.provider.code(for: World.number) }
            for step in 1...4 {
                _ = try await world.check(world.wrong(code.withLock(\.self), step))
            }
        }
        world.bus.crash(host: "first")
        let rotated = FakeCryptography(currentVersion: 2, versions: [1, 2])
        try await world.serving(
            world.makeService(instance: "i2", cryptography: rotated), host: "second"
        ) { world in
            let early = await failure { () async throws(ServiceFailure) in try await world.send() }
            #expect(early.code == .cooldown)
            let right = code.withLock(\.self)
            let fifth = try await world.check(world.wrong(right, 5))
            #expect(fifth.attemptsLeft == 0)
            let last = try await world.check(right)
            #expect(last.result == .exhausted)
        }
    }

    @Test("F116 a configuration without a provider for the codes of the scenes is refused")
    func noProvider() {
        var configuration = SMSCodeConfiguration()
        #expect(configuration.problems(isProduction: false).isEmpty)
        configuration.providers = []
        #expect(configuration.problems() == ["providers is empty: no code could be sent"])
        #expect(!configuration.problems(isProduction: true).isEmpty)
    }

    @Test("what is wrong with a configuration is said together")
    func configuration() {
        var configuration = SMSCodeConfiguration()
        #expect(configuration.problems().isEmpty)
        let inProduction = configuration.problems(isProduction: true)
        #expect(inProduction.count == 1)
        #expect(
            inProduction.first?.contains("providers") == true
                && inProduction.first?.contains("SMSProvider") == true)
        configuration.providers = ["acme"]
        #expect(configuration.problems().count == 1, "no such provider is built in")
        configuration.providers = []
        configuration.guessesPerHour = 6
        configuration.sendsPerDay = 41
        configuration.receivingNumbers = ["call me"]
        #expect(configuration.problems().count == 4)
    }
}
