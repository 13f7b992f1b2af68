/// `bench …`: speed on this machine, as figures beside each other in one run.
enum BenchCommands {
    static let all = [bus, store] + LoadBenchCommands.all

    static let outstandingMax = 1024
    static let out = CommandSyntax.Option.value("out", "FILE", "also save the JSON here")

    private static let bus = Command(
        CommandSyntax(
            "bench bus",
            options: [
                .value("seconds", "N", "measured time of each row; else 2"),
                .value("outstanding", "N,…", "calls under way at once; else 1,16,256"), out,
            ],
            "client, broker and worker as processes of their own; opaque and JSON bodies")
    ) { arguments, desk in
        let seconds = try arguments.integer("seconds", in: 1...600) ?? 2
        let outstanding =
            try arguments.integers("outstanding", in: 1...outstandingMax) ?? [1, 16, 256]
        let rows = try await desk.machine.benchBus(
            BusBenchPlan(seconds: Double(seconds), outstanding: outstanding), home: desk.home,
            progress: { desk.terminal.progress("bench: \($0)") })
        return try show("bus", rows, arguments, desk)
    }

    private static let store = Command(
        CommandSyntax(
            "bench store",
            options: [.value("seconds", "N", "measured time of each row; else 2"), out],
            "durable decisions of the embedded store, one commit each and in groups")
    ) { arguments, desk in
        let seconds = try arguments.integer("seconds", in: 1...600) ?? 2
        let rows = try await desk.machine.benchStore(
            StoreBenchPlan(seconds: Double(seconds)), home: desk.home,
            progress: { desk.terminal.progress("bench: \($0)") })
        return try show("store", rows, arguments, desk)
    }

    static func show(
        _ name: String, _ rows: [BenchRow], _ arguments: Arguments, _ desk: Desk
    ) throws(CommandFailure) -> ExitStatus {
        let items = rows.map { row in
            JSONValue.object(
                row.labels.map { JSONValue.Member(name: $0.name, value: .text($0.value)) }
                    + row.figures.map {
                        JSONValue.Member(name: $0.name, value: .number(rounded($0.value)))
                    })
        }
        let document = JSONValue.object(["bench": .text(name), "rows": .list(items)])
        if let path = arguments["out"] {
            try desk.machine.writePrivateFile(path, Array((document.pretty + "\n").utf8))
        }
        guard !desk.isJSON, let first = rows.first else {
            desk.show(document)
            return .done
        }
        var table = Table(first.labels.map(\.name) + first.figures.map(\.name))
        for row in rows {
            table.add(row.labels.map(\.value) + row.figures.map { figure($0.value) })
        }
        desk.terminal.result(table.text)
        return .done
    }

    /// Four figures are more than a benchmark is worth.
    private static func rounded(_ value: Double) -> Double {
        value >= 1000 ? value.rounded() : (value * 100).rounded() / 100
    }

    private static func figure(_ value: Double) -> String {
        let value = rounded(value)
        return value == value.rounded() ? "\(Int64(value))" : "\(value)"
    }
}
