package import Messages
import Primitives

/// An edge of a node.
package enum Edge: String, Codable, Sendable { case success, failure }

/// A template as one run walks it: the graph, what the scheme changed in it, and what the client
/// can show. A value; the same run always gets the same one, because a run keeps its scheme's
/// version.
package struct SceneMap: Sendable {
    package let templateId: String
    package let schemeCode: String
    package let policy: SchemePolicy
    package let begin: String
    private let name: String
    private let configVersion: Int
    private let nodes: [SceneNode]
    private let template: TemplatePolicy?
    private let capabilities: ClientCapabilities
    /// Graphic checks are on and the client can show them.
    private let isGraphicOn: Bool

    /// nil when the scheme has no such template.
    package init?(scheme: Scheme, templateId: String, capabilities: ClientCapabilities) {
        let template = scheme.policy.templates?.first { $0.templateId == templateId }
        guard let graph = template?.graph ?? StandardScenes.graph(templateId) else { return nil }
        self.templateId = templateId
        self.template = template
        self.capabilities = capabilities
        schemeCode = scheme.schemeCode
        policy = scheme.policy
        begin = graph.begin
        name = graph.name
        configVersion = graph.configVersion
        isGraphicOn = policy.graphicCheck == true && capabilities.graphic == true
        nodes = graph.nodes.map { node in
            guard let change = template?.nodes?.first(where: { $0.nodeId == node.nodeId }) else {
                return node
            }
            return node.changed(by: change)
        }
    }

    /// `scene:<templateId>`: what codes and texts of this scene are good for.
    package var purpose: String { "scene:\(templateId)" }

    var summary: TemplateSummary {
        TemplateSummary(
            templateId: templateId, name: name, configVersion: configVersion,
            nodes: nodes.map {
                TemplateNode(nodeId: $0.nodeId, kind: $0.kind, enabled: $0.enabled)
            })
    }

    package func node(_ id: String) -> SceneNode? { nodes.first { $0.nodeId == id } }

    /// Targets of an edge in order; those with the graphic node where this run shows it.
    func targets(_ node: SceneNode, _ edge: Edge) -> [String] {
        switch edge {
        case .success: isGraphicOn ? node.successWithGraphic ?? node.success : node.success
        case .failure: isGraphicOn ? node.failureWithGraphic ?? node.failure : node.failure
        }
    }

    /// The number-risk node that guards an SMS node, walked or not; nil without one that is on.
    func guardNode(of smsNode: String) -> SceneNode? {
        nodes.first {
            $0.kind == .numberRisk && $0.enabled && $0.settings?.effectNode == smsNode
        }
    }

    // MARK: What becomes of a node

    enum Treatment: Equatable {
        /// Waits for the client.
        case waits
        /// Moves on by the success edge, as if it were not there.
        case skipped
        /// Cannot be done in this run; left by its failure edge.
        case unusable(reason: String)
        case judgesDevice
        case splits
    }

    func treatment(_ node: SceneNode, _ numbers: RunNumbers, halfwayPassed: Bool) -> Treatment {
        switch node.kind {
        case .deviceRisk: return node.enabled ? .judgesDevice : .skipped
        case .splitter: return .splits
        case .numberRisk, .phoneScore: return .skipped
        case .graphic: return node.enabled && isGraphicOn ? .waits : .skipped
        case .numberAuth:
            guard capabilities.numberAuth ?? true else { return .unusable(reason: Self.incapable) }
        case .smsCode:
            // The node itself says whose number it takes.
            return capabilities.smsCode ?? true ? .waits : .unusable(reason: Self.incapable)
        case .upgoingSMS:
            guard capabilities.upgoingSMS ?? true else { return .unusable(reason: Self.incapable) }
        }
        let owner = numberOwner(numbers, halfwayPassed: halfwayPassed)
        return owner == .unknown ? .unusable(reason: "number_unknown") : .waits
    }

    private static let incapable = "client_cannot"

    // MARK: Whose number

    /// Which number counts where nobody types one: at number authentication and up-going SMS.
    enum NumberOwner: Equatable {
        /// Any; what was typed elsewhere is only a claim.
        case anybody
        case only(PhoneNumber)
        /// Any but the old number.
        case notOld(PhoneNumber)
        /// The account's, and nobody said which that is.
        case unknown
    }

    /// A scene that names the account's number somewhere (pre-filled or checked) is about that
    /// number, until it was proven half-way; then it is about another one.
    func numberOwner(_ numbers: RunNumbers, halfwayPassed: Bool) -> NumberOwner {
        if halfwayPassed {
            return numbers.old.map { .notOld($0) } ?? .unknown
        }
        let isAboutAccount = nodes.contains {
            $0.settings?.prefilled == true || $0.settings?.validityCheck == true
        }
        guard isAboutAccount else { return .anybody }
        return (numbers.bound ?? numbers.account).map { .only($0) } ?? .unknown
    }

    // MARK: Ways

    /// Whether the success edge of `node` leads to END over nodes that prove nothing.
    func leadsToEnd(_ node: SceneNode) -> Bool {
        way(from: node, while: { !$0.kind.isProving }).leadsToEnd
    }

    /// Whether a score is asked for with the proof of `node`: a phone score lies on its way.
    func leadsToScore(_ node: SceneNode) -> Bool {
        way(from: node, while: { !$0.kind.isProving }).passed.contains {
            $0.kind == .phoneScore && $0.enabled
        }
    }

    private func way(
        from node: SceneNode, while isFollowed: (SceneNode) -> Bool
    ) -> (passed: [SceneNode], leadsToEnd: Bool) {
        var passed: [SceneNode] = []
        var current = node
        while passed.count <= nodes.count {
            guard let first = targets(current, .success).first else { break }
            if first == SceneGraph.end { return (passed, true) }
            guard let next = self.node(first), isFollowed(next) else { break }
            passed.append(next)
            current = next
        }
        return (passed, false)
    }

    // MARK: Codes

    /// Digits of a code where nothing sets them (design, secure defaults).
    static let codeLengthDefault = 6
    static let codeLifetimeSecondsDefault: Int64 = 300
    static let cooldownSecondsDefault: Int64 = 60
    static let upgoingLifetimeSecondsDefault: Int64 = 600

    func codeLength(_ node: SceneNode) -> Int {
        template?.codeLength ?? node.settings?.codeLength ?? policy.codeLength
            ?? Self.codeLengthDefault
    }

    func codeLifetimeSeconds(_ node: SceneNode) -> Int64 {
        template?.codeLifetimeSeconds ?? policy.codeLifetimeSeconds
            ?? node.settings?.codeLifetimeSeconds ?? Self.codeLifetimeSecondsDefault
    }

    var cooldownSeconds: Int64 { policy.cooldownSeconds ?? Self.cooldownSecondsDefault }
}

