import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit

@testable import VerificationService

/// The verification service with everything around it played by the test: schemes, codes, up-going
/// texts and carriers answer over a fake bus; time stands still unless told to move.
final class World: Sendable {
    static let schemeCode = "FA00000000000001"
    static let otherSchemeCode = "FA00000000000002"
    static let number = PhoneNumber.sample("+8613800000001")
    static let otherNumber = PhoneNumber.sample("+8613800000002")
    static let template = "100001"
    static let node = "300000100001005"
    static let purpose = "scene:100001"

    let disk = MemoryDisk()
    let clock = ManualClock()
    let random = SeededRandom(seed: 7)
    let bus = FakeBus()
    let log = RecordingLog()
    let disabled = Lock(false)
    /// What the sms code service says of any guess; it remembers which request key used one up.
    let codeAnswer = Lock(RedeemedGuess.sample(.accepted))
    private let redeemedUnder = Lock<[GuessID: String]>([:])
    let upgoingAnswer = Lock(CheckedUpgoing.sample(.received))
    /// What the carrier says; exchanges are counted by reference.
    let carrierAnswer = Lock<Result<PhoneNumber, ServiceFailure>>(.success(World.number))
    let references = Lock<[String]>([])
    /// Turns that every answer takes, so that calls overlap in races.
    private let turns: Int

    init(turns: Int = 0) {
        self.turns = turns
        bus.on(GetScheme.self) { [self] request, _ throws(ServiceFailure) in
            try scheme(request.schemeCode)
        }
        bus.on(RedeemGuess.self) { [self] request, options throws(ServiceFailure) in
            await takeTurns()
            let first = redeemedUnder.withLock { used in
                let key = options.requestKey ?? "none"
                if let first = used[request.guessId] { return first }
                used[request.guessId] = key
                return key
            }
            return first == options.requestKey
                ? codeAnswer.withLock(\.self) : .sample(.alreadyUsed)
        }
        bus.on(CheckUpgoing.self) { [self] _, _ throws(ServiceFailure) in
            await takeTurns()
            return upgoingAnswer.withLock(\.self)
        }
        bus.on(ExchangeCarrierToken.self) { [self] request, _ throws(ServiceFailure) in
            references.withLock { $0.append(request.reference) }
            await takeTurns()
            return ExchangedToken(
                number: try carrierAnswer.withLock { $0 }.get(), carrier: .mobile)
        }
    }

    private func takeTurns() async { for _ in 0..<turns { await Task.yield() } }

    /// A store whose decisions take a turn before and after, as a disk would.
    func slowStore() -> MemoryStore {
        store(
            weather: StoreWeather(
                pause: YieldingPause(), timeBefore: { .milliseconds(1) },
                timeAfter: { .milliseconds(1) }))
    }

    private func scheme(_ code: String) throws(ServiceFailure) -> Scheme {
        let owners = [Self.schemeCode: "acme", Self.otherSchemeCode: "rival"]
        guard let owner = owners[code] else {
            throw ServiceFailure(.schemeNotFound, "there is no such scheme")
        }
        return Scheme(
            schemeCode: code, version: 1, name: "Example", owner: owner,
            app: AppIdentity(), policy: SchemePolicy(defaultRegion: "CN"),
            disabled: disabled.withLock(\.self), createdAtMilliseconds: 1,
            updatedAtMilliseconds: 1)
    }

    // MARK: Instances

    func store(weather: StoreWeather = .calm) -> MemoryStore {
        MemoryStore(tables: VerificationTables.schemas, disk: disk, weather: weather)
    }

    /// One process. Another call is another process on the same store.
    func instance(
        store: MemoryStore? = nil, pause: (any Pause)? = nil, scorer: (any PhoneScorer)? = nil,
        keys: FakeCryptography = FakeCryptography(salt: 1)
    ) -> VerificationService {
        let store = store ?? self.store()
        return VerificationService(
            store: store,
            answers: Answers(
                store: store, sealer: FakeCryptography(salt: 3), digest: FakeCryptography(salt: 4),
                clock: clock),
            tokens: keys, sealer: FakeCryptography(salt: 2), signer: FakeSigner(),
            phoneNumbers: FakePhoneNumberParser(), bus: bus, carrier: BusCarrierGateway(bus: bus),
            scorer: scorer, clock: clock, pause: pause ?? clock, random: random, log: Log(log))
    }

