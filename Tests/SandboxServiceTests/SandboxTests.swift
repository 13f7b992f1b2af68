import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import TestKit
import Testing

@testable import SandboxService

/// The sandbox on a bus, with a code service that only remembers what it is told.
private final class World: Sendable {
    let clock = ManualClock()
    let random = SeededRandom(seed: 3)
    let bus: BusUnderTest
    let told = Lock<(receipts: [ReceiveReceipt], texts: [ReceiveSMS])>(([], []))
    let service: SandboxService
    let delivery: SandboxDelivery

    init(
        _ transport: TransportUnderTest,
        configuration: SandboxConfiguration = SandboxConfiguration()
    ) {
        let bus = BusUnderTest(transport, clock: clock)
        self.bus = bus
        service = SandboxService(
            clock: clock, pause: clock, random: random,
            bus: Self.caller(bus, .service, random),
            phoneNumbers: FakePhoneNumberParser(), signer: FakeSigner(),
            configuration: configuration)
        delivery = SandboxDelivery(service: service)
    }

    static func caller(
        _ bus: BusUnderTest, _ roles: Roles, _ random: SeededRandom
    ) -> any BusCaller {
        guard let principal = Principal(roles: roles, name: "\(roles)") else {
            preconditionFailure("a principal has a name")
        }
        return bus.caller(principal, random: random, retry: RetryPolicy(attemptsMax: 1))
    }

    var daemon: any BusCaller { Self.caller(bus, .service, random) }
    var person: any BusCaller { Self.caller(bus, .operator, random) }

    func serving(_ body: @escaping @Sendable (World) async throws -> Void) async throws {
        var codes = HandlerTable()
        codes.on(ReceiveReceipt.self) { [told] receipt, _ throws(ServiceFailure) in
            told.withLock { $0.receipts.append(receipt) }
            return EmptyReply()
        }
        codes.on(ReceiveSMS.self) { [told] text, _ throws(ServiceFailure) in
            told.withLock { $0.texts.append(text) }
            return ReceivedSMS(matched: true, repeated: false)
        }
        let workers = [(service.handlers, "sandbox"), (codes, "smscode")].map { table, name in
            BusWorker(
                table, identity: BusWorker.Identity(daemon: name, instanceID: name, version: "0"),
                listener: bus.listener(host: name), clock: clock, pause: clock)
        }
        try await bus.serving(workers) { try await body(self) }
    }

    /// Runs `body`, and lets a second pass again and again until it is done.
    func whileTimePasses<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        let isDone = Lock(false)
        async let value = {
            let value = await body()
            isDone.withLock { $0 = true }
            return value
        }()
        while !isDone.withLock({ $0 }) {
            for _ in 0..<100 { await Task.yield() }
            // Over sockets a request takes real time to come where it waits for the clock.
            if clock.sleepersCount > 0 { clock.advance(.seconds(1)) }
        }
        return await value
    }

    func submit(
        _ reference: String, to number: String = "+14155552671", text: String = "hello"
    ) async throws(ServiceFailure) -> SubmittedSMS {
        guard let number = PhoneNumber(e164: number) else {
            throw ServiceFailure(.numberInvalid, "test")
        }
        return try await daemon.call(
            SubmitSMS(reference: reference, number: number, text: Secret(text)))
    }

    func inbox(_ number: String? = "+14155552671") async throws(ServiceFailure) -> [InboxMessage] {
        try await person.call(ReadInbox(number: number)).messages
    }

    func fault(
        _ fault: SMSFault, number: String? = "+14155552671", delay: Int64? = nil
    ) async throws(ServiceFailure) {
        _ = try await person.call(
            PutFault(number: number, fault: fault, delayMilliseconds: delay))
    }
}

private func failure<Value>(
    of call: () async throws(ServiceFailure) -> Value
) async -> ErrorCode? {
    do throws(ServiceFailure) { _ = try await call() } catch { return error.code }
    return nil
}

