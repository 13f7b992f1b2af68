import Bus
import DaemonKit
import Effects
import FusionctlCommands
import HTTPTypes
import Primitives
import Wiring

/// The machine that the tool runs on, made of adapters.
struct SystemMachine: Machine {
    let process: ToolProcess
    let terminal: any Terminal
    let pause: any Pause = SystemPause()
    let clock: any WallClock = SystemWallClock()
    let random: any RandomSource = ToolRandom.source
    let authenticator: any MessageAuthenticator = ToolSecrets.authenticator
    private let caller = Lock<(any HTTPCaller)?>(nil)
    /// Connections are kept for the life of the process: one for each way to the bus.
    private let connections = Lock<[String: BusAccess]>([:])

    init(process: ToolProcess, terminal: any Terminal) {
        self.process = process
        self.terminal = terminal
    }

    private func control(_ home: String?) -> HomeControl {
        HomeControl(
            home: HomeResolver.resolve(flag: home, environment: Daemon.processEnvironment()))
    }

    /// Adapters throw what they like; a person gets a sentence and what to do.
    private func told<Value>(_ body: () throws -> Value) throws(CommandFailure) -> Value {
        do {
            return try body()
        } catch let problem as WiringProblem {
            throw CommandFailure(problem.message, next: problem.next)
        } catch {
            throw CommandFailure("\(error)", next: nil)
        }
    }

    // MARK: The home

    func initialise(home: String?, portBase: Int?) throws(CommandFailure) -> HomeReport {
        let control = control(home)
        let created = try told { try HomeMaker(home: control.home).make(portBase: portBase) }
        return HomeReport(path: control.home.path, created: created)
    }

    func isInitialised(home: String?) -> Bool { HomeMaker(home: control(home).home).isComplete }

    func isProduction(home: String?) throws(CommandFailure) -> Bool {
        try told { try control(home).isProduction() }
    }

    func endpoints(home: String?) -> Endpoints? {
        control(home).endpoints().map {
            Endpoints(ipc: $0.ipc, tcp: $0.tcp, http: $0.http, brokerKey: $0.brokerKey)
        }
    }

    func defaultScheme(home: String?) -> String? { control(home).defaultScheme() }

    func setDefaultScheme(_ code: String, home: String?) throws(CommandFailure) {
        try told { try control(home).setDefaultScheme(code) }
    }

    func connect(home: String?, peerFile: String?) async throws(CommandFailure) -> Connection {
        let control = control(home)
        let access = try told {
            try connections.withLock { connections in
                let name = peerFile ?? control.home.path
                if let known = connections[name] { return known }
                let access = try control.access(peerFile: peerFile)
                connections[name] = access
                return access
            }
        }
        return Connection(access.caller(pause: pause))
    }

    func http() throws(CommandFailure) -> any HTTPCaller {
        try told {
            try caller.withLock { caller in
                if let caller { return caller }
                let made = try ToolHTTP.caller()
                caller = made
                return made
            }
        }
    }

    // MARK: Processes

    func instances(home: String?) -> [RunningInstance] {
        let control = control(home)
        let found = control.instances()
        let alive = Set(found.filter(\.content.isAlive).map(\.daemon))
        let waiting = control.waitingDaemons().filter { !alive.contains($0) }
        // What a waiting one left behind would be a second line for the same daemon.
        return found.filter { !waiting.contains($0.daemon) }.map {
            RunningInstance(
                daemon: $0.daemon, instanceID: $0.instance, processID: $0.content.processID,
                isAlive: $0.content.isAlive, state: $0.content.state.rawValue,
                memoryBytes: $0.memoryBytes)
        }
            + waiting.map {
                RunningInstance(
                    daemon: $0, instanceID: "–", processID: nil, isAlive: false, state: "waiting",
                    memoryBytes: nil)
            }
    }

    func supervise(
        home: String?, daemons: [String],
        ready: @escaping @Sendable (_ daemon: String) async throws(CommandFailure) -> Void,
        body: @escaping @Sendable () async -> AfterStart
    ) async throws(CommandFailure) {
        let family = Family(home: control(home).home)
        let plans = try told { try family.plans(daemons) }
        let teller = SupervisionTeller(terminal: terminal, daemons: daemons)
        let failure = Lock<CommandFailure?>(nil)
        let end = await family.run(
            plans, process: process, tell: { teller.tell($0) },
            allReady: {
                do throws(CommandFailure) {
                    for daemon in daemons { try await ready(daemon) }
                } catch {
                    failure.withLock { $0 = error }
                    return false
                }
                return await body() == .stay
            })
        if let failure = failure.withLock({ $0 }) { throw failure }
        if case .failed(let daemon) = end {
            throw CommandFailure(
                "\(daemon) could not be started; its own words are above",
                next: "mend what it says, then fusionctl up again")
        }
    }

