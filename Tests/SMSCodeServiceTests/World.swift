import Bus
import Effects
import Messages
import Primitives
import SMSCodeService
import ServiceTestKit
import Storage
import TestKit
import Testing

/// A provider whose answers a test sets; it remembers every submission.
final class FakeProvider: SMSProvider {
    struct Submission: Sendable {
        let reference: String
        let number: PhoneNumber
        let text: String
        let at: Duration
    }
    typealias Answer = @Sendable (Submission) async -> SubmitOutcome

    let name: String
    private let pause: any Pause
    private let state = Lock<(all: [Submission], answer: Answer)>(([], { _ in .accepted }))

    init(_ name: String = "fake", pause: any Pause) {
        self.name = name
        self.pause = pause
    }

    func submit(
        reference: String, number: PhoneNumber, text: Secret<String>, timeout: Duration
    ) async -> SubmitOutcome {
        let submission = Submission(
            reference: reference, number: number, text: text.reveal(), at: pause.steadyNow())
        let answer = state.withLock { state in
            state.all.append(submission)
            return state.answer
        }
        return await answer(submission)
    }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }
    var submissions: [Submission] { state.withLock { $0.all } }
    var texts: [String] { submissions.map(\.text) }

    /// The code of the newest text to `number`: its longest run of digits.
    func code(for number: String) -> String {
        let text = submissions.last { $0.number.e164 == number }?.text ?? ""
        return text.split { !$0.isNumber }.map(String.init).max { $0.count < $1.count } ?? ""
    }
}

/// Everything that one test needs: a bus, schemes, a code service, and a clock to move by hand.
final class World: Sendable {
    static let schemeCode = "FA00000000000001"
    static let number = "+14155552671"

    let clock = ManualClock()
    let random = SeededRandom(seed: 7)
    let disk = MemoryDisk()
    let recording = RecordingLog()
    let bus: BusUnderTest
    let provider: FakeProvider
    let providers: [FakeProvider]
    let schemes = Lock<[String: Scheme]>([:])

    init(
        _ transport: TransportUnderTest, policy: SchemePolicy = .standard,
        providers names: [String] = ["fake"]
    ) {
        bus = BusUnderTest(transport, clock: clock)
        let clock = clock
        providers = names.map { FakeProvider($0, pause: clock) }
        provider = providers[0]
        put(policy: policy)
    }

    func put(
        policy: SchemePolicy, code: String = World.schemeCode, owner: String = "shop",
        disabled: Bool = false
    ) {
        let scheme = Scheme(
            schemeCode: code, version: 1, name: "Shop", owner: owner, app: AppIdentity(),
            policy: policy, disabled: disabled, createdAtMilliseconds: 0, updatedAtMilliseconds: 0)
        schemes.withLock { $0[code] = scheme }
    }

    /// One more instance of the service on the same rows; nothing of another one's memory.
    func makeService(
        instance: String = "i1", cryptography: FakeCryptography = FakeCryptography(),
        clock other: (any WallClock)? = nil, providers own: [any SMSProvider]? = nil,
        configuration change: (inout SMSCodeConfiguration) -> Void = { _ in }
    ) -> SMSCodeService {
        var configuration = SMSCodeConfiguration()
        configuration.receivingNumbers = ["10690001"]
        change(&configuration)
        let clock: any WallClock = other ?? clock
        let store = MemoryStore(tables: SMSCodeTables.schemas, disk: disk)
        return SMSCodeService(
            store: store,
            answers: Answers(
                store: store, sealer: cryptography, digest: cryptography, clock: clock),
            clock: clock, pause: self.clock, random: random, bus: caller(.service, "smscode"),
            phoneNumbers: FakePhoneNumberParser(), numberDigest: cryptography,
            guessDigest: cryptography, codes: cryptography, sealer: cryptography,
            providers: own ?? providers, instanceID: instance, log: Log(recording),
            configuration: configuration)
    }

    func caller(_ roles: Roles, _ name: String) -> any BusCaller {
        guard let principal = Principal(roles: roles, name: name) else {
            preconditionFailure("a principal has a name")
        }
        return bus.caller(principal, random: random)
    }

    var shop: any BusCaller { caller(.integrator, "shop") }
    var scene: any BusCaller { caller(.service, "scene") }
    var gateway: any BusCaller { caller(.gateway, "gateway") }

    /// Runs `body` while `service` serves the bus.
    func serving(
        _ service: SMSCodeService, host: String = "host",
        _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        var schemeTable = HandlerTable()
        schemeTable.on(GetScheme.self) { [schemes] request, _ throws(ServiceFailure) in
            guard let scheme = schemes.withLock({ $0[request.schemeCode] }) else {
                throw ServiceFailure(.schemeNotFound, "none")
            }
            return scheme
        }
        let workers = [
            worker(schemeTable, "token", host: "token-\(host)"),
            worker(service.handlers, "smscode", host: host),
        ]
        try await bus.serving(workers) { try await body(self) }
    }

    func worker(_ table: HandlerTable, _ name: String, host: String) -> BusWorker {
        BusWorker(
            table,
            identity: BusWorker.Identity(daemon: name, instanceID: "\(name)-1", version: "0"),
            listener: bus.listener(host: host), clock: clock, pause: clock, log: Log(recording))
    }

    // MARK: Short forms

    func send(
        _ number: String = World.number, purpose: String = "login",
        text: MessageTextRequest? = nil, codeLength: Int? = nil, codeType: Int? = nil,
        lifetime: Int64? = nil, cooldown: Int64? = nil, policy: DuplicatePolicy? = nil,
        returnCode: Bool? = nil, key: String? = nil, scheme: String = World.schemeCode
    ) async throws(ServiceFailure) -> SentCode {
        try await shop.call(
            SendCode(
                schemeCode: scheme, purpose: purpose, number: number, text: text,
                codeLength: codeLength, codeType: codeType, lifetimeSeconds: lifetime,
                cooldownSeconds: cooldown, duplicatePolicy: policy, returnCode: returnCode),
            CallOptions(requestKey: key))
    }

    func check(
        _ code: String, _ number: String = World.number, purpose: String = "login",
        caseSensitive: Bool? = nil, key: String? = nil, scheme: String = World.schemeCode
    ) async throws(ServiceFailure) -> CheckedCode {
        try await shop.call(
            CheckCode(
                schemeCode: scheme, purpose: purpose, number: number, code: code,
                caseSensitive: caseSensitive), CallOptions(requestKey: key))
    }

    func check(id: ChallengeID, _ code: String) async throws(ServiceFailure) -> CheckedCode {
        try await shop.call(CheckCode(challengeId: id, code: code))
    }

    /// A code that is not this one.
    func wrong(_ code: String, _ step: Int = 1) -> String {
        let digits = code.compactMap(\.wholeNumberValue)
        return digits.map { String(($0 + step) % 10) }.joined()
    }
}

/// The failure of a call that must fail.
func failure<Value>(
    of call: () async throws(ServiceFailure) -> Value,
    _ location: SourceLocation = #_sourceLocation
) async -> ServiceFailure {
    do throws(ServiceFailure) {
        _ = try await call()
    } catch {
        return error
    }
    Issue.record("the call was answered", sourceLocation: location)
    return ServiceFailure(.internalFault, "answered")
}