    /// Serves instances on a bus of their own, so that every message is encoded and decoded.
    func serve(
        _ services: [VerificationService], over transport: TransportUnderTest,
        _ body: (Callers) async throws -> Void
    ) async throws {
        let wire = BusUnderTest(transport, clock: clock)
        let workers = services.enumerated().map { index, service in
            BusWorker(
                service.handlers,
                identity: BusWorker.Identity(
                    daemon: "fusion-verification", instanceID: "i\(index)", version: "test"),
                listener: wire.listener(host: "h\(index)"), clock: clock, pause: clock)
        }
        try await wire.serving(workers) { try await body(Callers(wire, random)) }
        // Lets the deadlines of answered calls run out.
        clock.advance(.seconds(3600))
    }

    func serve(
        over transport: TransportUnderTest, _ body: (Callers) async throws -> Void
    ) async throws {
        try await serve([instance()], over: transport, body)
    }

    // MARK: Requests

    func open(
        _ evidence: Evidence, run: RunID? = nil, step: Int = 1, scheme: String = World.schemeCode,
        purpose: String = World.purpose, expected: PhoneNumber? = nil,
        excluded: PhoneNumber? = nil, score: Bool? = nil, lifetime: Duration = .seconds(300)
    ) -> OpenVerification {
        OpenVerification(
            schemeCode: scheme, templateId: Self.template, runId: run ?? .sample, step: step,
            nodeId: Self.node, purpose: purpose, evidence: evidence, expectedNumber: expected,
            excludedNumber: excluded, score: score,
            expiresAtMilliseconds: (clock.now() + lifetime).millisecondsSince1970)
    }
}

/// The service as each kind of peer reaches it.
struct Callers: Sendable {
    let scene: any BusCaller
    let owner: any BusCaller
    let rival: any BusCaller
    let `operator`: any BusCaller

    init(_ wire: BusUnderTest, _ random: any RandomSource) {
        func caller(_ roles: Roles, _ name: String) -> any BusCaller {
            guard let principal = Principal(roles: roles, name: name) else {
                preconditionFailure("a test's own name")
            }
            return wire.caller(principal, random: random)
        }
        scene = caller(.service, "scene")
        owner = caller(.integrator, "acme")
        rival = caller(.integrator, "rival")
        self.operator = caller(.operator, "root")
    }
}

/// Waits without time: for races in which everybody is to move at once.
struct YieldingPause: Pause {
    func wait(_ span: Duration) async throws(CancellationError) {
        await Task.yield()
        if Task.isCancelled { throw CancellationError() }
    }
    func steadyNow() -> Duration { .zero }
}

/// Lets other tasks move until `condition` holds.
func eventually(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}

extension PhoneNumber {
    static func sample(_ text: String) -> PhoneNumber {
        guard let number = PhoneNumber(e164: text) else { preconditionFailure("a test's own text") }
        return number
    }
}

extension Identifier {
    static var sample: Self { Self(random: Array(repeating: 1, count: 16)) }
    static func sample(_ byte: UInt8) -> Self { Self(random: Array(repeating: byte, count: 16)) }
}

extension RedeemedGuess {
    static func sample(
        _ result: CodeResult, number: PhoneNumber = World.number,
        scheme: String = World.schemeCode, purpose: String = World.purpose,
        run: RunID? = .sample, attemptsLeft: Int? = nil
    ) -> Self {
        Self(
            result: result, number: number, schemeCode: scheme, purpose: purpose, runId: run,
            challengeId: .sample, attemptsLeft: attemptsLeft, expiresAtMilliseconds: 1)
    }
}

extension CheckedUpgoing {
    static func sample(
        _ result: UpgoingResult, number: PhoneNumber? = World.number,
        purpose: String = World.purpose, run: RunID? = .sample
    ) -> Self {
        Self(
            result: result, number: number, schemeCode: World.schemeCode, purpose: purpose,
            runId: run)
    }
}

extension Evidence {
    static let code = Evidence(kind: .smsCode, guessId: .sample)
    static let upgoing = Evidence(kind: .upgoing, upgoingId: .sample)
    static let carrier = Evidence(kind: .carrier, carrierToken: Secret("carrier-token"))
}