    // MARK: Peers

    func addPeer(_ request: PeerRequest, home: String?) throws(CommandFailure) -> AddedPeer {
        let control = control(home)
        let peer = try told {
            try control.addPeer(
                name: request.name, role: request.role, publicKey: request.publicKey,
                serve: request.serves, call: request.calls)
        }
        return AddedPeer(
            name: request.name, role: request.role, endpoint: control.endpoints()?.tcp,
            brokerKey: peer.brokerKey, publicKey: peer.publicKey, secretKey: peer.secretKey,
            isBrokerTold: peer.isBrokerTold)
    }

    func removePeer(_ name: String, home: String?) throws(CommandFailure) {
        try told { try control(home).removePeer(name) }
    }

    func peers(home: String?) throws(CommandFailure) -> [KnownPeer] {
        try told { try control(home).peers() }.map {
            KnownPeer(
                name: $0.name, role: $0.role, publicKey: $0.publicKey, serves: $0.serve,
                calls: $0.call)
        }
    }

    // MARK: Files

    func readFile(_ path: String) throws(CommandFailure) -> [UInt8] {
        try told { try TextFile.read(path) }
    }

    func writePrivateFile(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) {
        try told { try TextFile.write(path, bytes, mode: 0o600) }
    }

    // MARK: Benchmarks

    func benchBus(
        _ plan: BusBenchPlan, home: String?, progress: @escaping @Sendable (String) -> Void
    ) async throws(CommandFailure) -> [BenchRow] {
        do {
            let rows = try await BusBench(process: process).run(
                seconds: plan.seconds, outstanding: plan.outstanding, progress: progress)
            return rows.map { row in
                BenchRow(
                    labels: [
                        ("body", row.body), ("transport", row.transport),
                        ("outstanding", "\(row.outstanding)"),
                    ],
                    figures: [
                        ("callsPerSecond", row.callsPerSecond),
                        ("p50Microseconds", row.p50Microseconds),
                        ("p99Microseconds", row.p99Microseconds),
                        ("failedCount", Double(row.failedCount)),
                    ])
            }
        } catch {
            throw CommandFailure("\(error)", next: nil)
        }
    }

    func benchStore(
        _ plan: StoreBenchPlan, home: String?, progress: @escaping @Sendable (String) -> Void
    ) async throws(CommandFailure) -> [BenchRow] {
        do {
            let folder = control(home).home.data
            guard TextFile.exists(folder) else {
                throw WiringProblem("there is no \(folder)", next: "fusionctl init")
            }
            progress("on \(folder), twice \(plan.seconds) s")
            return try await StoreBenchRun.run(folder: folder, seconds: plan.seconds).map { row in
                BenchRow(
                    labels: [("commit", row.name)],
                    figures: [
                        ("decisionsPerSecond", row.decisionsPerSecond), ("ratio", row.ratio),
                    ])
            }
        } catch let problem as WiringProblem {
            throw CommandFailure(problem.message, next: problem.next)
        } catch {
            throw CommandFailure("\(error)", next: nil)
        }
    }
}

/// What a supervisor sees, as lines for people: each line of a child behind its name.
final class SupervisionTeller: Sendable {
    private let terminal: any Terminal
    private let width: Int

    init(terminal: any Terminal, daemons: [String]) {
        self.terminal = terminal
        width = daemons.map(\.count).max() ?? 0
    }

    func tell(_ event: SupervisorEvent) {
        switch event {
        case .started(let name, let processID): say(name, "started, pid \(processID)")
        case .ready(let name): say(name, "ready")
        case .line(let name, let text): say(name, text)
        case .ended(let name, let end): say(name, Self.words(end))
        case .willRestart(let name, let span):
            say(name, "starts again in \(span.wholeMilliseconds) ms")
        case .willRetry(let name, let span):
            say(
                name,
                "NOT RUNNING: its configuration or flags are wrong, as it says above. The others run"
                    + " on. Mend it: it is tried again in \(span.wholeMilliseconds / 1000) s")
        case .gaveUp(let name): say(name, "is not started again: that would end alike")
        case .killed(let name): say(name, "killed: it took too long to drain")
        case .allReady, .finished: break
        }
    }

    private func say(_ name: String, _ text: String) {
        let blanks = String(repeating: " ", count: max(0, width - name.count))
        terminal.progress("\(name)\(blanks) | \(text)")
    }

    private static func words(_ end: ChildEnd) -> String {
        switch end {
        case .exited(0): "drained"
        case .exited(let status): "ended with status \(status)"
        case .signalled(let number): "was killed by signal \(number)"
        case .notStarted(let code): "could not be started (error \(code))"
        }
    }
}
