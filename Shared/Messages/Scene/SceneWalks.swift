/// All ways through a graph whose targets exist: reachability, loops, ends without a proof.
struct SceneWalks {
    private let graph: SceneGraph
    /// In the order of `graph.nodes`, by position.
    private let success: [[Int]]
    private let failure: [[Int]]
    /// Positions whose success or failure edge may end the scene.
    private let endsBySuccess: [Bool]
    private let endsByFailure: [Bool]

    init(_ graph: SceneGraph) {
        self.graph = graph
        let position = Dictionary(
            graph.nodes.enumerated().map { ($1.nodeId, $0) },
            uniquingKeysWith: { first, _ in first })
        func positions(_ targets: [String]) -> [Int] { targets.compactMap { position[$0] } }
        func allSuccess(_ node: SceneNode) -> [String] {
            node.success + (node.successWithGraphic ?? [])
        }
        func allFailure(_ node: SceneNode) -> [String] {
            node.failure + (node.failureWithGraphic ?? [])
        }
        success = graph.nodes.map { positions(allSuccess($0)) }
        // "Another way to log in" is left without a proof, like a failure.
        failure = graph.nodes.map {
            positions(allFailure($0) + ($0.settings?.otherButtonNode.map { [$0] } ?? []))
        }
        endsBySuccess = graph.nodes.map { allSuccess($0).contains(SceneGraph.end) }
        endsByFailure = graph.nodes.map { allFailure($0).contains(SceneGraph.end) }
    }

    func problems() -> [String] {
        guard let begin = graph.nodes.firstIndex(where: { $0.nodeId == graph.begin }) else {
            return []
        }
        let all = Array(graph.nodes.indices)
        var problems: [String] = []
        let reached = reach(from: [begin]) { success[$0] + failure[$0] }
        for index in all where !reached[index] {
            problems.append("node \(id(index)): cannot be reached")
        }
        let ending = reachBack(all.filter { endsBySuccess[$0] || endsByFailure[$0] })
        for index in all where reached[index] && !ending[index] {
            problems.append("node \(id(index)): dead end, no way leads to END")
        }
        for index in all where reached[index] && loopsAlone(index) {
            problems.append("node \(id(index)): lies in a loop without a proving node")
        }
        let unproven = reachedUnproven(begin)
        for index in all where unproven[index] && endsBySuccess[index] {
            if !graph.nodes[index].kind.isProving {
                problems.append("node \(id(index)): the scene would pass there without a proof")
            }
        }
        if !all.contains(where: { reached[$0] && graph.nodes[$0].kind.isProving }) {
            problems.append("nodes: no proving node can be reached, the scene never passes")
        }
        return problems
    }

    // MARK: -

    private func id(_ index: Int) -> String { graph.nodes[index].nodeId }

    private func reach(
        from start: [Int], among count: Int? = nil, _ next: (Int) -> [Int]
    ) -> [Bool] {
        var reached = Array(repeating: false, count: count ?? graph.nodes.count)
        var open = start
        while let index = open.popLast() {
            guard !reached[index] else { continue }
            reached[index] = true
            open += next(index)
        }
        return reached
    }

    private func reachBack(_ ends: [Int]) -> [Bool] {
        var before = Array(repeating: [Int](), count: graph.nodes.count)
        for index in graph.nodes.indices {
            for target in success[index] + failure[index] { before[target].append(index) }
        }
        return reach(from: ends) { before[$0] }
    }

    /// Whether a node that moves on by itself leads back to itself over such nodes alone.
    private func loopsAlone(_ index: Int) -> Bool {
        func next(_ index: Int) -> [Int] {
            (success[index] + failure[index]).filter { !graph.nodes[$0].kind.isProving }
        }
        guard !graph.nodes[index].kind.isProving else { return false }
        return reach(from: next(index), next)[index]
    }

    /// Nodes that can be entered while the last step before was no proof: a proving node was never
    /// left by its success edge, or something failed since.
    private func reachedUnproven(_ begin: Int) -> [Bool] {
        let count = graph.nodes.count
        // Position `index + count` stands for the node entered with a proof.
        let reached = reach(from: [begin], among: 2 * count) { place in
            let index = place % count
            let isProven = place >= count || graph.nodes[index].kind.isProving
            return success[index].map { isProven ? $0 + count : $0 } + failure[index]
        }
        return Array(reached.prefix(count))
    }
}