@Suite("sandbox: messages", .closesBuses)
struct SandboxMessageTests {
    @Test(
        "an SMS arrives at any number, a repeat of its reference does not, and a receipt follows",
        arguments: TransportUnderTest.allCases)
    func arrives(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            let first = try await world.submit("r1")
            #expect(first.accepted && !first.repeated)
            #expect(try await world.submit("r1").repeated)
            #expect(try await world.inbox().map(\.text) == ["hello"])
            #expect(try await world.inbox(nil).count == 1)
            #expect(try await world.inbox("+14155550000").isEmpty)
            await world.delivery.deliverDue()
            #expect(world.told.withLock { $0.receipts.map(\.reference) } == ["r1"])
            #expect(world.told.withLock { $0.receipts.first?.delivered } == true)
        }
    }

    @Test(
        "refused, delayed and undelivered, by number or for all",
        arguments: TransportUnderTest.allCases)
    func faults(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            try await world.fault(.refused)
            let refused = try await world.submit("r1")
            #expect(!refused.accepted && refused.reason == "blocked_by_carrier")
            #expect(try await world.submit("r2", to: "+14155550000").accepted)
            for (fault, reason) in [
                (SMSFault.incapable, "sms_not_supported"), (.foreign, "unknown_subscriber"),
            ] {
                try await world.fault(fault)
                let refused = try await world.submit("r-\(reason)")
                #expect(!refused.accepted && refused.reason == reason)
            }
            try await world.fault(.delayed, delay: 30_000)
            #expect(try await world.submit("r3").accepted)
            #expect(try await world.inbox().isEmpty)
            world.clock.advance(.seconds(30))
            await world.delivery.deliverDue()
            #expect(try await world.inbox().map(\.reference) == ["r3"])
            try await world.fault(.undelivered, number: nil)
            #expect(try await world.submit("r4").accepted)
            await world.delivery.deliverDue()
            #expect(try await world.inbox().count == 1)
            let last = world.told.withLock { $0.receipts.last }
            #expect(last?.reference == "r4" && last?.delivered == false)
            try await world.fault(.none, number: nil)
            #expect(try await world.submit("r5").accepted)
            #expect(try await world.inbox().count == 2)
        }
    }

    @Test(
        "a silent provider takes the message, does not answer in time, and drops the repeat",
        arguments: TransportUnderTest.allCases)
    func silent(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            try await world.fault(.silent)
            let outcome = await world.whileTimePasses {
                await failure { () async throws(ServiceFailure) in try await world.submit("r1") }
            }
            #expect(outcome != nil)
            try await world.fault(.none)
            let again = try await world.submit("r1")
            #expect(again.accepted && again.repeated)
            #expect(try await world.inbox().count == 1)
        }
    }

    @Test(
        "a reader waits for the next message, and not longer than it said",
        arguments: TransportUnderTest.allCases)
    func longPoll(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            _ = try await world.submit("r1")
            let sequence = try #require(try await world.inbox().last?.sequence)
            let arrived = try await withThrowingTaskGroup { group in
                group.addTask {
                    try await world.person.call(
                        ReadInbox(
                            number: "+14155552671", afterSequence: sequence,
                            waitMilliseconds: 1_500)
                    ).messages
                }
                while world.service.readers.waitingCount == 0 { await Task.yield() }
                _ = try await world.submit("r2")
                return try await group.next() ?? []
            }
            #expect(arrived.map(\.reference) == ["r2"])
        }
    }

    @Test(
        "a person's SMS goes to the code service with its id",
        arguments: TransportUnderTest.allCases)
    func mobileOriginated(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            let received = try await world.person.call(
                SendMobileOriginated(
                    sender: "0014155552671", receiver: "10690001", text: "ABCD", messageId: "m1"))
            #expect(received.matched)
            let text = world.told.withLock { $0.texts.first }
            #expect(text?.sender == "+14155552671" && text?.messageId == "m1")
            #expect(
                text?.sentAtMilliseconds == world.clock.now().millisecondsSince1970)
        }
    }

    @Test("memory stays within its bounds")
    func bounds() {
        var state = SandboxState()
        guard let number = PhoneNumber(e164: "+14155552671") else { return }
        for index in 0..<3_000 {
            state.arrive(
                SandboxState.Arrival(number: number, text: "t", reference: "\(index)"),
                at: WallTime(millisecondsSince1970: 0))
        }
        #expect(
            state.read(number, after: nil, limit: 100).count == SandboxState.messagesPerInboxMax)
        #expect(state.read(nil, after: 0, limit: 100_000).count <= 2 * SandboxState.newestMax)
        var map = BoundedMap<Int, Int>(countMax: 3)
        for index in 0..<10 { map.put(index, index) }
        #expect(map.count == 3 && map[9] == 9 && map[6] == nil)
    }
}

