import Bus
import Effects
import Messages
import Primitives
import SMSCodeService
import SandboxService
import SceneService
import Storage
import TestKit
import TokenService
import VerificationService

/// The whole house in one world: every service in two instances that share a disk, and the sandbox.
/// A host crashes and comes back with a new instance on what was committed.
package final class House: Sendable {
    package enum Room: String, CaseIterable, Sendable { case token, verification, smscode, scene }

    /// What ends one process life at once.
    private struct Life: Sendable {
        let store: MemoryStore
        let link: MortalLink
        let end: AsyncStream<Void>.Continuation
    }

    package let world: World
    package let plant: Plant
    package let receivingNumber = "106900001"
    private let disks: [Room: MemoryDisk]
    private let lives = Lock<[String: Life]>([:])
    private let generation = Lock(0)
    private let log = RecordingLog()
    private let parser = FakePhoneNumberParser()
    private let crypto = FakeCryptography()
    private let servicePrincipal: Principal

    package init(_ world: World, plant: Plant = .none) {
        self.world = world
        self.plant = plant
        disks = Dictionary(uniqueKeysWithValues: Room.allCases.map { ($0, MemoryDisk()) })
        guard let principal = Principal(roles: .service, name: "service") else {
            preconditionFailure("a service has a name")
        }
        servicePrincipal = principal
    }

    package var logLines: [String] { log.lines }

    /// Every row of every disk as a dump shows it.
    package func dumps() -> [[UInt8]] {
        Room.allCases.flatMap { room in
            Self.tables(room).flatMap { table in
                (disks[room]?.dump(table.name) ?? []).flatMap { [Array($0.key.utf8), $0.body] }
            }
        }
    }

    package func startAll() {
        startSandbox()
        for room in Room.allCases {
            start(room, "1")
            start(room, "2")
        }
    }

    /// Names of hosts that may crash.
    package var hosts: [String] { lives.withLock { $0.keys.sorted() } }

    package func crash(_ host: String) {
        guard let life = lives.withLock({ $0.removeValue(forKey: host) }) else { return }
        life.store.crash()
        life.link.cut()
        world.bus.crash(host: host)
        life.end.yield()
        world.note("crash \(host)")
    }

    package func restart(_ room: Room, _ slot: String) {
        for host in hosts where host.hasPrefix("\(room.rawValue)-\(slot).") { crash(host) }
        start(room, slot)
    }

    // MARK: -

    private func start(_ room: Room, _ slot: String) {
        let number = generation.withLock { generation in
            generation += 1
            return generation
        }
        let host = "\(room.rawValue)-\(slot).\(number)"
        let honest = MemoryStore(
            tables: Self.tables(room), disk: disks[room] ?? MemoryDisk(),
            weather: world.weather.storeWeather(world.clock))
        let link = MortalLink(world.bus.link(as: servicePrincipal))
        let (ends, end) = AsyncStream<Void>.makeStream()
        lives.withLock { $0[host] = Life(store: honest, link: link, end: end) }
        let random = world.randomStream()
        let caller = LinkCaller(link: link, pause: world.clock, random: random)
        let store = PlantedStore(honest, plant: plant, pause: world.clock)
        let (handlers, parts) = service(room, store, caller, random, host)
        let worker = BusWorker(
            handlers,
            identity: BusWorker.Identity(
                daemon: "fusion-\(room.rawValue)", instanceID: host, version: "1.0.0"),
            listener: world.bus.listener(host: host), clock: world.clock, pause: world.clock,
            log: Log(log))
        live([worker] + parts, until: ends)
    }

    private func startSandbox() {
        let random = world.randomStream()
        let sandbox = SandboxService(
            clock: world.clock, pause: world.clock, random: random,
            bus: LinkCaller(
                link: world.bus.link(as: servicePrincipal), pause: world.clock, random: random),
            phoneNumbers: parser, signer: FakeSigner())
        let worker = BusWorker(
            sandbox.handlers,
            identity: BusWorker.Identity(
                daemon: "fusion-sandbox", instanceID: "sandbox", version: "1.0.0"),
            listener: world.bus.listener(host: "sandbox"), clock: world.clock, pause: world.clock)
        let (ends, _) = AsyncStream<Void>.makeStream()
        live([worker] + sandbox.parts(), until: ends)
    }

    private func live(_ parts: [any DaemonPart], until ends: AsyncStream<Void>) {
        world.pump.start {
            await withTaskGroup(of: Void.self) { group in
                for part in parts { group.addTask { try? await part.run() } }
                for await _ in ends { break }
                group.cancelAll()
            }
        }
    }

    private func service(
        _ room: Room, _ store: PlantedStore, _ bus: LinkCaller, _ random: SeededRandom,
        _ host: String
    ) -> (HandlerTable, [any DaemonPart]) {
        let clock = world.clock
        let answers = Answers(store: store, sealer: crypto, digest: crypto, clock: clock)
        switch room {
        case .token:
            let signer = FakeSigner(random: random)
            let service = TokenService(
                store: store, answers: answers, sealer: crypto, digest: crypto, signer: signer,
                authenticator: signer, phoneNumbers: parser, clock: clock, pause: clock,
                random: random, log: Log(log))
            return (service.handlers, service.parts())
        case .verification:
            let service = VerificationService(
                store: store, answers: answers, tokens: crypto, sealer: crypto,
                signer: FakeSigner(random: random), phoneNumbers: parser, bus: bus,
                carrier: BusCarrierGateway(bus: bus), clock: clock, pause: clock, random: random,
                log: Log(log))
            return (service.handlers, service.parts())
        case .smscode:
            var configuration = SMSCodeConfiguration()
            configuration.receivingNumbers = [receivingNumber]
            let service = SMSCodeService(
                store: store, answers: answers, clock: clock, pause: clock, random: random,
                bus: bus, phoneNumbers: parser, numberDigest: crypto, guessDigest: crypto,
                codes: crypto, sealer: crypto, providers: [BusSMSProvider(bus: bus)],
                instanceID: host, log: Log(log), configuration: configuration)
            return (service.handlers, service.parts())
        case .scene:
            let service = SceneService(
                store: store, sealer: crypto,
                digests: SceneService.Digests(
                    answers: crypto, runKeys: crypto, risk: crypto, splits: crypto),
                signer: FakeSigner(random: random), clock: clock, pause: clock, random: random,
                bus: bus, phoneNumbers: parser, log: Log(log))
            return (service.handlers, service.parts())
        }
    }

    private static func tables(_ room: Room) -> [TableSchema] {
        switch room {
        case .token: TokenTables.schemas
        case .verification: VerificationTables.schemas
        case .smscode: SMSCodeTables.schemas
        case .scene: SceneTables.schemas
        }
    }
}

/// The link of a process: when the process is gone, nothing more leaves it, and nobody hears the
/// answer.
final class MortalLink: BusLink {
    private let link: any BusLink
    private let isCut = Lock(false)

    init(_ link: any BusLink) { self.link = link }

    func cut() { isCut.withLock { $0 = true } }

    func exchange(_ service: String, _ header: BusHeader, _ body: [UInt8]) async -> BusReply {
        guard !isCut.withLock({ $0 }) else { return BusReply(status: .cancelled) }
        let reply = await link.exchange(service, header, body)
        return isCut.withLock { $0 } ? BusReply(status: .cancelled) : reply
    }
}
