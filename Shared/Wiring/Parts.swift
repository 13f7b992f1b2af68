package import Bus
import Cryptography
package import DaemonKit
package import Effects
import PhoneNumbers
import Primitives
import SQLiteStorage
package import Storage
import TokenKeys

/// What a service is built from: the adapters of this process, chosen by its configuration and its
/// home. A service's `makeService` takes what it needs and names the purpose of every key.
package struct Parts: Sendable {
    package let context: DaemonContext
    /// `token`: names the key ring and the database.
    package let service: String
    package let random: any RandomSource
    package let bus: LinkCaller
    private let access: BusAccess
    private let busSettings: BusSettings
    private let storeSettings: StoreSettings
    private let ring: KeyRing

    package var clock: any WallClock { context.wallClock }
    package var pause: any Pause { context.pause }
    package var log: Log { context.log }
    package var metrics: any Metrics { context.metrics }
    package var instanceID: String { context.instance }
    package var isProduction: Bool { context.isProduction }

    init(service: String, context: DaemonContext) throws {
        let bus = context.configuration.read(BusSettings.self)
        let store = context.configuration.read(StoreSettings.self)
        self.service = service
        self.context = context
        random = SodiumRandom()
        busSettings = bus.configuration
        storeSettings = store.configuration
        access = try BusAccess(home: context.home, settings: bus.configuration)
        self.bus = access.caller(pause: context.pause)
        ring = try KeyRings.ring(of: service, in: context.home)
        let (access, ring) = (access, ring)
        context.hooks.onReload("keys") { try ring.reload() }
        context.hooks.onClose("bus") { access.close() }
    }

    // MARK: Keys, each purpose with its own

    /// For values that are only compared.
    /// - Parameter purpose: what the digests are of; unique within the service and never renamed.
    package func digest(_ purpose: String) -> any KeyedDigest {
        SodiumKeyedDigest(ring, purpose: "\(service).\(purpose)")
    }

    /// For values at rest.
    package func sealer(_ purpose: String) -> any Sealer {
        SodiumSealer(ring, purpose: "\(service).\(purpose)")
    }

    package func codeDerivation(_ purpose: String) -> any CodeDerivation {
        SodiumCodeDerivation(ring, purpose: "\(service).\(purpose)")
    }

    package var signer: any TokenSigner { SodiumSigner() }
    package var authenticator: any MessageAuthenticator { SodiumAuthenticator() }
    /// For signatures of others.
    package var foreignSignatures: any SignatureVerifier { GnuTLSVerifier() }
    package func phoneNumbers() -> any PhoneNumberParser { LibPhoneNumberParser() }

    /// Bytes of a file that the configuration names; a relative path begins at the home.
    package func file(_ path: String) throws -> [UInt8] {
        try TextFile.read(path.hasPrefix("/") ? path : "\(context.home.path)/\(path)")
    }

    /// The scheme that `fusionctl up` made for this home; nil before it did. Read each time.
    package func defaultScheme() -> String? { HomeControl(home: context.home).defaultScheme() }

    // MARK: Store

    /// The service's own tables, closed when every part has ended.
    package func store(_ tables: (some ServiceTables).Type) throws -> any Store {
        let store = try SQLiteStore(
            path: context.home.database(service), tables: tables.schemas,
            limits: SQLiteLimits(
                queueCountMax: storeSettings.queueCountMax,
                groupCount: storeSettings.groupCountMax),
            metrics: metrics, log: log)
        context.hooks.onClose("store") { await store.close() }
        return store
    }

    /// The answers of the service, with keys of their own.
    package func answers(_ store: any Store) -> Answers {
        Answers(store: store, sealer: sealer("answer"), digest: digest("answer"), clock: clock)
    }

    // MARK: Serving

    package func worker(_ handlers: HandlerTable) -> any DaemonPart {
        BusWorker(
            handlers,
            identity: BusWorker.Identity(
                daemon: context.daemon, instanceID: instanceID, version: context.version),
            listener: access.listener(), clock: clock, pause: pause, metrics: metrics, log: log,
            credit: busSettings.creditMax)
    }
}
