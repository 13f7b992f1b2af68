/// Settings of nodes, and what a scheme may change at them.
extension SceneLint {
    static func settingsProblems(_ node: SceneNode, _ graph: SceneGraph) -> [String] {
        let place = "node \(node.nodeId)"
        let settings = node.settings ?? NodeSettings()
        var problems = riskProblems(place, settings.scoreThreshold, settings.windows)
        problems += lengthProblems(place, settings.codeLength, settings.codeLifetimeSeconds)
        problems += rangeProblem(place, "lifetimeSeconds", settings.lifetimeSeconds, 60...600)
        problems += rangeProblem(place, "timeoutSeconds", settings.timeoutSeconds, 1...60)
        problems += rangeProblem(place, "numberGapSeconds", settings.numberGapSeconds, 1...3_600)
        problems += rangeProblem(place, "deviceGapSeconds", settings.deviceGapSeconds, 1...3_600)
        switch node.kind {
        case .numberRisk: problems += guardProblems(place, settings, graph)
        case .numberAuth:
            if let other = settings.otherButtonNode, graph.node(other) == nil {
                problems.append("\(place), otherButtonNode: there is no node \(quoted(other))")
            }
        case .smsCode: problems += numberProblems(place, settings, graph)
        case .splitter: problems += weightProblems(place, settings.weights, node)
        case .deviceRisk, .upgoingSMS, .phoneScore, .graphic: break
        }
        return problems
    }

    static func nodePolicyProblems(_ change: NodePolicy, _ graph: SceneGraph) -> [String] {
        let place = "node \(quoted(change.nodeId))"
        guard let node = graph.node(change.nodeId) else {
            return ["\(place): the template has no such node"]
        }
        var problems = riskProblems(place, change.scoreThreshold, change.windows)
        problems += rangeProblem(place, "timeoutSeconds", change.timeoutSeconds, 1...60)
        if change.enabled == false && !node.canBeDisabled {
            problems.append("\(place): may not be switched off")
        }
        let judgesRisk = node.kind == .deviceRisk || node.kind == .numberRisk
        if !judgesRisk && (change.scoreThreshold != nil || change.windows != nil) {
            problems.append("\(place): only risk nodes take scoreThreshold and windows")
        }
        if node.kind != .numberAuth && change.timeoutSeconds != nil {
            problems.append("\(place): only number authentication takes timeoutSeconds")
        }
        return problems
    }

    static func lengthProblems(
        _ place: String, _ codeLength: Int?, _ codeLifetimeSeconds: Int64?
    ) -> [String] {
        rangeProblem(place, "codeLength", codeLength, 4...10)
            + rangeProblem(place, "codeLifetimeSeconds", codeLifetimeSeconds, 60...600)
    }

    private static func riskProblems(
        _ place: String, _ threshold: Int?, _ windows: [FrequencyWindow]?
    ) -> [String] {
        var problems = rangeProblem(place, "scoreThreshold", threshold, 0...100)
        let windows = windows ?? []
        if windows.count > windowsMax {
            problems.append("\(place), windows: at most \(windowsMax)")
        }
        var seen: Set<Int64> = []
        for window in windows {
            problems += rangeProblem(place, "windows.limit", window.limit, windowLimitRange)
            problems += rangeProblem(place, "windows.seconds", window.seconds, windowSecondsRange)
            if !seen.insert(window.seconds).inserted {
                problems.append("\(place), windows: two of \(window.seconds) s")
            }
        }
        return problems
    }

    private static func guardProblems(
        _ place: String, _ settings: NodeSettings, _ graph: SceneGraph
    ) -> [String] {
        guard let effect = settings.effectNode else {
            return ["\(place), effectNode: is missing; it names the SMS node to guard"]
        }
        guard graph.node(effect)?.kind == .smsCode else {
            return ["\(place), effectNode: \(quoted(effect)) is no SMS node"]
        }
        return []
    }

    private static func numberProblems(
        _ place: String, _ settings: NodeSettings, _ graph: SceneGraph
    ) -> [String] {
        var problems: [String] = []
        if settings.prefilled == true && settings.validityCheck == true {
            problems.append("\(place): a pre-filled number is not typed, so not checked either")
        }
        if settings.excludesOldNumber == true {
            if settings.prefilled == true || settings.validityCheck == true {
                problems.append("\(place): the account's number cannot be excluded there")
            }
            if !graph.nodes.contains(where: { $0.settings?.halfway == true }) {
                problems.append("\(place), excludesOldNumber: no half-way node proves one")
            }
        }
        return problems
    }

    private static func weightProblems(
        _ place: String, _ weights: [SplitWeight]?, _ node: SceneNode
    ) -> [String] {
        let weights = weights ?? []
        var problems: [String] = []
        let targets = node.success + (node.successWithGraphic ?? [])
        for weight in weights where !targets.contains(weight.nodeId) {
            problems.append("\(place), weights: \(quoted(weight.nodeId)) is no target")
        }
        for weight in weights {
            problems += rangeProblem(place, "weights.weight", weight.weight, 0...1_000_000)
        }
        if !weights.isEmpty && weights.allSatisfy({ $0.weight == 0 }) {
            problems.append("\(place), weights: all are 0, nothing would be chosen")
        }
        return problems
    }

    private static func rangeProblem<Value: Comparable>(
        _ place: String, _ name: String, _ value: Value?, _ range: ClosedRange<Value>
    ) -> [String] {
        guard let value, !range.contains(value) else { return [] }
        return ["\(place), \(name): must lie in \(range.lowerBound)…\(range.upperBound)"]
    }
}
