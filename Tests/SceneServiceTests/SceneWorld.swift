import Bus
import Effects
import Messages
import Primitives
import SceneService
import ServiceTestKit
import Storage
import TestKit

/// Scene services on one disk and one bus, fake neighbours, and a clock that a test
/// moves.
final class SceneWorld: Sendable {
    static let schemeCode = "FA00000000000001"
    let clock = ManualClock()
    let disk = MemoryDisk()
    let bus: BusUnderTest
    let neighbours: Neighbours
    let log = RecordingLog()
    private let signer = FakeSigner()
    private let seed: Secret<[UInt8]>
    private let random = SeededRandom(seed: 77)

    static let gateway = principal(.gateway, "gateway")
    static let alice = principal(.integrator, "alice")
    static let bob = principal(.integrator, "bob")
    static let olga = principal(.operator, "olga")

    init(_ transport: TransportUnderTest, policy: SchemePolicy = .standard) {
        bus = BusUnderTest(transport, clock: clock)
        neighbours = Neighbours(clock: clock)
        let pair = signer.generateKeyPair()
        seed = pair.seed
        neighbours.state.withLock { state in
            state.keys = PublicKeySet(keys: [
                PublicKey(
                    kty: "OKP", crv: "Ed25519", x: Base64URL.encode(pair.publicKey), kid: "k1",
                    use: "sig", alg: "EdDSA")
            ])
        }
        update(policy)
    }

    static func principal(_ roles: Roles, _ name: String) -> Principal {
        guard let principal = Principal(roles: roles, name: name) else {
            preconditionFailure("a name that is none")
        }
        return principal
    }

    /// A new version of the scheme.
    func update(_ policy: SchemePolicy, disabled: Bool = false) {
        neighbours.state.withLock { state in
            let version = Int64(state.schemes.count + 1)
            state.schemes.append(
                Scheme(
                    schemeCode: Self.schemeCode, version: version, name: "Example", owner: "alice",
                    app: AppIdentity(iosBundleId: "com.example.app"), policy: policy,
                    disabled: disabled, createdAtMilliseconds: 0, updatedAtMilliseconds: 0))
        }
    }

    func token(bound: String? = nil, app: String = "com.example.app") throws -> Secret<String> {
        let now = clock.now().millisecondsSince1970 / 1_000
        let claims = AuthTokenClaims(
            iss: "fusion", sub: Self.schemeCode, jti: TokenID(random: random.bytes(16)), iat: now,
            exp: now + 43_200, platform: .ios, app: app)
        if let bound {
            neighbours.state.withLock { $0.bound[claims.jti] = Neighbours.number(bound) }
        }
        let text = try CompactToken.compose(claims, keyID: "k1", seed: seed, signer: signer)
        return Secret(text ?? "")
    }

    func service(
        seed: UInt64 = 1, weather: StoreWeather = .calm,
        configuration: SceneConfiguration = SceneConfiguration()
    ) -> SceneService {
        SceneService(
            store: MemoryStore(tables: SceneTables.schemas, disk: disk, weather: weather),
            sealer: FakeCryptography(salt: 1),
            digests: SceneService.Digests(
                answers: FakeCryptography(salt: 2), runKeys: FakeCryptography(salt: 3),
                risk: FakeCryptography(salt: 4), splits: FakeCryptography(salt: 5)),
            signer: signer, clock: clock, pause: clock, random: SeededRandom(seed: seed),
            bus: neighbours.bus, phoneNumbers: FakePhoneNumberParser(), log: Log(log),
            configuration: configuration)
    }

    func caller(_ principal: Principal = gateway) -> any BusCaller {
        bus.caller(
            principal, random: SeededRandom(seed: random.next()),
            retry: RetryPolicy(attemptsMax: 1))
    }

    /// Serves until `body` returns.
    func serving(
        _ services: SceneService..., body: @Sendable () async throws -> Void
    ) async throws {
        let served = services.isEmpty ? [service()] : services
        let workers = served.enumerated().map { index, service in
            BusWorker(
                service.handlers,
                identity: BusWorker.Identity(
                    daemon: "fusion-scene", instanceID: "i\(index)", version: "test"),
                listener: bus.listener(host: "i\(index)"), clock: clock, pause: clock)
        }
        // The processes are gone afterwards, not only idle.
        defer { for index in served.indices { bus.crash(host: "i\(index)") } }
        try await bus.serving(workers, body)
    }

