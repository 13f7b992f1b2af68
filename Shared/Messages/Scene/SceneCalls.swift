public import Primitives

/// What the client can show and do.
public struct ClientCapabilities: Codable, Sendable, Hashable {
    /// Default true.
    public let numberAuth: Bool?
    /// Default true.
    public let smsCode: Bool?
    /// Default true.
    public let upgoingSMS: Bool?
    /// Default false.
    public let graphic: Bool?

    public init(
        numberAuth: Bool? = nil,
        smsCode: Bool? = nil,
        upgoingSMS: Bool? = nil,
        graphic: Bool? = nil
    ) {
        self.numberAuth = numberAuth
        self.smsCode = smsCode
        self.upgoingSMS = upgoingSMS
        self.graphic = graphic
    }
}

/// The templates that can be started.
public struct ListTemplates: BusRequest {
    public typealias Reply = TemplateList
    public static let method = Method(
        "scene.templates", .read, callers: [.integrator, .gateway, .operator])
    /// With its own templates and switches.
    public let schemeCode: String?

    public init(schemeCode: String? = nil) {
        self.schemeCode = schemeCode
    }
}

/// A template.
public struct TemplateSummary: Codable, Sendable, Hashable {
    public let templateId: String
    public let name: String
    public let configVersion: Int
    public let nodes: [TemplateNode]

    public init(templateId: String, name: String, configVersion: Int, nodes: [TemplateNode]) {
        self.templateId = templateId
        self.name = name
        self.configVersion = configVersion
        self.nodes = nodes
    }
}

/// A node of a template.
public struct TemplateNode: Codable, Sendable, Hashable {
    public let nodeId: String
    public let kind: NodeKind
    public let enabled: Bool

    public init(nodeId: String, kind: NodeKind, enabled: Bool) {
        self.nodeId = nodeId
        self.kind = kind
        self.enabled = enabled
    }
}

/// In order of id.
public struct TemplateList: Codable, Sendable, Hashable {
    public let templates: [TemplateSummary]

    public init(templates: [TemplateSummary]) {
        self.templates = templates
    }
}

/// Starts a run. The answer alone carries `runKey`.
/// Errors: `token_invalid`, `token_expired`, `token_revoked`, `scheme_disabled`,
/// `template_not_found`, `address_limit`.
public struct StartScene: BusRequest {
    public typealias Reply = SceneView
    public static let method = Method(
        "scene.start", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let authToken: Secret<String>
    public let templateId: String
    /// Absent: device risk answers 700004 and fails.
    public let deviceId: String?
    public let capabilities: ClientCapabilities?
    public let locale: String?
    /// Set by the gateway alone; `unknown` where it could not read one.
    public let address: String?

    public init(
        authToken: Secret<String>,
        templateId: String,
        deviceId: String? = nil,
        capabilities: ClientCapabilities? = nil,
        locale: String? = nil,
        address: String? = nil
    ) {
        self.authToken = authToken
        self.templateId = templateId
        self.deviceId = deviceId
        self.capabilities = capabilities
        self.locale = locale
        self.address = address
    }

    public var comparisonBody: Self {
        Self(
            authToken: Secret(""), templateId: templateId, deviceId: deviceId,
            capabilities: capabilities, locale: locale, address: nil)
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(deviceId, in: 1...128, "deviceId")
        try Check.length(locale, in: 2...35, "locale")
    }
}

/// What a node is told. Exactly one field is set; `number` goes with `send`.
public struct NodeInput: Codable, Sendable, Hashable {
    /// SMS: send a code.
    public let send: Bool?
    /// SMS: the number typed.
    public let number: String?
    /// SMS: the code typed.
    public let code: String?
    /// Up-going: "I have sent it".
    public let sent: Bool?
    /// Number authentication.
    public let carrierToken: Secret<String>?
    /// Number authentication: the inner code of the failed fetch.
    public let failed: Int?
    /// Number authentication: the other button.
    public let otherLogin: Bool?
    /// Graphic.
    public let proof: String?

