/// What a node does. Numbers as in the original.
public enum NodeKind: Int, Codable, Sendable, Hashable, CaseIterable {
    case numberAuth = 2_000_001
    case deviceRisk = 2_000_003
    case numberRisk = 2_000_004
    case smsCode = 2_000_005
    case upgoingSMS = 2_000_006
    case splitter = 2_000_007
    case phoneScore = 2_000_008
    case graphic = 2_000_009

    /// Whether a PASS can be won there.
    public var isProving: Bool { self == .numberAuth || self == .smsCode || self == .upgoingSMS }
}

/// One branch of a splitter.
public struct SplitWeight: Codable, Sendable, Hashable {
    public let nodeId: String
    /// Relative; 0 never chosen.
    public let weight: Int

    public init(nodeId: String, weight: Int) {
        self.nodeId = nodeId
        self.weight = weight
    }
}

/// What a node kind can be told.
public struct NodeSettings: Codable, Sendable, Hashable {
    /// 0…100; a score above it fails the node.
    public let scoreThreshold: Int?
    /// More events than a window's limit fail the node.
    public let windows: [FrequencyWindow]?
    /// Number risk: the SMS node it guards.
    public let effectNode: String?
    /// Number risk: gap between sends to one number.
    public let numberGapSeconds: Int64?
    public let deviceGapSeconds: Int64?
    /// Number authentication: bounds the token fetch and the carrier call.
    public let timeoutSeconds: Int64?
    /// Number authentication: where "log in another way" leads.
    public let otherButtonNode: String?
    /// SMS: the number is the account's; the app shows it masked.
    public let prefilled: Bool?
    /// SMS: the typed number must be the account's.
    public let validityCheck: Bool?
    /// SMS: a half-way verification.
    public let halfway: Bool?
    /// SMS: the typed number must differ from the one proven half-way.
    public let excludesOldNumber: Bool?
    public let codeLength: Int?
    public let codeLifetimeSeconds: Int64?
    /// Up-going text.
    public let lifetimeSeconds: Int64?
    public let weights: [SplitWeight]?

    public init(
        scoreThreshold: Int? = nil,
        windows: [FrequencyWindow]? = nil,
        effectNode: String? = nil,
        numberGapSeconds: Int64? = nil,
        deviceGapSeconds: Int64? = nil,
        timeoutSeconds: Int64? = nil,
        otherButtonNode: String? = nil,
        prefilled: Bool? = nil,
        validityCheck: Bool? = nil,
        halfway: Bool? = nil,
        excludesOldNumber: Bool? = nil,
        codeLength: Int? = nil,
        codeLifetimeSeconds: Int64? = nil,
        lifetimeSeconds: Int64? = nil,
        weights: [SplitWeight]? = nil
    ) {
        self.scoreThreshold = scoreThreshold
        self.windows = windows
        self.effectNode = effectNode
        self.numberGapSeconds = numberGapSeconds
        self.deviceGapSeconds = deviceGapSeconds
        self.timeoutSeconds = timeoutSeconds
        self.otherButtonNode = otherButtonNode
        self.prefilled = prefilled
        self.validityCheck = validityCheck
        self.halfway = halfway
        self.excludesOldNumber = excludesOldNumber
        self.codeLength = codeLength
        self.codeLifetimeSeconds = codeLifetimeSeconds
        self.lifetimeSeconds = lifetimeSeconds
        self.weights = weights
    }
}

/// One step of a scene.
public struct SceneNode: Codable, Sendable, Hashable {
    /// `300000`, the template id, three digits.
    public let nodeId: String
    public let kind: NodeKind
    public let enabled: Bool
    public let canBeDisabled: Bool
    /// First usable target wins; `END` ends.
    public let success: [String]
    public let failure: [String]
    /// Used when graphic checks are on and the client can show them.
    public let successWithGraphic: [String]?
    public let failureWithGraphic: [String]?
    public let settings: NodeSettings?

    public init(
        nodeId: String,
        kind: NodeKind,
        enabled: Bool = true,
        canBeDisabled: Bool = false,
        success: [String],
        failure: [String],
        successWithGraphic: [String]? = nil,
        failureWithGraphic: [String]? = nil,
        settings: NodeSettings? = nil
    ) {
        self.nodeId = nodeId
        self.kind = kind
        self.enabled = enabled
        self.canBeDisabled = canBeDisabled
        self.success = success
        self.failure = failure
        self.successWithGraphic = successWithGraphic
        self.failureWithGraphic = failureWithGraphic
        self.settings = settings
    }
}

/// A scene as data.
public struct SceneGraph: Codable, Sendable, Hashable {
    public let templateId: String
    public let configVersion: Int
    /// A word or two, for people.
    public let name: String
    /// Id of the first node.
    public let begin: String
    public let nodes: [SceneNode]

    public init(
        templateId: String,
        configVersion: Int = 1,
        name: String,
        begin: String,
        nodes: [SceneNode]
    ) {
        self.templateId = templateId
        self.configVersion = configVersion
        self.name = name
        self.begin = begin
        self.nodes = nodes
    }

    public static let end = "END"

    public func node(_ id: String) -> SceneNode? { nodes.first { $0.nodeId == id } }
}
