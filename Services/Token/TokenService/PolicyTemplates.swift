import Messages

/// What a policy changes in scene templates. The graph itself, its nodes and their settings are the
/// scene lint's matter; here it is the list, and the chance of guessing.
extension PolicyReview {
    /// A standard template, or one that this scheme brings the graph of.
    func isTemplate(_ id: String) -> Bool {
        StandardScenes.graph(id) != nil
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
            if !seen.insert(template.templateId).inserted {
                findings.append(Finding(field: field, text: "is the second of its template"))
            }
            findings += SceneLint.problems(in: template).map { Finding(field: field, text: $0) }
            findings += guessing(at: template, field)
        }
        return findings
    }

    private func guessing(at template: TemplatePolicy, _ field: String) -> [Finding] {
        let length = template.codeLength ?? codeLength
        let lifetime = template.codeLifetimeSeconds ?? lifetimeSeconds
        var findings = guessing(
            length: length, lifetimeSeconds: lifetime, field: "\(field).codeLength")
        for (index, node) in (template.graph?.nodes ?? []).enumerated() {
            guard let settings = node.settings,
                settings.codeLength != nil || settings.codeLifetimeSeconds != nil
            else { continue }
            findings += guessing(
                length: settings.codeLength ?? length,
                lifetimeSeconds: settings.codeLifetimeSeconds ?? lifetime,
                field: "\(field).graph.nodes[\(index)].settings.codeLength")
        }
        return findings
    }
}
