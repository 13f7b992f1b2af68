public import Primitives

public enum RunState: String, Codable, Sendable, Hashable, CaseIterable {
    /// A node waits for the user or for a verification.
    case waiting
    case passed, failed, stopped, expired
    public var isEnd: Bool { self != .waiting }
}

public enum NumberInput: String, Codable, Sendable, Hashable, CaseIterable { case none, typed }

/// What the person must send.
public struct UpgoingView: Codable, Sendable, Hashable {
    public let text: String
    public let receivingNumber: String

    public init(text: String, receivingNumber: String) {
        self.text = text
        self.receivingNumber = receivingNumber
    }
}

/// The current node, as the client may show it.
public struct NodeView: Codable, Sendable, Hashable {
    public let nodeId: String
    public let kind: NodeKind
    /// As the client SDK names it: `numberAuth`, `verifyCodeAuth`, `upGoingAuth`, `graphAuth`.
    public let nodeName: String
    public let halfway: Bool
    /// Of a pre-filled node.
    public let maskedNumber: String?
    /// SMS nodes: whether `submit {send}` takes a number.
    public let numberInput: NumberInput?
    public let codeLength: Int?
    public let codeType: Int?
    /// Of the live code, the text, or the token fetch.
    public let expiresAtMilliseconds: Int64?
    public let resendAtMilliseconds: Int64?
    public let sendsLeft: Int?
    public let delivery: DeliveryState?
    public let upgoing: UpgoingView?
    /// A PASS is on record, as far as this service has asked.
    public let passed: Bool?
    /// SMS nodes: true where the number is the account's; without `maskedNumber` the app knows it.
    public let prefilled: Bool?
    /// SMS nodes: true where the typed number must be the account's.
    public let validityCheck: Bool?

    public init(
        nodeId: String,
        kind: NodeKind,
        nodeName: String,
        halfway: Bool = false,
        maskedNumber: String? = nil,
        numberInput: NumberInput? = nil,
        codeLength: Int? = nil,
        codeType: Int? = nil,
        expiresAtMilliseconds: Int64? = nil,
        resendAtMilliseconds: Int64? = nil,
        sendsLeft: Int? = nil,
        delivery: DeliveryState? = nil,
        upgoing: UpgoingView? = nil,
        passed: Bool? = nil,
        prefilled: Bool? = nil,
        validityCheck: Bool? = nil
    ) {
        self.nodeId = nodeId
        self.kind = kind
        self.nodeName = nodeName
        self.halfway = halfway
        self.maskedNumber = maskedNumber
        self.numberInput = numberInput
        self.codeLength = codeLength
        self.codeType = codeType
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.resendAtMilliseconds = resendAtMilliseconds
        self.sendsLeft = sendsLeft
        self.delivery = delivery
        self.upgoing = upgoing
        self.passed = passed
        self.prefilled = prefilled
        self.validityCheck = validityCheck
    }
}

/// Where a run stands. Every scene call answers it.
public struct SceneView: Codable, Sendable {
    public let runId: RunID
    public let templateId: String
    /// Raised at every move.
    public let step: Int
    public let state: RunState
    /// 110005, 200001 or 100004.
    public let endCode: Int?
    /// Of this call, in order.
    public let resultCodes: [Int]
    /// Absent once ended.
    public let node: NodeView?
    /// Once, in the answer that won it.
    public let maskToken: Secret<String>?
    /// False: the call named another step and changed nothing.
    public let applied: Bool?
    /// With `sinceSequence`.
    public let events: [SceneEvent]?
    /// In the answer of start only.
    public let runKey: Secret<String>?
    /// Of the end, or of the last failure at this node.
    public let reason: String?

    public init(
        runId: RunID,
        templateId: String,
        step: Int,
        state: RunState,
        endCode: Int? = nil,
        resultCodes: [Int],
        node: NodeView? = nil,
        maskToken: Secret<String>? = nil,
        applied: Bool? = nil,
        events: [SceneEvent]? = nil,
        runKey: Secret<String>? = nil,
        reason: String? = nil
    ) {
        self.runId = runId
        self.templateId = templateId
        self.step = step
        self.state = state
        self.endCode = endCode
        self.resultCodes = resultCodes
        self.node = node
        self.maskToken = maskToken
        self.applied = applied
        self.events = events
        self.runKey = runKey
        self.reason = reason
    }
}

/// One thing that happened in a run; holds no number and no secret.
public struct SceneEvent: Codable, Sendable, Hashable {
    public let sequence: Int64
    public let atMilliseconds: Int64
    public let step: Int
    public let nodeId: String?
    public let kind: NodeKind?
    public let resultCode: Int?
    /// `entered`, `passed`, `failed`, `skipped`, `code_sent`, `ended`, …
    public let name: String
    public let reason: String?

    public init(
        sequence: Int64,
        atMilliseconds: Int64,
        step: Int,
        nodeId: String? = nil,
        kind: NodeKind? = nil,
        resultCode: Int? = nil,
        name: String,
        reason: String? = nil
    ) {
        self.sequence = sequence
        self.atMilliseconds = atMilliseconds
        self.step = step
        self.nodeId = nodeId
        self.kind = kind
        self.resultCode = resultCode
        self.name = name
        self.reason = reason
    }
}