extension SceneNode {
    /// The node under a scheme's changes. What may not be switched off stays on.
    fileprivate func changed(by change: NodePolicy) -> SceneNode {
        let old = settings ?? NodeSettings()
        return SceneNode(
            nodeId: nodeId, kind: kind,
            enabled: canBeDisabled ? change.enabled ?? enabled : enabled,
            canBeDisabled: canBeDisabled, success: success, failure: failure,
            successWithGraphic: successWithGraphic, failureWithGraphic: failureWithGraphic,
            settings: NodeSettings(
                scoreThreshold: change.scoreThreshold ?? old.scoreThreshold,
                windows: change.windows ?? old.windows, effectNode: old.effectNode,
                numberGapSeconds: old.numberGapSeconds, deviceGapSeconds: old.deviceGapSeconds,
                timeoutSeconds: change.timeoutSeconds ?? old.timeoutSeconds,
                otherButtonNode: old.otherButtonNode, prefilled: old.prefilled,
                validityCheck: old.validityCheck, halfway: old.halfway,
                excludesOldNumber: old.excludesOldNumber, codeLength: old.codeLength,
                codeLifetimeSeconds: old.codeLifetimeSeconds,
                lifetimeSeconds: old.lifetimeSeconds, weights: old.weights))
    }

    var isPrefilled: Bool { settings?.prefilled == true }
    var checksNumber: Bool { settings?.validityCheck == true }
    var isHalfway: Bool { settings?.halfway == true }
    var excludesOld: Bool { settings?.excludesOldNumber == true }

    /// As the client SDK names it; empty for a node that never waits.
    package var nodeName: String {
        switch kind {
        case .numberAuth: "numberAuth"
        case .smsCode: "verifyCodeAuth"
        case .upgoingSMS: "upGoingAuth"
        case .graphic: "graphAuth"
        case .deviceRisk, .numberRisk, .splitter, .phoneScore: ""
        }
    }
}
