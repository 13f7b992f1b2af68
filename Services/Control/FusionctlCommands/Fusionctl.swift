/// The tool: reads the command line, runs the command, and turns what went wrong into words.
package struct Fusionctl: Sendable {
    private let machine: any Machine
    private let terminal: any Terminal
    private let version: String

    package init(machine: any Machine, terminal: any Terminal, version: String) {
        self.machine = machine
        self.terminal = terminal
        self.version = version
    }

    static let commands: [Command] =
        HomeCommands.all + CallCommands.all + SchemeCommands.all + KeyCommands.all
        + TokenCommands.all + SMSCommands.all + SandboxCommands.all + DemoCommands.all
        + IntrospectionCommands.all + SceneCommands.all + SchemaCommands.all + BenchCommands.all

    /// - Parameter words: the command line without the program's name.
    package func run(_ words: [String]) async -> ExitStatus {
        switch words.first {
        case nil, "help", "--help", "-h":
            terminal.result(help(Array(words.dropFirst())))
            return words.isEmpty ? .usage : .done
        case "--version", "version":
            terminal.result("fusionctl \(version)")
            return .done
        default: return await runCommand(words)
        }
    }

    private func runCommand(_ words: [String]) async -> ExitStatus {
        let isJSON = words.prefix { $0 != "--" }.contains("--json")
        do {
            let command = try find(words)
            let rest = words.dropFirst(command.syntax.words.count)
            let arguments = try Arguments(Array(rest), command.syntax)
            if arguments.has("help") {
                terminal.result(helpText(command.syntax))
                return .done
            }
            let desk = Desk(
                machine: machine, terminal: terminal, home: arguments["home"],
                isJSON: arguments.has("json"))
            return try await command.run(arguments, desk)
        } catch let failure as CommandFailure {
            return complain(failure, isJSON)
        } catch {
            return complain(CommandFailure("\(error)", next: nil), isJSON)
        }
    }

    /// With `--json` a failure is a document on stdout too, so that a program need not read stderr.
    private func complain(_ failure: CommandFailure, _ isJSON: Bool) -> ExitStatus {
        terminal.progress("fusionctl: \(failure)")
        if isJSON {
            terminal.result(
                JSONValue.object([
                    "error": .object([
                        "reason": .text(failure.reason), "message": .text(failure.message),
                        "next": .text(failure.next),
                    ])
                ]).pretty)
        }
        return failure.status
    }

    /// The command whose words the line begins with; the longest wins.
    private func find(_ words: [String]) throws(CommandFailure) -> Command {
        let matching = Self.commands.filter { words.starts(with: $0.syntax.words) }
        if let found = matching.max(by: { $0.syntax.words.count < $1.syntax.words.count }) {
            return found
        }
        let first = words.first ?? ""
        let family = Self.commands.filter { $0.syntax.words.first == first }
        guard family.isEmpty else {
            let verbs = family.compactMap { $0.syntax.words.dropFirst().first }
            throw CommandFailure(
                "“\(first)” needs one of: \(verbs.joined(separator: ", "))",
                next: "fusionctl help \(first)", status: .usage)
        }
        throw CommandFailure(
            "there is no command “\(first)”", next: "fusionctl help", status: .usage)
    }

    private func help(_ words: [String]) -> String {
        let chosen = Self.commands.filter { $0.syntax.words.starts(with: words) }
        if chosen.count == 1, !words.isEmpty { return helpText(chosen[0].syntax) }
        var table = Table(["", ""])
        for command in chosen.isEmpty ? Self.commands : chosen {
            table.add([command.syntax.usage, command.syntax.summary])
        }
        return "fusionctl \(version): the operator's tool of FusionBus\n\n\(table.text)\n\n"
            + "fusionctl help COMMAND tells its options. Every command takes --home DIR and --json."
    }

    private func helpText(_ syntax: CommandSyntax) -> String {
        var table = Table(["", ""])
        for option in syntax.options {
            table.add([
                "  --\(option.name)\(option.valueText)", option.help,
            ])
        }
        return "\(syntax.usage)\n\(syntax.summary)\n\n\(table.text)"
    }
}
