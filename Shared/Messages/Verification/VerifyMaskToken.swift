public import Primitives

public enum VerificationResult: String, Codable, Sendable, Hashable, CaseIterable {
    case pass = "PASS"
    case reject = "REJECT"
    case unknown = "UNKNOWN"
}

/// Why a verification is not PASS. Those marked open may pass later with the same token.
public enum VerificationReason: String, Codable, Sendable, Hashable, CaseIterable {
    /// Not one of ours, or not the caller's: both look alike.
    case maskTokenInvalid = "mask_token_invalid"
    case maskTokenExpired = "mask_token_expired"
    /// It gave its PASS under another request key. A final refusal is repeated as it was.
    case alreadyUsed = "already_used"
    case codeRejected = "code_rejected"
    case codeExhausted = "code_exhausted"
    case codeExpired = "code_expired"
    case codeSuperseded = "code_superseded"
    case codeCancelled = "code_cancelled"
    case alreadyRedeemed = "already_redeemed"
    /// Open: the up-going SMS has not arrived yet.
    case notReceived = "not_received"
    case upgoingExpired = "upgoing_expired"
    case senderMismatch = "sender_mismatch"
    /// Open: the carrier did not answer in time.
    case carrierTimeout = "carrier_timeout"
    /// Open: the carrier could not be reached.
    case carrierUnavailable = "carrier_unavailable"
    case carrierRefused = "carrier_refused"
    case numberMismatch = "number_mismatch"
    /// Number, scheme, purpose or run of the evidence is not that of the token.
    case bindingMismatch = "binding_mismatch"
    /// Open: the scheme is switched off at the moment.
    case schemeDisabled = "scheme_disabled"
    /// Open: another call holds this row, or a service could not be asked.
    case tryAgain = "try_again"
}

/// The decision: exchanges a mask token once for PASS and the number. A token that cannot pass is
/// an answer, not an error; one of another owner's scheme looks like one that does not exist.
/// An open outcome is kept under its request key like any other: ask again without a key, or with a
/// new one. Errors: `number_invalid`.
public struct VerifyMaskToken: BusRequest {
    public typealias Reply = Verified
    public static let method = Method(
        "verification.verify", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let maskToken: Secret<String>
    /// When given, another number is REJECT.
    public let number: String?
    /// When given, a token of another scheme is UNKNOWN.
    public let schemeCode: String?

    public init(maskToken: Secret<String>, number: String? = nil, schemeCode: String? = nil) {
        self.maskToken = maskToken
        self.number = number
        self.schemeCode = schemeCode
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(maskToken.reveal(), in: 1...256, "maskToken")
    }
}

/// The decision.
public struct Verified: Codable, Sendable, Hashable {
    public let verificationId: VerificationID?
    public let result: VerificationResult
    /// Absent on PASS.
    public let reason: VerificationReason?
    /// On PASS only.
    public let phoneNumber: PhoneNumber?
    /// 0…100, higher is riskier; absent without a scorer.
    public let phoneScore: Int?
    public let schemeCode: String?
    public let templateId: String?
    public let nodeId: String?
    /// After a wrong code.
    public let attemptsLeft: Int?

    public init(
        verificationId: VerificationID? = nil,
        result: VerificationResult,
        reason: VerificationReason? = nil,
        phoneNumber: PhoneNumber? = nil,
        phoneScore: Int? = nil,
        schemeCode: String? = nil,
        templateId: String? = nil,
        nodeId: String? = nil,
        attemptsLeft: Int? = nil
    ) {
        self.verificationId = verificationId
        self.result = result
        self.reason = reason
        self.phoneNumber = phoneNumber
        self.phoneScore = phoneScore
        self.schemeCode = schemeCode
        self.templateId = templateId
        self.nodeId = nodeId
        self.attemptsLeft = attemptsLeft
    }
}
