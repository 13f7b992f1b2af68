import Messages

/// What a policy changes in scene templates.
extension PolicyReview {
    static let standardTemplates = ["100001", "100002", "100003", "100004", "100005"]
    static let windowsMax = 8
    static let nodesMax = 64
    static let windowLimitRange = 0...1_000_000
    static let windowSecondsRange: ClosedRange<Int64> = 1...2_678_400
    static let timeoutRange: ClosedRange<Int64> = 1...60

    /// A standard template, or one that this scheme brings the graph of.
    func isTemplate(_ id: String) -> Bool {
        Self.standardTemplates.contains(id)
            || (policy.templates ?? []).contains { $0.templateId == id && $0.graph != nil }
    }

    var templateFindings: [Finding] {
        let templates = policy.templates ?? []
        guard templates.count <= Self.listCountMax else {
            return [Self.tooMany("policy.templates")]
        }
        var findings: [Finding] = []
        var seen: Set<String> = []
        for (index, template) in templates.enumerated() {
            let field = "policy.templates[\(index)]"
            if !Text.matches(template.templateId, 1...32, Text.isAlphanumeric)
                || template.templateId == Self.edgeTemplate
            {
                findings.append(
                    Finding(field: "\(field).templateId", text: "takes 1 to 32 letters and digits"))
            } else if !isTemplate(template.templateId) {
                findings.append(
                    Finding(
                        field: "\(field).graph",
                        text: "is missing: \(template.templateId) is no standard template"))
            }
            if !seen.insert(template.templateId).inserted {
                findings.append(Finding(field: field, text: "is the second of its template"))
            }
            findings += codes(of: template, field)
            findings += nodes(of: template, field)
            findings += graph(of: template, field)
        }
        return findings
    }

    private func codes(of template: TemplatePolicy, _ field: String) -> [Finding] {
        lifetime(template.codeLifetimeSeconds, "\(field).codeLifetimeSeconds")
            + guessing(
                length: template.codeLength ?? codeLength,
                lifetimeSeconds: template.codeLifetimeSeconds ?? lifetimeSeconds,
                field: "\(field).codeLength")
    }

    private func nodes(of template: TemplatePolicy, _ field: String) -> [Finding] {
        let nodes = template.nodes ?? []
        guard nodes.count <= Self.nodesMax else {
            return [Self.tooMany("\(field).nodes", Self.nodesMax)]
        }
        var findings: [Finding] = []
        var seen: Set<String> = []
        for (index, node) in nodes.enumerated() {
            let field = "\(field).nodes[\(index)]"
            if !seen.insert(node.nodeId).inserted {
                findings.append(Finding(field: field, text: "is the second of its node"))
            }
            if let score = node.scoreThreshold, !(0...100).contains(score) {
                findings.append(Self.range("\(field).scoreThreshold", 0...100))
            }
            if let seconds = node.timeoutSeconds, !Self.timeoutRange.contains(seconds) {
                findings.append(Self.range("\(field).timeoutSeconds", Self.timeoutRange))
            }
            findings += windows(node.windows, "\(field).windows")
        }
        return findings
    }

    func windows(_ windows: [FrequencyWindow]?, _ field: String) -> [Finding] {
        guard let windows else { return [] }
        guard windows.count <= Self.windowsMax else {
            return [Self.tooMany(field, Self.windowsMax)]
        }
        var findings: [Finding] = []
        for (index, window) in windows.enumerated() {
            if !Self.windowLimitRange.contains(window.limit) {
                findings.append(Self.range("\(field)[\(index)].limit", Self.windowLimitRange))
            }
            if !Self.windowSecondsRange.contains(window.seconds) {
                findings.append(Self.range("\(field)[\(index)].seconds", Self.windowSecondsRange))
            }
        }
        return findings
    }

    private func graph(of template: TemplatePolicy, _ field: String) -> [Finding] {
        guard let graph = template.graph else { return [] }
        let field = "\(field).graph"
        guard graph.templateId == template.templateId else {
            return [Finding(field: "\(field).templateId", text: "differs from its template's")]
        }
        guard (1...Self.nodesMax).contains(graph.nodes.count) else {
            return [Self.range("\(field).nodes", 1...Self.nodesMax)]
        }
        var findings: [Finding] = []
        for (index, node) in graph.nodes.enumerated() {
            guard let settings = node.settings else { continue }
            let field = "\(field).nodes[\(index)].settings"
            findings += windows(settings.windows, "\(field).windows")
            findings += lifetime(settings.codeLifetimeSeconds, "\(field).codeLifetimeSeconds")
            if let length = settings.codeLength {
                findings += guessing(
                    length: length,
                    lifetimeSeconds: settings.codeLifetimeSeconds ?? lifetimeSeconds,
                    field: "\(field).codeLength")
            }
        }
        return findings
    }
}