    public init(
        send: Bool? = nil,
        number: String? = nil,
        code: String? = nil,
        sent: Bool? = nil,
        carrierToken: Secret<String>? = nil,
        failed: Int? = nil,
        otherLogin: Bool? = nil,
        proof: String? = nil
    ) {
        self.send = send
        self.number = number
        self.code = code
        self.sent = sent
        self.carrierToken = carrierToken
        self.failed = failed
        self.otherLogin = otherLogin
        self.proof = proof
    }
}

/// Gives the current node its input.
/// Errors: token errors as in start, `run_not_found` (also for a wrong key), `run_ended`,
/// `input_not_expected`, `number_invalid`, `too_many`.
public struct SubmitInput: BusRequest {
    public typealias Reply = SceneView
    public static let method = Method(
        "scene.submit", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let authToken: Secret<String>
    public let runId: RunID
    public let runKey: Secret<String>
    public let step: Int
    public let input: NodeInput

    public init(
        authToken: Secret<String>,
        runId: RunID,
        runKey: Secret<String>,
        step: Int,
        input: NodeInput
    ) {
        self.authToken = authToken
        self.runId = runId
        self.runKey = runKey
        self.step = step
        self.input = input
    }

    public var comparisonBody: Self {
        Self(
            authToken: Secret(""), runId: runId, runKey: Secret(""), step: step, input: input)
    }
}

/// Moves on the success edge (only with a PASS on record) or the failure edge. Errors: as submit,
/// `pass_not_on_record`.
public struct ContinueScene: BusRequest {
    public typealias Reply = SceneView
    public static let method = Method(
        "scene.continue", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let authToken: Secret<String>
    public let runId: RunID
    public let runKey: Secret<String>
    public let step: Int
    public let isSuccess: Bool

    public init(
        authToken: Secret<String>,
        runId: RunID,
        runKey: Secret<String>,
        step: Int,
        isSuccess: Bool
    ) {
        self.authToken = authToken
        self.runId = runId
        self.runKey = runKey
        self.step = step
        self.isSuccess = isSuccess
    }

    public var comparisonBody: Self {
        Self(
            authToken: Secret(""), runId: runId, runKey: Secret(""), step: step,
            isSuccess: isSuccess)
    }
}

/// Answers a half-way verification: true moves on (only with a PASS on record), false changes
/// nothing. Errors: as continue, `input_not_expected`.
public struct AnswerHalfway: BusRequest {
    public typealias Reply = SceneView
    public static let method = Method(
        "scene.halfway", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let authToken: Secret<String>
    public let runId: RunID
    public let runKey: Secret<String>
    public let step: Int
    public let isSuccess: Bool

    public init(
        authToken: Secret<String>,
        runId: RunID,
        runKey: Secret<String>,
        step: Int,
        isSuccess: Bool
    ) {
        self.authToken = authToken
        self.runId = runId
        self.runKey = runKey
        self.step = step
        self.isSuccess = isSuccess
    }

    public var comparisonBody: Self {
        Self(
            authToken: Secret(""), runId: runId, runKey: Secret(""), step: step,
            isSuccess: isSuccess)
    }
}

/// Ends the run now: passed when the current node has its PASS and leads to the end, else stopped.
/// Ending an ended run answers its view.
public struct StopScene: BusRequest {
    public typealias Reply = SceneView
    public static let method = Method(
        "scene.stop", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let authToken: Secret<String>
    public let runId: RunID
    public let runKey: Secret<String>

    public init(authToken: Secret<String>, runId: RunID, runKey: Secret<String>) {
        self.authToken = authToken
        self.runId = runId
        self.runKey = runKey
    }

    public var comparisonBody: Self {
        Self(authToken: Secret(""), runId: runId, runKey: Secret(""))
    }
}

/// Reads a run. Errors: `run_not_found`, token errors, `not_allowed`.
public struct GetScene: BusRequest {
    public typealias Reply = SceneView
    public static let method = Method(
        "scene.get", .read, callers: [.integrator, .gateway, .operator])
    public let runId: RunID
    /// With runKey; operators and the owner need neither.
    public let authToken: Secret<String>?
    public let runKey: Secret<String>?
    /// Adds the events after it, at most 100.
    public let sinceSequence: Int64?

    public init(
        runId: RunID,
        authToken: Secret<String>? = nil,
        runKey: Secret<String>? = nil,
        sinceSequence: Int64? = nil
    ) {
        self.runId = runId
        self.authToken = authToken
        self.runKey = runKey
        self.sinceSequence = sinceSequence
    }
}
