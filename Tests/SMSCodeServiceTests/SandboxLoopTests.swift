import Bus
import Effects
import Messages
import Primitives
import SMSCodeService
import SandboxService
import ServiceTestKit
import TestKit
import Testing

/// The code service and the sandbox on one bus, as on a developer's machine.
@Suite("with the sandbox", .closesBuses)
struct SandboxLoopTests {
    private func run(
        _ transport: TransportUnderTest,
        _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        let world = World(transport)
        let sandbox = SandboxService(
            clock: world.clock, pause: world.clock, random: world.random,
            bus: world.caller(.service, "sandbox"), phoneNumbers: FakePhoneNumberParser(),
            signer: FakeSigner())
        let service = world.makeService(
            providers: [BusSMSProvider(bus: world.caller(.service, "smscode"))])
        try await world.serving(service) { world in
            try await withThrowingTaskGroup { group in
                let worker = world.worker(sandbox.handlers, "sandbox", host: "sandbox")
                group.addTask { try await worker.run() }
                for part in service.parts() + sandbox.parts() {
                    group.addTask { try await part.run() }
                }
                defer { group.cancelAll() }
                try await body(world)
            }
        }
    }

    private func text(_ world: World) async throws(ServiceFailure) -> String {
        try await world.caller(.operator, "root").call(ReadInbox(number: World.number))
            .messages.last?.text ?? ""
    }

    @Test(
        "a code is sent, read from the inbox and accepted; the receipt comes back",
        arguments: TransportUnderTest.allCases)
    func code(_ transport: TransportUnderTest) async throws {
        try await run(transport) { world in
            let sent = try await world.send()
            #expect(sent.delivery == .sent)
            let text = try await text(world)
            let code = text.split { !$0.isNumber }.map(String.init).first { $0.count == 6 } ?? ""
            var delivery = DeliveryState.sent
            for _ in 0..<2_000 where delivery != .delivered {
                world.clock.advance(.milliseconds(50))
                delivery =
                    try await world.shop.call(
                        GetCodeStatus(challengeId: try #require(sent.challengeId))
                    ).delivery
            }
            #expect(delivery == .delivered)
            let checked = try await world.check(code)
            #expect(checked.result == .accepted)
        }
    }

    @Test(
        "a text from a simulated handset answers an up-going text",
        arguments: TransportUnderTest.allCases)
    func upgoing(_ transport: TransportUnderTest) async throws {
        try await run(transport) { world in
            let opened = try await world.shop.call(
                OpenUpgoing(schemeCode: World.schemeCode, purpose: "login", number: World.number))
            let received = try await world.caller(.operator, "root").call(
                SendMobileOriginated(
                    sender: World.number, receiver: opened.receivingNumber, text: opened.text))
            #expect(received.matched)
            let checked = try await world.shop.call(CheckUpgoing(upgoingId: opened.upgoingId))
            #expect(checked.result == .received && checked.number?.e164 == World.number)
        }
    }

    @Test(
        "a provider that refuses is the answer; one that is silent is waited for, not repeated",
        arguments: TransportUnderTest.allCases)
    func faults(_ transport: TransportUnderTest) async throws {
        try await run(transport) { world in
            let root = world.caller(.operator, "root")
            _ = try await root.call(PutFault(number: World.number, fault: .refused))
            let refused = await failure { () async throws(ServiceFailure) in
                try await world.send()
            }
            #expect(refused.code == .providerRefused)
            #expect(refused.field == "blocked_by_carrier")
            _ = try await root.call(PutFault(number: World.number, fault: .silent))
            let isDone = Lock(false)
            async let queued = {
                let sent = try await world.send()
                isDone.withLock { $0 = true }
                return sent
            }()
            // Once the provider has the message the send only waits. Each step goes over the bus
            // once, and all of them together end before the code does. Small steps: the send must
            // get its turn between the end of its wait and its deadline, three seconds later.
            while try await root.call(ReadInbox(number: World.number)).messages.isEmpty {}
            for _ in 0..<600 where !isDone.withLock({ $0 }) {
                _ = try await root.call(ReadInbox(number: World.number))
                world.clock.advance(.milliseconds(100))
            }
            let sent = try await queued
            // The receipt may come before the provider's answer is given up.
            #expect(sent.delivery == .queued || sent.delivery == .delivered)
            _ = try await root.call(PutFault(number: World.number, fault: SMSFault.none))
            var delivery = sent.delivery
            for _ in 0..<400 where delivery != .delivered {
                for _ in 0..<100 { await Task.yield() }
                world.clock.advance(.milliseconds(250))
                delivery =
                    try await world.shop.call(
                        GetCodeStatus(challengeId: try #require(sent.challengeId))
                    ).delivery
            }
            #expect(delivery == .delivered)
            // The silent provider had it already: the repeat of the reference was dropped.
            let inbox = try await root.call(ReadInbox(number: World.number))
            #expect(inbox.messages.count == 1)
        }
    }
}
