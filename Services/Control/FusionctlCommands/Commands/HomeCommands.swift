import Bus
import Effects
import HTTPTypes
import Messages
import Primitives

/// `init`, `up`, `ps`, `peer …`: the home and what runs in it.
enum HomeCommands {
    static let all = [initialise, up, ps] + PeerCommands.all

    private static let portBase = CommandSyntax.Option.value(
        "port-base", "N", "base+0 bus, +1 events, +2 HTTP; else 5570; 0 takes any free port")

    private static let initialise = Command(
        CommandSyntax(
            "init", options: [portBase],
            "makes the home: folders, configuration, policy, keys; leaves alone what is there")
    ) { arguments, desk in
        let report = try desk.machine.initialise(home: desk.home, portBase: try port(arguments))
        if desk.isJSON {
            desk.show(
                .object([
                    "home": .text(report.path),
                    "created": .list(report.created.map { .text($0) }),
                ]))
        } else if report.created.isEmpty {
            desk.terminal.result("\(report.path) is complete already")
        } else {
            let made = report.created.map { "  \($0)" }.joined(separator: "\n")
            desk.terminal.result("\(report.path) has now\n\(made)\n→ fusionctl up")
        }
        return .done
    }

    private static func port(_ arguments: Arguments) throws(CommandFailure) -> Int? {
        try arguments.integer("port-base", in: 0...65_533).map { Int($0) }
    }

    // MARK: up

    private static let up = Command(
        CommandSyntax(
            "up",
            options: [
                portBase,
                .value("daemons", "NAME,…", "only these; else every daemon of this home"),
                .flag("demo", "play the demo once all are ready"),
                .flag("once", "play the demo, then drain and exit with its outcome"),
            ],
            "starts every daemon in order, restarts those that end, drains at Ctrl-C")
    ) { arguments, desk in
        if !desk.machine.isInitialised(home: desk.home) || arguments["port-base"] != nil {
            let report = try desk.machine.initialise(
                home: desk.home, portBase: try port(arguments))
            if !report.created.isEmpty {
                desk.terminal.progress("up: made \(report.path)")
            }
        }
        let isProduction = try desk.machine.isProduction(home: desk.home)
        let daemons = try Household.daemons(arguments.list("daemons"), isProduction: isProduction)
        let isUp = desk.machine.instances(home: desk.home).contains {
            $0.isAlive && $0.daemon == Household.broker
        }
        guard !isUp || !daemons.contains(Household.broker) else {
            throw CommandFailure(
                "the broker of this home runs already",
                next: "fusionctl ps · a home of its own: --home DIR · one more instance: "
                    + "fusion-NAME --home DIR")
        }
        let start = Start(
            desk: desk, daemons: daemons, isOnce: arguments.has("once"),
            playsDemo: arguments.has("once") || arguments.has("demo"),
            beganAt: desk.machine.pause.steadyNow())
        try await desk.machine.supervise(
            home: desk.home, daemons: daemons,
            ready: { daemon throws(CommandFailure) in try await start.waitFor(daemon) },
            body: { await start.afterStart() })
        return start.status.withLock { $0 }
    }

    // MARK: ps

    private static let ps = Command(
        CommandSyntax("ps", "what runs in this home, and whether it answers")
    ) { _, desk in
        let instances = desk.machine.instances(home: desk.home)
        let alive = instances.filter(\.isAlive)
        let connection =
            alive.isEmpty
            ? nil : try? await desk.machine.connect(home: desk.home, peerFile: nil)
        var table = Table(["DAEMON", "INSTANCE", "PID", "STATE", "MEMORY", "ANSWERS"])
        var items: [JSONValue] = []
        for instance in instances {
            let took = await answerTime(instance, connection, desk)
            table.add([
                instance.daemon, instance.instanceID, instance.processID.map { "\($0)" } ?? "–",
                state(instance),
                instance.memoryBytes.map { "\($0 / 1_048_576) MiB" } ?? "–",
                took.map { "\($0) ms" } ?? "–",
            ])
            items.append(
                .object([
                    "daemon": .text(instance.daemon), "instance": .text(instance.instanceID),
                    "pid": instance.processID.map { .integer(Int64($0)) } ?? .null,
                    "alive": .flag(instance.isAlive), "state": .text(state(instance)),
                    "memoryBytes": instance.memoryBytes.map { .integer($0) } ?? .null,
                    "answered": .flag(took != nil),
                ]))
        }
        if desk.isJSON {
            desk.show(.object(["instances": .list(items)]))
        } else {
            let waiting = instances.contains { state($0) == Self.waiting }
            desk.terminal.result(
                instances.isEmpty
                    ? "nothing runs here → fusionctl up"
                    : table.text
                        + (waiting ? "\nwaiting: it ended, and fusionctl up starts it again" : ""))
        }
        return .done
    }

    private static let waiting = "waiting"

    private static func state(_ instance: RunningInstance) -> String {
        instance.isAlive || instance.state == waiting ? instance.state : "gone"
    }

