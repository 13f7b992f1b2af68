import Bus
import Cryptography
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import TokenService

/// One or more token services on one disk and one bus, with a clock that a test moves.
final class TokenWorld: Sendable {
    let clock = ManualClock()
    let disk: MemoryDisk
    let bus: BusUnderTest
    let log = RecordingLog()
    private let callersCount = Lock<UInt64>(0)
    let cryptography = FakeCryptography()
    let signer: any TokenSigner
    let authenticator: any MessageAuthenticator

    static let alice = principal(.integrator, "alice")
    static let bob = principal(.integrator, "bob")
    static let olga = principal(.operator, "olga")
    static let scene = principal(.service, "scene")
    static let gateway = principal(.gateway, "gateway")

    /// - Parameter real: signatures and MACs of libsodium instead of the fake ones.
    init(
        _ transport: TransportUnderTest, real: Bool = false, disk: MemoryDisk = MemoryDisk()
    ) {
        self.disk = disk
        bus = BusUnderTest(transport, clock: clock)
        let fake = FakeSigner()
        signer = real ? SodiumSigner() : fake
        authenticator = real ? SodiumAuthenticator() : fake
    }

    static func principal(_ roles: Roles, _ name: String) -> Principal {
        guard let principal = Principal(roles: roles, name: name) else {
            preconditionFailure("a name that is none")
        }
        return principal
    }

    func store() -> MemoryStore { MemoryStore(tables: TokenTables.schemas, disk: disk) }

    func service(
        seed: UInt64 = 1, configuration: TokenConfiguration = TokenConfiguration()
    ) -> TokenService {
        let store = store()
        return TokenService(
            store: store,
            answers: Answers(
                store: store, sealer: FakeCryptography(salt: 2), digest: FakeCryptography(salt: 3),
                clock: clock),
            sealer: cryptography, digest: cryptography, signer: signer,
            authenticator: authenticator, phoneNumbers: FakePhoneNumberParser(), clock: clock,
            pause: clock, random: SeededRandom(seed: seed), log: Log(log),
            configuration: configuration)
    }

    /// - Parameter seed: callers of one seed send the same request ids; nil gives each its own.
    func caller(_ principal: Principal, seed: UInt64? = nil) -> any BusCaller {
        let number = callersCount.withLock { count in
            count += 1
            return count
        }
        return bus.caller(principal, random: SeededRandom(seed: seed ?? 1_000_000 + number))
    }

    /// Serves until `body` returns. Instances are named `a`, `b`, …
    func serving<Output: Sendable>(
        instances: Int = 1, configuration: TokenConfiguration = TokenConfiguration(),
        _ body: @Sendable () async throws -> Output
    ) async throws -> Output {
        let workers = ["a", "b", "c", "d"].prefix(instances).enumerated().map { index, name in
            BusWorker(
                service(seed: UInt64(index) + 1, configuration: configuration).handlers,
                identity: BusWorker.Identity(
                    daemon: "fusion-token", instanceID: name, version: "test"),
                listener: bus.listener(host: name), clock: clock, pause: clock)
        }
        return try await bus.serving(workers, body)
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

let exampleApp = AppIdentity(
    iosBundleId: "com.example.app", androidPackageName: "com.example.app",
    androidPackageSign: "0123456789abcdef0123456789abcdef", webOrigin: "https://example.com")

extension IssueAuthToken {
    static func ios(
        _ schemeCode: String, bundleId: String = "com.example.app", seconds: Int64 = 1800,
        boundNumber: String? = nil
    ) -> Self {
        Self(
            schemeCode: schemeCode, platform: .ios, bundleId: bundleId, durationSeconds: seconds,
            boundNumber: boundNumber)
    }
}
