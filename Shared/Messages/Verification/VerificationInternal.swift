public import Primitives

public enum EvidenceKind: String, Codable, Sendable, Hashable, CaseIterable {
    case carrier
    case smsCode = "sms_code"
    case upgoing
}

/// What a node won; exactly the field of its kind is set.
public struct Evidence: Codable, Sendable, Hashable {
    public let kind: EvidenceKind
    public let carrierToken: Secret<String>?
    public let guessId: GuessID?
    public let upgoingId: UpgoingID?

    public init(
        kind: EvidenceKind,
        carrierToken: Secret<String>? = nil,
        guessId: GuessID? = nil,
        upgoingId: UpgoingID? = nil
    ) {
        self.kind = kind
        self.carrierToken = carrierToken
        self.guessId = guessId
        self.upgoingId = upgoingId
    }

    /// - Throws: `invalid_parameters` unless exactly the field of `kind` is set.
    func validate(_ field: String) throws(ServiceFailure) {
        try Check.required((kind == .carrier) == (carrierToken != nil), "\(field).carrierToken")
        try Check.required((kind == .smsCode) == (guessId != nil), "\(field).guessId")
        try Check.required((kind == .upgoing) == (upgoingId != nil), "\(field).upgoingId")
        try Check.length(carrierToken?.reveal(), in: 1...4096, "\(field).carrierToken")
    }
}

/// Turns evidence into a mask token. Nothing is checked yet. Errors: `invalid_parameters`.
public struct OpenVerification: BusRequest {
    public typealias Reply = OpenedVerification
    public static let method = Method(
        "verification.internal.open", .write, callers: [.service])
    public let schemeCode: String
    public let templateId: String
    public let runId: RunID
    public let step: Int
    public let nodeId: String
    /// Must equal that of the evidence.
    public let purpose: String
    public let evidence: Evidence
    /// The number to be proven; another one is refused.
    public let expectedNumber: PhoneNumber?
    /// This number is refused.
    public let excludedNumber: PhoneNumber?
    /// Ask a scorer on PASS.
    public let score: Bool?
    /// At most 10 minutes ahead.
    public let expiresAtMilliseconds: Int64

    public init(
        schemeCode: String,
        templateId: String,
        runId: RunID,
        step: Int,
        nodeId: String,
        purpose: String,
        evidence: Evidence,
        expectedNumber: PhoneNumber? = nil,
        excludedNumber: PhoneNumber? = nil,
        score: Bool? = nil,
        expiresAtMilliseconds: Int64
    ) {
        self.schemeCode = schemeCode
        self.templateId = templateId
        self.runId = runId
        self.step = step
        self.nodeId = nodeId
        self.purpose = purpose
        self.evidence = evidence
        self.expectedNumber = expectedNumber
        self.excludedNumber = excludedNumber
        self.score = score
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(schemeCode, in: 1...64, "schemeCode")
        try Check.length(templateId, in: 1...64, "templateId")
        try Check.length(nodeId, in: 1...64, "nodeId")
        try Check.length(purpose, in: 1...64, "purpose")
        try evidence.validate("evidence")
    }
}

/// The mask token, once.
public struct OpenedVerification: Codable, Sendable {
    public let verificationId: VerificationID
    /// 256 bits, with its key version in front.
    public let maskToken: Secret<String>
    public let expiresAtMilliseconds: Int64

    public init(
        verificationId: VerificationID,
        maskToken: Secret<String>,
        expiresAtMilliseconds: Int64
    ) {
        self.verificationId = verificationId
        self.maskToken = maskToken
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// Tells whether a PASS is on record for this step of a run.
public struct GetRunStatus: BusRequest {
    public typealias Reply = RunStatus
    public static let method = Method(
        "verification.internal.run_status", .read, callers: [.service])
    public let runId: RunID
    public let step: Int

    public init(runId: RunID, step: Int) {
        self.runId = runId
        self.step = step
    }
}

/// The record.
public struct RunStatus: Codable, Sendable, Hashable {
    public let passed: Bool
    public let verificationId: VerificationID?
    /// The proven number, when passed.
    public let number: PhoneNumber?
    /// Of the newest verification of this step, when not passed.
    public let lastReason: VerificationReason?

    public init(
        passed: Bool,
        verificationId: VerificationID? = nil,
        number: PhoneNumber? = nil,
        lastReason: VerificationReason? = nil
    ) {
        self.passed = passed
        self.verificationId = verificationId
        self.number = number
        self.lastReason = lastReason
    }
}
