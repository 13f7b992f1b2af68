import Bus
import HTTPTypes
import Messages
import Primitives

/// `bench sms`, `bench scene`, `bench http`: load on a running gateway.
enum LoadBenchCommands {
    static let all = [sms, scene, http]

    /// What one machine of two cores should reach.
    private static let pairsGoal = 4_000
    private static let scenesGoal = 1_000

    private static func options(outstanding: String, rate: String?) -> [CommandSyntax.Option] {
        [
            .value("gateway", "URL", "else the gateway of this home"),
            .value("seconds", "N", "measured time of each row, after one second; else 10"),
            .value("outstanding", "N,…", "stories under way at once; else \(outstanding)"),
            .value(
                "rate", "N,…", "also rows that keep this pace; else \(rate ?? "none"), 0 for none"),
            BenchCommands.out,
        ]
    }

    private static let sms = Command(
        CommandSyntax(
            "bench sms",
            options: CommandSyntax.calling + options(outstanding: "16,64,256", rate: nil) + [
                .value("scheme", "CODE", "else the home's default scheme")
            ],
            "send and check of an SMS code over the dypnsapi edge, signed, durable; "
                + "the goal is \(pairsGoal) a second")
    ) { arguments, desk in
        let load = try Load(arguments, desk, outstanding: [16, 64, 256], rates: [])
        let connection = try await desk.connect(arguments)
        let code = try await schemeCode(arguments, desk, connection)
        let scheme = try await desk.call(GetScheme(schemeCode: code), on: connection)
        let key = try await desk.call(
            CreateAccessKey(
                owner: scheme.owner, name: "fusionctl bench", defaultSchemeCode: code),
            on: connection)
        let bench = SMSBench(
            http: try desk.machine.http(), gateway: load.gateway, key: key,
            machine: desk.machine)
        let rows = await load.rows("pair", goal: pairsGoal) { timer in try await bench.pair(&timer)
        }
        _ = try await desk.call(
            RevokeAccessKey(accessKeyId: key.accessKeyId), on: connection)
        return try BenchCommands.show("sms", rows, arguments, desk)
    }

    private static let scene = Command(
        CommandSyntax(
            "bench scene",
            options: CommandSyntax.calling + options(outstanding: "16,64", rate: "500") + [
                .value("scheme", "CODE", "else the home's default scheme"),
                .value("way", "NAME", "sms_code or one_click, seven calls each; else sms_code"),
            ],
            "whole logins by template 100001: the app over HTTP, its server over the bus; "
                + "the goal is \(scenesGoal) a second, and p99 under 20 ms at half of it")
    ) { arguments, desk in
        let load = try Load(arguments, desk, outstanding: [16, 64], rates: [500])
        guard let way = SceneBench.Way(rawValue: arguments["way"] ?? "sms_code") else {
            throw CommandFailure(
                "--way takes sms_code or one_click", next: "leave it out", status: .usage)
        }
        let connection = try await desk.connect(arguments)
        let code = try await schemeCode(arguments, desk, connection)
        let keys = DemoKeys(random: desk.machine.random)
        let bench = SceneBench(
            way: way,
            app: HTTPApp(http: try desk.machine.http(), address: load.gateway, keys: keys),
            server: BusAppServer(bus: connection.caller, keys: keys, schemeCode: code),
            bus: connection.caller, numbers: BenchNumbers(random: desk.machine.random))
        let rows = await load.rows("scene", goal: scenesGoal) { timer in
            try await bench.login(&timer)
        }
        return try BenchCommands.show("scene", rows, arguments, desk)
    }

    private static let http = Command(
        CommandSyntax(
            "bench http", options: options(outstanding: "16,64", rate: nil),
            "GET /healthz: what HTTP alone costs, of the gateway and of this load")
    ) { arguments, desk in
        let load = try Load(arguments, desk, outstanding: [16, 64], rates: [])
        let caller = try desk.machine.http()
        let call = HTTPCall("GET", JSONPeer.trimmed(load.gateway) + "/healthz")
        let rows = await load.rows("request") { _ in
            guard try await caller.call(call).isSuccess else { throw BenchProblem("not healthy") }
        }
        return try BenchCommands.show("http", rows, arguments, desk)
    }

    private static func schemeCode(
        _ arguments: Arguments, _ desk: Desk, _ connection: Connection
    ) async throws(CommandFailure) -> String {
        if let code = arguments["scheme"] { return code }
        return try await DefaultScheme(desk: desk).ensure(on: connection)
    }
}

/// The rows that the options of a load ask for.
private struct Load: Sendable {
    static let rateMax = 1_000_000

    let gateway: String
    private let desk: Desk
    private let seconds: Int64
    private let pressures: [LoadRun.Pressure]

    init(
        _ arguments: Arguments, _ desk: Desk, outstanding: [Int], rates: [Int]
    ) throws(CommandFailure) {
        guard
            let gateway = arguments["gateway"] ?? desk.machine.endpoints(home: desk.home)?.http
        else {
            throw CommandFailure(
                "no gateway runs in this home",
                next: "fusionctl up, or name one: --gateway http://HOST:PORT")
        }
        self.gateway = gateway
        self.desk = desk
        seconds = try arguments.integer("seconds", in: 1...3600) ?? 10
        let counts =
            try arguments.integers("outstanding", in: 1...BenchCommands.outstandingMax)
            ?? outstanding
        let paces = try arguments.integers("rate", in: 0...Self.rateMax) ?? rates
        pressures =
            counts.map { .outstanding($0) } + paces.filter { $0 > 0 }.map { .perSecond($0) }
    }

    /// - Parameter whole: what one story is called.
    /// - Parameter goal: stories a second that the rows are compared with; those that keep a pace,
    ///   with their pace.
    func rows(
        _ whole: String, goal: Int? = nil, _ story: @escaping LoadRun.Story
    ) async -> [BenchRow] {
        var rows: [BenchRow] = []
        for pressure in pressures {
            let run = LoadRun(
                pressure: pressure, span: .seconds(seconds), pause: desk.machine.pause,
                reason: BenchProblem.words)
            let terminal = desk.terminal
            let report = await run.run(story) { second, count in
                terminal.progress("bench: \(pressure.name), second \(second): \(count)/s")
            }
            for (reason, count) in report.tape.failures.sorted(by: { $0.key < $1.key }) {
                terminal.progress("bench: \(pressure.name): \(count) × \(reason)")
            }
            rows += Self.rows(whole, goal, report)
        }
        return rows
    }

    private static func rows(
        _ whole: String, _ goal: Int?, _ report: LoadRun.Report
    ) -> [BenchRow] {
        var wanted = goal
        if case .perSecond(let pace) = report.pressure { wanted = pace }
        func row(_ name: String, _ times: LatencyTape, _ failed: Int) -> BenchRow {
            let rate = Double(times.count) / max(0.001, report.seconds)
            let share = wanted.map { [("ofGoal", rate / Double($0))] } ?? []
            return BenchRow(
                labels: [("load", report.pressure.name), ("what", name)],
                figures: [("perSecond", rate)] + share + [
                    ("p50Milliseconds", times.microseconds(0.5) / 1000),
                    ("p99Milliseconds", times.microseconds(0.99) / 1000),
                    ("failedCount", Double(failed)),
                ])
        }
        return [row(whole, report.tape.whole, report.tape.failedCount)]
            + report.tape.calls.map { row("· \($0.name)", $0.times, 0) }
    }
}
