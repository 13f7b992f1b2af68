import Messages
import Testing

@Suite struct SceneLintTests {
    static let template = "900001"
    static func id(_ number: Int) -> String { "300000\(template)00\(number)" }

    static func node(
        _ number: Int, _ kind: NodeKind, _ success: [String], _ failure: [String],
        enabled: Bool = true, settings: NodeSettings? = nil
    ) -> SceneNode {
        SceneNode(
            nodeId: id(number), kind: kind, enabled: enabled, success: success, failure: failure,
            settings: settings)
    }

    static func graph(_ nodes: [SceneNode], begin: String? = nil) -> SceneGraph {
        SceneGraph(templateId: template, name: "Own", begin: begin ?? id(1), nodes: nodes)
    }

    @Test("the five scenes are without a problem", arguments: StandardScenes.all)
    func standard(graph: SceneGraph) { #expect(SceneLint.problems(in: graph) == []) }

    static let faulty: [(String, SceneGraph)] = [
        ("begin: is missing", graph([node(1, .smsCode, ["END"], ["END"])], begin: "")),
        ("begin: there is no node", graph([node(1, .smsCode, ["END"], ["END"])], begin: id(9))),
        ("there is no node", graph([node(1, .smsCode, [id(4)], ["END"])])),
        ("dead end, no target", graph([node(1, .smsCode, ["END"], [])])),
        (
            "cannot be reached",
            graph([node(1, .smsCode, ["END"], ["END"]), node(2, .upgoingSMS, ["END"], ["END"])])
        ),
        (
            "no way leads to END",
            graph([node(1, .smsCode, [id(2)], [id(2)]), node(2, .upgoingSMS, [id(1)], [id(1)])])
        ),
        (
            "loop without a proving node",
            graph([
                node(1, .deviceRisk, [id(2)], [id(3)]), node(2, .phoneScore, [id(1)], [id(3)]),
                node(3, .smsCode, ["END"], ["END"]),
            ])
        ),
        (
            "pass there without a proof",
            graph([
                node(1, .deviceRisk, [id(2)], [id(3)]), node(2, .phoneScore, ["END"], ["END"]),
                node(3, .smsCode, ["END"], ["END"]),
            ])
        ),
        (
            "pass there without a proof",
            graph([
                node(1, .smsCode, [id(2)], ["END"]), node(2, .deviceRisk, ["END"], [id(3)]),
                node(3, .phoneScore, ["END"], ["END"]),
            ])
        ),
        ("no proving node", graph([node(1, .graphic, ["END"], ["END"])])),
        (
            "windows: two of 60 s",
            graph([
                node(
                    1, .smsCode, ["END"], ["END"],
                    settings: NodeSettings(windows: [
                        FrequencyWindow(limit: 1, seconds: 60),
                        FrequencyWindow(limit: 2, seconds: 60),
                    ]))
            ])
        ),
        (
            "windows.seconds: must lie in",
            graph([
                node(
                    1, .smsCode, ["END"], ["END"],
                    settings: NodeSettings(windows: [FrequencyWindow(limit: 1, seconds: 0)]))
            ])
        ),
        (
            "is no SMS node",
            graph([
                node(
                    1, .numberRisk, [id(2)], [id(2)], settings: NodeSettings(effectNode: id(1))),
                node(2, .smsCode, ["END"], ["END"]),
            ])
        ),
        (
            "an id is 300000",
            graph([
                SceneNode(nodeId: "abc", kind: .smsCode, success: ["END"], failure: ["END"])
            ])
        ),
        (
            "comes twice",
            graph([node(1, .smsCode, ["END"], ["END"]), node(1, .smsCode, ["END"], ["END"])])
        ),
        ("may not be switched off", graph([node(1, .smsCode, ["END"], ["END"], enabled: false)])),
        ("END must come last", graph([node(1, .smsCode, ["END", id(1)], ["END"])])),
        (
            "all are 0",
            graph([
                node(
                    1, .splitter, [id(2)], [id(2)],
                    settings: NodeSettings(weights: [SplitWeight(nodeId: id(2), weight: 0)])),
                node(2, .smsCode, ["END"], ["END"]),
            ])
        ),
    ]

    @Test("each fault of a graph is named", arguments: faulty)
    func faults(expected: String, graph: SceneGraph) {
        let problems = SceneLint.problems(in: graph)
        #expect(problems.contains { $0.contains(expected) }, "\(problems)")
    }

    @Test("a scheme may switch off what may be off, and nothing else")
    func policies() {
        func problems(_ change: NodePolicy) -> [String] {
            SceneLint.problems(in: TemplatePolicy(templateId: "100001", nodes: [change]))
        }
        #expect(problems(NodePolicy(nodeId: "300000100001001", enabled: false)) == [])
        #expect(problems(NodePolicy(nodeId: "300000100001005", enabled: false)) != [])
        #expect(problems(NodePolicy(nodeId: "300000100001005", scoreThreshold: 3)) != [])
        #expect(problems(NodePolicy(nodeId: "300000100001099")) != [])
        #expect(SceneLint.problems(in: TemplatePolicy(templateId: "100009")) != [])
        #expect(SceneLint.problems(in: TemplatePolicy(templateId: "100001", codeLength: 3)) != [])
    }
}