    func client(
        bound: String? = nil, device: String? = "device-1",
        capabilities: ClientCapabilities? = nil, address: String? = nil
    ) throws -> SceneClient {
        SceneClient(
            caller: caller(), token: try token(bound: bound), device: device,
            capabilities: capabilities, address: address)
    }
}

/// A phone app with one run at a time: it knows the newest view and the run's key.
final class SceneClient: Sendable {
    private struct State: Sendable {
        var view: SceneView?
        var runKey = Secret("")
        var codes: [Int] = []
    }
    let caller: any BusCaller
    let token: Secret<String>
    let device: String?
    let capabilities: ClientCapabilities?
    let address: String?
    private let state = Lock(State())

    init(
        caller: any BusCaller, token: Secret<String>, device: String?,
        capabilities: ClientCapabilities?, address: String?
    ) {
        self.caller = caller
        self.token = token
        self.device = device
        self.capabilities = capabilities
        self.address = address
    }

    var runId: RunID {
        state.withLock { $0.view?.runId } ?? RunID(random: [UInt8](repeating: 0, count: 16))
    }
    var runKey: Secret<String> { state.withLock(\.runKey) }
    var step: Int { state.withLock { $0.view?.step ?? 0 } }
    var view: SceneView? { state.withLock(\.view) }
    /// Every code that any answer carried, in order.
    var codes: [Int] { state.withLock(\.codes) }
    /// Last three digits of the current node.
    var at: String { view?.node.map { String($0.nodeId.suffix(3)) } ?? "-" }

    @discardableResult
    func keep(_ view: SceneView) -> SceneView {
        state.withLock { state in
            state.view = view
            state.codes += view.resultCodes
            if let key = view.runKey { state.runKey = key }
        }
        return view
    }

    @discardableResult
    func start(_ templateId: String, key: String? = nil) async throws(ServiceFailure) -> SceneView {
        keep(
            try await caller.call(
                StartScene(
                    authToken: token, templateId: templateId, deviceId: device,
                    capabilities: capabilities, address: address),
                CallOptions(requestKey: key)))
    }

    @discardableResult
    func submit(
        _ input: NodeInput, step: Int? = nil, key: String? = nil
    ) async throws(ServiceFailure) -> SceneView {
        keep(
            try await caller.call(
                SubmitInput(
                    authToken: token, runId: runId, runKey: runKey, step: step ?? self.step,
                    input: input), CallOptions(requestKey: key)))
    }

    @discardableResult
    func send(_ number: String? = nil, key: String? = nil) async throws(ServiceFailure) -> SceneView
    {
        try await submit(NodeInput(send: true, number: number), key: key)
    }

    @discardableResult
    func code(_ code: String, key: String? = nil) async throws(ServiceFailure) -> SceneView {
        try await submit(NodeInput(code: code), key: key)
    }

    @discardableResult
    func proceed(
        _ isSuccess: Bool, step: Int? = nil, key: String? = nil
    ) async throws(ServiceFailure) -> SceneView {
        keep(
            try await caller.call(
                ContinueScene(
                    authToken: token, runId: runId, runKey: runKey, step: step ?? self.step,
                    isSuccess: isSuccess), CallOptions(requestKey: key)))
    }

    @discardableResult
    func halfway(_ isSuccess: Bool) async throws(ServiceFailure) -> SceneView {
        keep(
            try await caller.call(
                AnswerHalfway(
                    authToken: token, runId: runId, runKey: runKey, step: step,
                    isSuccess: isSuccess)))
    }

    @discardableResult
    func stop(key: String? = nil) async throws(ServiceFailure) -> SceneView {
        keep(
            try await caller.call(
                StopScene(authToken: token, runId: runId, runKey: runKey),
                CallOptions(requestKey: key)))
    }

    func get(since: Int64? = nil) async throws(ServiceFailure) -> SceneView {
        try await caller.call(
            GetScene(runId: runId, authToken: token, runKey: runKey, sinceSequence: since))
    }
}

/// What a call was refused with; nil when it was not.
func failure(_ body: () async throws(ServiceFailure) -> some Any) async -> ServiceFailure? {
    do throws(ServiceFailure) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