    /// How long an instance may take to say that it is there.
    private static let pingMax = Duration.milliseconds(500)

    private static func answerTime(
        _ instance: RunningInstance, _ connection: Connection?, _ desk: Desk
    ) async -> Int64? {
        guard instance.isAlive else { return nil }
        if instance.daemon == Household.gateway { return await gatewayTime(instance, desk) }
        guard let connection else { return nil }
        let name =
            instance.daemon == Household.broker
            ? Introspection.broker
            : Household.service(of: instance.daemon).map { "\($0)@\(instance.instanceID)" }
        guard let name else { return nil }
        let pause = desk.machine.pause
        let began = pause.steadyNow()
        let introspection = Introspection(connection: connection, random: desk.machine.random)
        let answer = try? await introspection.ask(name, "ping", CallOptions(timeout: pingMax))
        return answer.map { _ in (pause.steadyNow() - began).wholeMilliseconds }
    }
}

extension HomeCommands {
    /// Of the instance whose address the home knows.
    fileprivate static func gatewayTime(_ instance: RunningInstance, _ desk: Desk) async -> Int64? {
        guard instance.instanceID == "1",
            let address = desk.machine.endpoints(home: desk.home)?.http,
            let http = try? desk.machine.http()
        else { return nil }
        let pause = desk.machine.pause
        let began = pause.steadyNow()
        let answer = try? await http.call(
            HTTPCall("GET", "\(address)/healthz", timeout: pingMax))
        guard answer?.isSuccess == true else { return nil }
        return (pause.steadyNow() - began).wholeMilliseconds
    }
}

/// One `up`: readiness of each daemon, then the default scheme, then the demo where it was asked for.
struct Start: Sendable {
    /// A daemon that is not ready by then is reported.
    static let readyMax = Duration.seconds(15)

    let desk: Desk
    let daemons: [String]
    let isOnce: Bool
    let playsDemo: Bool
    let beganAt: Duration
    let status = Lock(ExitStatus.done)

    /// The bus holds a request for a service that is not there yet, so one ping is the whole wait.
    func waitFor(_ daemon: String) async throws(CommandFailure) {
        guard let service = Household.service(of: daemon), daemons.contains(Household.broker)
        else { return }
        let deadline = desk.machine.pause.steadyNow() + Self.readyMax
        while true {
            do throws(CommandFailure) {
                let connection = try await desk.machine.connect(home: desk.home, peerFile: nil)
                _ = try await Introspection(connection: connection, random: desk.machine.random)
                    .ask(service, "ping", CallOptions(timeout: .seconds(4)))
                return
            } catch {
                guard desk.machine.pause.steadyNow() < deadline else {
                    throw CommandFailure(
                        "\(daemon) did not answer within \(Self.readyMax.components.seconds) s",
                        next: "its log is in log/ of the home", reason: error.reason)
                }
            }
        }
    }

    func afterStart() async -> AfterStart {
        do throws(CommandFailure) {
            try await greet()
            return isOnce ? .drain : .stay
        } catch {
            desk.terminal.progress("up: \(error)")
            status.withLock { $0 = .failed }
            return isOnce ? .drain : .stay
        }
    }

    private func greet() async throws(CommandFailure) {
        for (name, value) in [
            ("ipc", endpoints?.ipc), ("tcp", endpoints?.tcp), ("http", endpoints?.http),
        ] {
            if let value { desk.terminal.progress("up: \(name) \(value)") }
        }
        guard daemons.contains("fusion-token"), daemons.contains(Household.broker) else {
            if playsDemo {
                throw CommandFailure("the demo needs every daemon", next: "leave out --daemons")
            }
            sayReady()
            return
        }
        let connection = try await desk.machine.connect(home: desk.home, peerFile: nil)
        if try !desk.machine.isProduction(home: desk.home) {
            let code = try await DefaultScheme(desk: desk).ensure(on: connection)
            desk.terminal.progress("up: default scheme \(code)")
            if let http = endpoints?.http, daemons.contains(Household.gateway) {
                desk.terminal.progress("up: a phone to play with \(http)/demo")
            }
            if playsDemo { await demo(connection, code) }
        } else if playsDemo {
            throw CommandFailure(
                "the demo needs the sandbox, which production = true keeps out",
                next: "use a home of its own for the demo: --home DIR")
        }
        sayReady()
    }

    private func sayReady() {
        if !isOnce { desk.terminal.progress("up: ready; Ctrl-C drains and ends") }
    }

    private var endpoints: Endpoints? { desk.machine.endpoints(home: desk.home) }

    private func demo(_ connection: Connection, _ code: String) async {
        let stage = Stage(desk: desk, connection: connection, schemeCode: code)
        let report = await Demo(desk: desk, rounds: [stage.overBus], beganAt: beganAt).run()
        Demo.show(report, desk)
        if !report.isOK { status.withLock { $0 = .failed } }
    }
}