@Suite("sandbox: handsets", .closesBuses)
struct SandboxHandsetTests {
    @Test(
        "F167 an unknown number has a SIM that works; a token is good for one exchange",
        arguments: TransportUnderTest.allCases)
    func exchange(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            let fetched = try await world.person.call(FetchCarrierToken(number: "+14155552671"))
            #expect(fetched.innerCode == 1_600_000 && fetched.maskedNumber == "+1415•••71")
            let token = try #require(fetched.carrierToken)
            let first = try await world.daemon.call(
                ExchangeCarrierToken(carrierToken: token, reference: "v1"))
            #expect(first.number.e164 == "+14155552671")
            let again = try await world.daemon.call(
                ExchangeCarrierToken(carrierToken: token, reference: "v1"))
            #expect(again == first)
            let other = await failure { () async throws(ServiceFailure) in
                try await world.daemon.call(
                    ExchangeCarrierToken(carrierToken: token, reference: "v2"))
            }
            #expect(other == .tokenInvalid)
            let unknown = await failure { () async throws(ServiceFailure) in
                try await world.daemon.call(
                    ExchangeCarrierToken(carrierToken: Secret("CTx"), reference: "v3"))
            }
            #expect(unknown == .tokenInvalid)
        }
    }

    @Test(
        "F159 F161 each fault gives its documented codes and no token",
        arguments: TransportUnderTest.allCases)
    func faults(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            let expectations: [(SIMFault, Int, Int?)] = [
                (.noSIM, 1_600_007, nil), (.noCellularData, 1_600_008, nil),
                (.wifiSwitch, 1_600_011, 80_801), (.permission, 1_600_025, 80_006),
                (.slow, 1_600_015, nil),
            ]
            for (fault, inner, carrier) in expectations {
                let sim = try await world.person.call(
                    PutSIM(numbers: ["+14155552671"], carrier: .unicom, fault: fault))
                let fetched = try await world.person.call(FetchCarrierToken(simId: sim.simId))
                #expect(fetched.innerCode == inner && fetched.carrierCode == carrier)
                #expect(fetched.carrierToken == nil && fetched.carrier == .unicom)
            }
        }
    }

    @Test(
        "an exchange may be refused; a slow one answers the same reference later",
        arguments: TransportUnderTest.allCases)
    func exchangeFaults(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            let sim = try await world.person.call(
                PutSIM(numbers: ["+14155552671"], fault: .exchangeRefused))
            let fetched = try await world.person.call(FetchCarrierToken(simId: sim.simId))
            let token = try #require(fetched.carrierToken)
            @Sendable func exchange() async throws(ServiceFailure) -> ExchangedToken {
                try await world.daemon.call(
                    ExchangeCarrierToken(carrierToken: token, reference: "v1"))
            }
            #expect(await failure(of: exchange) == .providerRefused)
            _ = try await world.person.call(
                PutSIM(simId: sim.simId, numbers: ["+14155552671"], fault: .exchangeSlow))
            let slow = await world.whileTimePasses { await failure(of: exchange) }
            #expect(slow == .carrierUnavailable || slow == .deadlinePassed)
            _ = try await world.person.call(
                PutSIM(simId: sim.simId, numbers: ["+14155552671"], fault: SIMFault.none))
            #expect(try await exchange().number.e164 == "+14155552671")
        }
    }

    @Test(
        "dual SIM: the data slot's number answers; unknown phones and slots are refused",
        arguments: TransportUnderTest.allCases)
    func dualSIM(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            let numbers = ["+14155552671", "+14155552672"]
            let sim = try await world.person.call(PutSIM(numbers: numbers, dataSlot: 1))
            let token = try await world.person.call(FetchCarrierToken(simId: sim.simId))
            let exchanged = try await world.daemon.call(
                ExchangeCarrierToken(
                    carrierToken: try #require(token.carrierToken), reference: "v1"))
            #expect(exchanged.number.e164 == "+14155552672")
            let refusals: [(ErrorCode, PutSIM)] = [
                (.invalidParameters, PutSIM(numbers: numbers, dataSlot: 2)),
                (.invalidParameters, PutSIM(numbers: [])),
                (.simNotFound, PutSIM(simId: world.random.identifier(), numbers: numbers)),
            ]
            for (code, request) in refusals {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await world.person.call(request)
                }
                #expect(refused == code)
            }
        }
    }

    @Test("a human proof is right once", arguments: TransportUnderTest.allCases)
    func proofs(_ transport: TransportUnderTest) async throws {
        let world = World(transport)
        try await world.serving { world in
            func check(_ proof: String) async throws(ServiceFailure) -> Bool {
                try await world.daemon.call(CheckProof(proof: proof)).accepted
            }
            var answers: [Bool] = []
            for proof in ["human-12345678", "human-12345678", "human-1234567", "robot-12345678"] {
                answers.append(try await check(proof))
            }
            #expect(answers == [true, false, false, false])
        }
    }

    @Test("the sandbox has a problem with production")
    func production() {
        let configuration = SandboxConfiguration()
        #expect(configuration.problems(isProduction: false).isEmpty)
        #expect(configuration.problems(isProduction: true).count == 1)
    }
}
