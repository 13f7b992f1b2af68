import FoundationEssentials
import Messages

/// `scene …`: graphs as files.
enum SceneCommands {
    static let all = [lint, show]

    private static let lint = Command(
        CommandSyntax(
            "scene lint", operands: ["FILE"],
            "finds dead ends, unknown targets and limits in a scene graph; exits 1 on a finding")
    ) { arguments, desk in
        let path = try arguments.required(0)
        let bytes = try desk.machine.readFile(path)
        let graph: SceneGraph
        do {
            graph = try JSONDecoder().decode(SceneGraph.self, from: Data(bytes))
        } catch {
            throw CommandFailure(
                "\(path) is no scene graph: \(DecodingWords.of(error))",
                next: "fusionctl scene show 100001 prints one")
        }
        let problems = SceneLint.problems(in: graph)
        if desk.isJSON {
            desk.show(
                .object([
                    "ok": .flag(problems.isEmpty), "templateId": .text(graph.templateId),
                    "problems": .list(problems.map { .text($0) }),
                ]))
        } else if problems.isEmpty {
            desk.terminal.result(
                "\(graph.templateId) “\(graph.name)”: \(graph.nodes.count) nodes, no finding")
        } else {
            desk.terminal.result(problems.map { "✗ \($0)" }.joined(separator: "\n"))
        }
        return problems.isEmpty ? .done : .failed
    }

    private static let show = Command(
        CommandSyntax(
            "scene show", operands: ["TEMPLATE"],
            "prints a standard scene graph as JSON, to begin one of your own")
    ) { arguments, desk in
        let id = try arguments.required(0)
        guard let graph = StandardScenes.graph(id) else {
            let known = StandardScenes.all.map(\.templateId).joined(separator: ", ")
            throw CommandFailure("there is no standard scene \(id)", next: "one of: \(known)")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(graph)
        desk.terminal.result(String(decoding: bytes, as: UTF8.self))
        return .done
    }
}
