public import Primitives

/// How far a message got.
public enum DeliveryState: String, Codable, Sendable, Hashable, CaseIterable {
    /// Stored, not yet taken by a provider.
    case queued
    case sending
    /// A provider took it.
    case sent
    case delivered
    /// A provider reported that it did not arrive.
    case undelivered
    /// A provider refused it.
    case refused
    /// Given up by name after the last attempt, or because its code died.
    case abandoned
    /// A test number: nothing is sent.
    case simulated
}

/// What an SMS should say.
public struct MessageTextRequest: Codable, Sendable, Hashable {
    /// `100001`…`100005`; default by the origin's template.
    public let templateCode: String?
    /// Own wording; `##code##` or `${code}` marks the code, `${min}` the minutes.
    public let body: String?
    /// Values for `${name}` in the wording; a `code` of `##code##` means the derived code.
    public let parameters: [String: String]?
    public let signature: String?

    public init(
        templateCode: String? = nil,
        body: String? = nil,
        parameters: [String: String]? = nil,
        signature: String? = nil
    ) {
        self.templateCode = templateCode
        self.body = body
        self.parameters = parameters
        self.signature = signature
    }
}

/// Where a send comes from. Only services and the gateway may state it.
public struct SendOrigin: Codable, Sendable, Hashable {
    /// Binds the challenge to a run: it is redeemed there only.
    public let runId: RunID?
    /// Chooses the wording.
    public let templateId: String?
    /// The number equals the token's bound number: its own budget.
    public let toBoundNumber: Bool?
    /// The client's address, IPv4 or IPv6, as the gateway saw it; loopback is not counted. `unknown`
    /// is one address that all share whose own cannot be read.
    public let address: String?

    public init(
        runId: RunID? = nil,
        templateId: String? = nil,
        toBoundNumber: Bool? = nil,
        address: String? = nil
    ) {
        self.runId = runId
        self.templateId = templateId
        self.toBoundNumber = toBoundNumber
        self.address = address
    }
}

/// Sends a code to a number, or repeats it under the policy.
/// Errors: `scheme_not_found`, `scheme_disabled`, `number_invalid`, `cooldown`, `number_limit`
/// (field: the window, `hour`, `day` or `day_all_schemes`), `address_limit` (`address_hour`), `text_refused`, `provider_refused`, `policy_refused`,
/// `guesses_exhausted`. The field of `provider_refused` is the provider's reason.
public struct SendCode: BusRequest {
    public typealias Reply = SentCode
    public static let method = Method(
        "smscode.send", .write, callers: [.integrator, .gateway, .service, .operator],
        timeout: Method.timeoutLong)
    public let schemeCode: String
    /// 1…64 bytes; a code is good for its purpose only.
    public let purpose: String
    /// As typed.
    public let number: String
    public let text: MessageTextRequest?
    /// 4…10.
    public let codeLength: Int?
    /// 1 digits · 2 upper · 3 lower · 4 upper+lower · 5 digits+upper · 6 digits+lower · 7 all.
    public let codeType: Int?
    /// 60…600.
    public let lifetimeSeconds: Int64?
    /// 1…3600.
    public let cooldownSeconds: Int64?
    public let duplicatePolicy: DuplicatePolicy?
    public let locale: String?
    /// Android app hash, 11 characters, ends the text.
    public let appHash: String?
    /// Ends the text with `@host #code`.
    public let webOTPHost: String?
    /// Put the code into the answer; integrators and gateway only.
    public let returnCode: Bool?
    /// Stored and echoed.
    public let outId: String?
    public let origin: SendOrigin?

    public init(
        schemeCode: String,
        purpose: String,
        number: String,
        text: MessageTextRequest? = nil,
        codeLength: Int? = nil,
        codeType: Int? = nil,
        lifetimeSeconds: Int64? = nil,
        cooldownSeconds: Int64? = nil,
        duplicatePolicy: DuplicatePolicy? = nil,
        locale: String? = nil,
        appHash: String? = nil,
        webOTPHost: String? = nil,
        returnCode: Bool? = nil,
        outId: String? = nil,
        origin: SendOrigin? = nil
    ) {
        self.schemeCode = schemeCode
        self.purpose = purpose
        self.number = number
        self.text = text
        self.codeLength = codeLength
        self.codeType = codeType
        self.lifetimeSeconds = lifetimeSeconds
        self.cooldownSeconds = cooldownSeconds
        self.duplicatePolicy = duplicatePolicy
        self.locale = locale
        self.appHash = appHash
        self.webOTPHost = webOTPHost
        self.returnCode = returnCode
        self.outId = outId
        self.origin = origin
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(purpose, in: 1...64, "purpose")
        try Check.length(number, in: 1...64, "number")
        try Check.range(codeLength, in: 4...10, "codeLength")
        try Check.range(codeType, in: 1...7, "codeType")
        try Check.range(lifetimeSeconds, in: 60...600, "lifetimeSeconds")
        try Check.range(cooldownSeconds, in: 1...3600, "cooldownSeconds")
        try Check.length(appHash, in: 11...11, "appHash")
        try Check.length(webOTPHost, in: 1...253, "webOTPHost")
        try Check.length(outId, in: 0...128, "outId")
        try Check.length(text?.body, in: 1...1000, "text.body")
        try Check.length(text?.signature, in: 0...64, "text.signature")
    }
}

/// What was sent.
public struct SentCode: Codable, Sendable {
    /// Absent when the text carries no derived code.
    public let challengeId: ChallengeID?
    public let messageId: MessageID
    public let delivery: DeliveryState
    /// Of the code.
    public let expiresAtMilliseconds: Int64?
    /// Earliest next send.
    public let resendAtMilliseconds: Int64
    /// In the tightest window, after this one.
    public let sendsLeft: Int
    public let codeLength: Int?
    public let codeType: Int?
    /// Which code of the challenge this is, from 0.
    public let codeSequence: Int?
    /// With `returnCode` only.
    public let code: Secret<String>?
    public let outId: String?

    public init(
        challengeId: ChallengeID? = nil,
        messageId: MessageID,
        delivery: DeliveryState,
        expiresAtMilliseconds: Int64? = nil,
        resendAtMilliseconds: Int64,
        sendsLeft: Int,
        codeLength: Int? = nil,
        codeType: Int? = nil,
        codeSequence: Int? = nil,
        code: Secret<String>? = nil,
        outId: String? = nil
    ) {
        self.challengeId = challengeId
        self.messageId = messageId
        self.delivery = delivery
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.resendAtMilliseconds = resendAtMilliseconds
        self.sendsLeft = sendsLeft
        self.codeLength = codeLength
        self.codeType = codeType
        self.codeSequence = codeSequence
        self.code = code
        self.outId = outId
    }
}
