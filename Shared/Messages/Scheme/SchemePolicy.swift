/// Which code wins after a resend.
public enum DuplicatePolicy: String, Codable, Sendable, Hashable, CaseIterable {
    /// The newest only.
    case newest
    /// All codes still in their lifetime.
    case all
    /// A resend repeats the live code.
    case same
}

/// A number for store reviewers and tests; outside every limit.
public struct TestNumber: Codable, Sendable, Hashable {
    /// E.164, or with `x` for any one digit: `+1415555xxxx`.
    public let number: String
    /// Accepted instead of a derived code; nothing is sent.
    public let code: String
    /// From then on the number takes the real path.
    public let endsAtMilliseconds: Int64

    public init(number: String, code: String, endsAtMilliseconds: Int64) {
        self.number = number
        self.code = code
        self.endsAtMilliseconds = endsAtMilliseconds
    }
}

/// At most `limit` within any `seconds`.
public struct FrequencyWindow: Codable, Sendable, Hashable {
    /// 0 allows none.
    public let limit: Int
    public let seconds: Int64

    public init(limit: Int, seconds: Int64) {
        self.limit = limit
        self.seconds = seconds
    }
}

/// The wording of an SMS for one template and locale.
public struct MessageWording: Codable, Sendable, Hashable {
    /// A scene template (`100001`) or `api`.
    public let templateId: String
    /// `en`, `zh`, …
    public let locale: String
    /// With `${code}` and `${min}`.
    public let body: String

    public init(templateId: String, locale: String, body: String) {
        self.templateId = templateId
        self.locale = locale
        self.body = body
    }
}

/// What a scheme changes at one node.
public struct NodePolicy: Codable, Sendable, Hashable {
    public let nodeId: String
    public let enabled: Bool?
    /// 0…100.
    public let scoreThreshold: Int?
    public let windows: [FrequencyWindow]?
    public let timeoutSeconds: Int64?

    public init(
        nodeId: String,
        enabled: Bool? = nil,
        scoreThreshold: Int? = nil,
        windows: [FrequencyWindow]? = nil,
        timeoutSeconds: Int64? = nil
    ) {
        self.nodeId = nodeId
        self.enabled = enabled
        self.scoreThreshold = scoreThreshold
        self.windows = windows
        self.timeoutSeconds = timeoutSeconds
    }
}

/// What a scheme changes in one scene template.
public struct TemplatePolicy: Codable, Sendable, Hashable {
    public let templateId: String
    public let nodes: [NodePolicy]?
    public let codeLength: Int?
    public let codeLifetimeSeconds: Int64?
    /// A graph of its own instead of the standard one; or of a template that only this scheme has.
    public let graph: SceneGraph?

    public init(
        templateId: String,
        nodes: [NodePolicy]? = nil,
        codeLength: Int? = nil,
        codeLifetimeSeconds: Int64? = nil,
        graph: SceneGraph? = nil
    ) {
        self.templateId = templateId
        self.nodes = nodes
        self.codeLength = codeLength
        self.codeLifetimeSeconds = codeLifetimeSeconds
        self.graph = graph
    }
}

/// What an integrator decides for one scheme. Absent fields take the defaults of the design.
public struct SchemePolicy: Codable, Sendable, Hashable {
    /// Sender's name, set in brackets before the text.
    public let signature: String?
    /// Signatures that the dypnsapi surface may use; nil allows any.
    public let signatures: [String]?
    /// 4…10; default 6.
    public let codeLength: Int?
    /// 1…7 as in dypnsapi; default 1, digits.
    public let codeType: Int?
    /// 60…600; default 300.
    public let codeLifetimeSeconds: Int64?
    /// 1…3600; default 60.
    public let cooldownSeconds: Int64?
    /// Default newest.
    public let duplicatePolicy: DuplicatePolicy?
    public let caseSensitive: Bool?
    /// Default `en`.
    public let locale: String?
    /// ISO 3166 two letters, for numbers typed without country code.
    public let defaultRegion: String?
    /// 11 characters; ends the text when the platform is android.
    public let androidAppHash: String?
    /// Ends the text with `@host #code`.
    public let webOTPHost: String?
    /// Whether graphic nodes are walked; default no.
    public let graphicCheck: Bool?
    /// Tell the old number of a change; default yes.
    public let notifyOldNumber: Bool?
    public let testNumbers: [TestNumber]?
    public let wordings: [MessageWording]?
    public let templates: [TemplatePolicy]?

    public static let standard = Self()

    public init(
        signature: String? = nil,
        signatures: [String]? = nil,
        codeLength: Int? = nil,
        codeType: Int? = nil,
        codeLifetimeSeconds: Int64? = nil,
        cooldownSeconds: Int64? = nil,
        duplicatePolicy: DuplicatePolicy? = nil,
        caseSensitive: Bool? = nil,
        locale: String? = nil,
        defaultRegion: String? = nil,
        androidAppHash: String? = nil,
        webOTPHost: String? = nil,
        graphicCheck: Bool? = nil,
        notifyOldNumber: Bool? = nil,
        testNumbers: [TestNumber]? = nil,
        wordings: [MessageWording]? = nil,
        templates: [TemplatePolicy]? = nil
    ) {
        self.signature = signature
        self.signatures = signatures
        self.codeLength = codeLength
        self.codeType = codeType
        self.codeLifetimeSeconds = codeLifetimeSeconds
        self.cooldownSeconds = cooldownSeconds
        self.duplicatePolicy = duplicatePolicy
        self.caseSensitive = caseSensitive
        self.locale = locale
        self.defaultRegion = defaultRegion
        self.androidAppHash = androidAppHash
        self.webOTPHost = webOTPHost
        self.graphicCheck = graphicCheck
        self.notifyOldNumber = notifyOldNumber
        self.testNumbers = testNumbers
        self.wordings = wordings
        self.templates = templates
    }
}
