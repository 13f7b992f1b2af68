/// The five scenes of the original, as data: nodes, edges and windows exactly as its client SDK
/// ships them. `deploy/scenes/<id>.json` holds the same; a test keeps the two equal.
///
/// One setting is left out on purpose: the original's codes have 4 digits. Here the scheme's policy
/// decides, 6 digits unless it says otherwise, and a graph of a scheme's own may set `codeLength`.
public enum StandardScenes {
    public static let loginOrRegister = "100001"
    public static let changeNumber = "100002"
    public static let resetPassword = "100003"
    public static let bindNewNumber = "100004"
    public static let verifyBoundNumber = "100005"

    /// In order of id.
    public static let all: [SceneGraph] = [
        login, numberChange, passwordReset, newNumber, boundNumber,
    ]

    public static func graph(_ templateId: String) -> SceneGraph? {
        all.first { $0.templateId == templateId }
    }

    // MARK: Settings, the same in all five

    /// A score above it fails the node, 0…100.
    static let scoreThreshold = 50
    static let deviceWindows = [
        FrequencyWindow(limit: 5, seconds: 60), FrequencyWindow(limit: 10, seconds: 3_600),
        FrequencyWindow(limit: 20, seconds: 86_400),
    ]
    static let numberWindows = [
        FrequencyWindow(limit: 1, seconds: 60), FrequencyWindow(limit: 10, seconds: 3_600),
        FrequencyWindow(limit: 20, seconds: 86_400),
    ]
    static let gapSeconds: Int64 = 60
    static let codeLifetimeSeconds: Int64 = 300
    static let upgoingLifetimeSeconds: Int64 = 600
    static let numberAuthTimeoutSeconds: Int64 = 3
}

// MARK: - 100001

extension StandardScenes {
    /// Device risk → splitter → (graphic) → number authentication → phone score; SMS and up-going
    /// SMS as fall-backs.
    static var login: SceneGraph {
        let scene = SceneBuilder(loginOrRegister)
        return scene.graph(
            "Log in or register",
            [
                scene.deviceRisk(1, success: [2], failure: [7]),
                scene.node(
                    2, .splitter, success: [4, 3], failure: [4, 3], graphic: [8, 3],
                    failureGraphic: [8, 3],
                    settings: NodeSettings(weights: [
                        SplitWeight(nodeId: scene.id(8), weight: 100),
                        SplitWeight(nodeId: scene.id(3), weight: 0),
                    ])),
                scene.graphic(8, success: [4], failure: [7]),
                scene.node(
                    4, .numberAuth, success: [6], failure: [5, 7],
                    settings: NodeSettings(
                        timeoutSeconds: numberAuthTimeoutSeconds, otherButtonNode: scene.id(5))),
                scene.numberRisk(3, guards: 5, success: [5], failure: [7], graphic: [9, 5]),
                scene.graphic(9, success: [5], failure: [7]),
                scene.smsCode(5, success: [6], failure: [7]),
                scene.upgoing(7, success: [6]),
                scene.node(
                    6, .phoneScore, canBeDisabled: true, success: [SceneBuilder.end],
                    failure: [SceneBuilder.end]),
            ])
    }
}

// MARK: - Building

/// Writes a graph by the last three digits of its node ids.
struct SceneBuilder {
    /// Stands for `END` among targets.
    static let end = 0
    let templateId: String

    init(_ templateId: String) { self.templateId = templateId }

    func id(_ number: Int) -> String {
        guard number != Self.end else { return SceneGraph.end }
        let digits = String(number)
        return "300000\(templateId)\(String(repeating: "0", count: 3 - digits.count))\(digits)"
    }

    func graph(_ name: String, _ nodes: [SceneNode]) -> SceneGraph {
        SceneGraph(templateId: templateId, name: name, begin: id(1), nodes: nodes)
    }

    func node(
        _ number: Int, _ kind: NodeKind, canBeDisabled: Bool = false, success: [Int],
        failure: [Int], graphic: [Int]? = nil, failureGraphic: [Int]? = nil,
        settings: NodeSettings? = nil
    ) -> SceneNode {
        SceneNode(
            nodeId: id(number), kind: kind, canBeDisabled: canBeDisabled, success: success.map(id),
            failure: failure.map(id), successWithGraphic: graphic?.map(id),
            failureWithGraphic: failureGraphic?.map(id), settings: settings)
    }

    func deviceRisk(
        _ number: Int, success: [Int], failure: [Int], graphic: [Int]? = nil
    ) -> SceneNode {
        node(
            number, .deviceRisk, canBeDisabled: true, success: success, failure: failure,
            graphic: graphic,
            settings: NodeSettings(
                scoreThreshold: StandardScenes.scoreThreshold,
                windows: StandardScenes.deviceWindows))
    }

    func numberRisk(
        _ number: Int, guards smsNode: Int, success: [Int], failure: [Int], graphic: [Int]? = nil
    ) -> SceneNode {
        node(
            number, .numberRisk, canBeDisabled: true, success: success, failure: failure,
            graphic: graphic,
            settings: NodeSettings(
                scoreThreshold: StandardScenes.scoreThreshold,
                windows: StandardScenes.numberWindows, effectNode: id(smsNode),
                numberGapSeconds: StandardScenes.gapSeconds,
                deviceGapSeconds: StandardScenes.gapSeconds))
    }

    func graphic(_ number: Int, success: [Int], failure: [Int]) -> SceneNode {
        node(number, .graphic, canBeDisabled: true, success: success, failure: failure)
    }

    func smsCode(
        _ number: Int, prefilled: Bool = false, validityCheck: Bool = false, halfway: Bool = false,
        excludesOldNumber: Bool = false, success: [Int], failure: [Int]
    ) -> SceneNode {
        node(
            number, .smsCode, success: success, failure: failure,
            settings: NodeSettings(
                prefilled: prefilled, validityCheck: validityCheck, halfway: halfway,
                excludesOldNumber: excludesOldNumber,
                codeLifetimeSeconds: StandardScenes.codeLifetimeSeconds))
    }

    func upgoing(_ number: Int, success: [Int]) -> SceneNode {
        node(
            number, .upgoingSMS, success: success, failure: [Self.end],
            settings: NodeSettings(lifetimeSeconds: StandardScenes.upgoingLifetimeSeconds))
    }
}
