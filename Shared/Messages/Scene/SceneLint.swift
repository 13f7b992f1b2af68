import Primitives

/// Finds what would make a scene stick, loop, or pass without a proof. Whoever takes a graph from
/// outside refuses one with a problem.
public enum SceneLint {
    public static let nodesMax = 50
    /// Frequency rules of one node.
    public static let windowsMax = 5
    /// Targets of one edge.
    public static let targetsMax = 5
    static let windowSecondsRange: ClosedRange<Int64> = 1...2_592_000
    static let windowLimitRange = 0...1_000

    /// One sentence for each problem, in the order of the nodes; empty for a good graph.
    public static func problems(in graph: SceneGraph) -> [String] {
        let shape = shapeProblems(graph)
        // The walks below need targets that exist.
        guard shape.isEmpty else { return shape }
        return SceneWalks(graph).problems()
    }

    /// What a scheme changes in a template: its own graph, or what it sets at nodes of the
    /// standard one.
    public static func problems(in policy: TemplatePolicy) -> [String] {
        guard let graph = policy.graph ?? StandardScenes.graph(policy.templateId) else {
            return ["template \(policy.templateId): no such template, and no graph of its own"]
        }
        var problems = policy.graph.map(problems(in:)) ?? []
        if graph.templateId != policy.templateId {
            problems.append("template \(policy.templateId): its graph is of \(graph.templateId)")
        }
        problems += lengthProblems(
            "template \(policy.templateId)", policy.codeLength, policy.codeLifetimeSeconds)
        var seen: Set<String> = []
        for change in policy.nodes ?? [] {
            if !seen.insert(change.nodeId).inserted {
                problems.append("node \(change.nodeId): set twice")
            }
            problems += nodePolicyProblems(change, graph)
        }
        return problems
    }

    // MARK: - Shape

    private static func shapeProblems(_ graph: SceneGraph) -> [String] {
        var problems: [String] = []
        if !isTemplateID(graph.templateId) {
            problems.append("templateId \(quoted(graph.templateId)): takes six digits")
        }
        if !(1...64).contains(graph.name.utf8.count) {
            problems.append("name: takes 1 to 64 bytes")
        }
        if graph.configVersion < 1 { problems.append("configVersion: begins at 1") }
        if graph.nodes.isEmpty { problems.append("nodes: a scene has at least one") }
        if graph.nodes.count > nodesMax { problems.append("nodes: at most \(nodesMax)") }
        if graph.begin.isEmpty {
            problems.append("begin: is missing")
        } else if graph.node(graph.begin) == nil {
            problems.append("begin: there is no node \(quoted(graph.begin))")
        }
        var seen: Set<String> = []
        for node in graph.nodes.prefix(nodesMax) {
            if !isNodeID(node.nodeId, of: graph.templateId) {
                problems.append(
                    "node \(quoted(node.nodeId)): an id is 300000, the template id, three digits")
            }
            if !seen.insert(node.nodeId).inserted {
                problems.append("node \(node.nodeId): this id comes twice")
            }
            if !node.enabled && !node.canBeDisabled {
                problems.append("node \(node.nodeId): is off but may not be switched off")
            }
            problems += edgeProblems(node, graph) + settingsProblems(node, graph)
        }
        return problems
    }

    private static func edgeProblems(_ node: SceneNode, _ graph: SceneGraph) -> [String] {
        let edges: [(name: String, targets: [String]?)] = [
            ("success", node.success), ("failure", node.failure),
            ("successWithGraphic", node.successWithGraphic),
            ("failureWithGraphic", node.failureWithGraphic),
        ]
        var problems: [String] = []
        for edge in edges {
            guard let targets = edge.targets else { continue }
            let place = "node \(node.nodeId), \(edge.name)"
            if targets.isEmpty { problems.append("\(place): dead end, no target") }
            if targets.count > targetsMax {
                problems.append("\(place): at most \(targetsMax) targets")
            }
            for target in targets.prefix(targetsMax) {
                if target != SceneGraph.end, graph.node(target) == nil {
                    problems.append("\(place): there is no node \(quoted(target))")
                } else if target == node.nodeId {
                    problems.append("\(place): leads to itself")
                }
            }
            // Nothing behind END would ever be tried.
            if let end = targets.firstIndex(of: SceneGraph.end), end != targets.indices.last {
                problems.append("\(place): END must come last")
            }
        }
        return problems
    }

    static func quoted(_ text: String) -> String { "\"\(text.prefix(bytesMax: 40))\"" }

    private static func isTemplateID(_ text: String) -> Bool {
        text.utf8.count == 6 && text.utf8.allSatisfy(isDigit)
    }

    private static func isNodeID(_ text: String, of templateId: String) -> Bool {
        let head = "300000\(templateId)"
        guard text.hasPrefix(head) else { return false }
        let tail = text.utf8.dropFirst(head.utf8.count)
        return tail.count == 3 && tail.allSatisfy(isDigit)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}
