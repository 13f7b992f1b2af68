import Bus
import Effects
import HTTPTypes
import Messages
import Primitives

/// `demo`, and what `up` does with it.
enum DemoCommands {
    static let all = [demo]

    private static let demo = Command(
        CommandSyntax(
            "demo",
            options: CommandSyntax.calling + [
                .value("scheme", "CODE", "else the home's default scheme"),
                .value("template", "ID", "the cases of this template only"),
                .value("case", "NAME", "the cases of this name only"),
                .optional(
                    "http", "URL", "the app speaks HTTP to this gateway; else the home's own"),
                .value("mode", "NAME", "with --http: normal or quick access; else both"),
                .value("app-server", "URL", "with --http: ask this app server in normal access"),
            ],
            "plays an app and its server through every scene; exits 0 when all end as expected")
    ) { arguments, desk in
        let connection = try await desk.connect(arguments)
        let chosen = DemoCase.all.filter {
            (arguments["template"] ?? $0.templateId) == $0.templateId
                && (arguments["case"] ?? $0.script.rawValue) == $0.script.rawValue
        }
        guard !chosen.isEmpty else {
            let names = DemoScript.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                "no case is chosen by these options", next: "--case takes: \(names)",
                status: .usage)
        }
        var code = arguments["scheme"]
        if code == nil { code = try await DefaultScheme(desk: desk).ensure(on: connection) }
        let stage = Stage(desk: desk, connection: connection, schemeCode: code ?? "")
        let report = await Demo(desk: desk, rounds: try stage.rounds(arguments)).run(chosen)
        Demo.show(report, desk)
        return report.isOK ? .done : .failed
    }
}

/// Who speaks over what, by the options of the command.
struct Stage: Sendable {
    let desk: Desk
    let connection: Connection
    let schemeCode: String

    private var keys: DemoKeys { DemoKeys(random: desk.machine.random) }
    private var busAppServer: BusAppServer {
        BusAppServer(bus: connection.caller, keys: keys, schemeCode: schemeCode)
    }

    /// The plain demo: app and app server over the bus.
    var overBus: Demo.Round {
        Demo.Round(
            road: nil, cast: cast(BusApp(bus: connection.caller, keys: keys), busAppServer))
    }

    func rounds(_ arguments: Arguments) throws(CommandFailure) -> [Demo.Round] {
        guard let address = try gateway(arguments) else {
            for option in ["mode", "app-server"] where arguments[option] != nil {
                throw CommandFailure(
                    "--\(option) goes with --http", next: "add --http", status: .usage)
            }
            return [overBus]
        }
        let http = try desk.machine.http()
        let app = HTTPApp(http: http, address: address, keys: keys)
        return try modes(arguments).map { mode in
            var server: any DemoAppServer = busAppServer
            if mode == .normal, let address = arguments["app-server"] {
                server = HTTPAppServer(http: http, address: address)
            }
            return Demo.Round(
                road: DemoRoad(mode: mode, transport: "http"), cast: cast(app, server))
        }
    }

    private func cast(_ app: any DemoApp, _ server: any DemoAppServer) -> DemoPlay.Cast {
        DemoPlay.Cast(
            app: app, appServer: server, bus: connection.caller, pause: desk.machine.pause,
            random: desk.machine.random)
    }

    /// nil when the app is to speak over the bus.
    private func gateway(_ arguments: Arguments) throws(CommandFailure) -> String? {
        if let address = arguments["http"] { return address }
        guard arguments.has("http") else { return nil }
        guard let address = desk.machine.endpoints(home: desk.home)?.http else {
            throw CommandFailure(
                "no gateway runs in this home",
                next: "fusionctl up, or name one: --http http://HOST:PORT")
        }
        return address
    }

    private func modes(_ arguments: Arguments) throws(CommandFailure) -> [DemoMode] {
        guard let name = arguments["mode"] else { return DemoMode.allCases }
        guard let mode = DemoMode(rawValue: name) else {
            throw CommandFailure(
                "--mode takes normal or quick", next: "leave it out for both", status: .usage)
        }
        return [mode]
    }
}

/// Plays cases one after the other.
struct Demo: Sendable {
    /// One way of playing every case.
    struct Round: Sendable {
        let road: DemoRoad?
        let cast: DemoPlay.Cast
    }

    let desk: Desk
    let rounds: [Round]
    /// The steady instant from which the report's seconds count; nil counts from here.
    var beganAt: Duration?

    func run(_ cases: [DemoCase] = DemoCase.all) async -> DemoReport {
        let pause = desk.machine.pause
        let began = beganAt ?? pause.steadyNow()
        var played: [DemoReport.Played] = []
        for round in rounds {
            for story in cases {
                let play = DemoPlay(round.cast, templateId: story.templateId)
                var problem: String?
                do { try await story.play(play) } catch { problem = "\(error)" }
                var record = play.record
                record.error = problem
                let entry = DemoReport.Played(story: story, record: record, road: round.road)
                played.append(entry)
                desk.terminal.progress(
                    "demo: \(entry.isAsExpected ? "✓" : "✗") \(entry.name): \(record.outcome)"
                        + (record.error.map { " (\($0))" } ?? ""))
            }
        }
        let took = pause.steadyNow() - began
        return DemoReport(
            endpoints: desk.machine.endpoints(home: desk.home)
                ?? Endpoints(ipc: nil, tcp: nil, http: nil, brokerKey: nil),
            seconds: Double(took.wholeMilliseconds) / 1000, cases: played)
    }

    static func show(_ report: DemoReport, _ desk: Desk) {
        desk.terminal.result(desk.isJSON ? report.json.compact : report.people)
    }
}

/// The scheme that every home has: com.example.app on iOS and Android.
struct DefaultScheme: Sendable {
    static let name = "default"
    static let bundleId = "com.example.app"
    static let packageName = "com.example.app"
    /// Stands for the MD5 of a signing certificate; an app of your own has its own.
    static let packageSign = "0123456789abcdef0123456789abcdef"
    static let requestKey = "fusionctl-default-scheme"

    let desk: Desk

    /// Makes it once; its code is then kept in the home.
    func ensure(on connection: Connection) async throws(CommandFailure) -> String {
        if let code = desk.machine.defaultScheme(home: desk.home),
            try await exists(code, connection)
        {
            return code
        }
        // Where the code is lost, another is made: whoever holds an API key may give this name and
        // this app to a scheme of theirs.
        let scheme = try await desk.call(
            CreateScheme(
                name: Self.name,
                app: AppIdentity(
                    iosBundleId: Self.bundleId, androidPackageName: Self.packageName,
                    androidPackageSign: Self.packageSign)),
            on: connection, CallOptions(requestKey: Self.requestKey, timeout: .seconds(10)))
        try desk.machine.setDefaultScheme(scheme.schemeCode, home: desk.home)
        return scheme.schemeCode
    }

    private func exists(
        _ code: String, _ connection: Connection
    ) async throws(CommandFailure) -> Bool {
        do throws(ServiceFailure) {
            _ = try await connection.caller.call(
                GetScheme(schemeCode: code), CallOptions(timeout: .seconds(10)))
            return true
        } catch {
            guard error.code == .schemeNotFound else { throw CommandFailure(error) }
            return false
        }
    }
}
