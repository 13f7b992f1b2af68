public import Primitives

public enum VerificationState: String, Codable, Sendable, Hashable, CaseIterable {
    case open, passed, refused, expired
}

/// State of a verification. Errors: `verification_not_found` (also for another owner's).
public struct GetVerificationStatus: BusRequest {
    public typealias Reply = VerificationStatus
    public static let method = Method(
        "verification.status", .read, callers: [.integrator, .gateway, .operator])
    public let verificationId: VerificationID

    public init(verificationId: VerificationID) {
        self.verificationId = verificationId
    }
}

/// State of a verification.
public struct VerificationStatus: Codable, Sendable, Hashable {
    public let verificationId: VerificationID
    public let state: VerificationState
    public let reason: VerificationReason?
    public let schemeCode: String
    public let templateId: String?
    public let runId: RunID?
    public let nodeId: String?
    public let openedAtMilliseconds: Int64
    public let decidedAtMilliseconds: Int64?
    public let expiresAtMilliseconds: Int64

    public init(
        verificationId: VerificationID,
        state: VerificationState,
        reason: VerificationReason? = nil,
        schemeCode: String,
        templateId: String? = nil,
        runId: RunID? = nil,
        nodeId: String? = nil,
        openedAtMilliseconds: Int64,
        decidedAtMilliseconds: Int64? = nil,
        expiresAtMilliseconds: Int64
    ) {
        self.verificationId = verificationId
        self.state = state
        self.reason = reason
        self.schemeCode = schemeCode
        self.templateId = templateId
        self.runId = runId
        self.nodeId = nodeId
        self.openedAtMilliseconds = openedAtMilliseconds
        self.decidedAtMilliseconds = decidedAtMilliseconds
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// Counts by day and kind of evidence. Errors: `scheme_not_found`, `invalid_parameters`.
public struct GetVerificationStatistics: BusRequest {
    public typealias Reply = VerificationStatistics
    public static let method = Method(
        "verification.statistics", .read, callers: [.integrator, .gateway, .operator])
    /// Required unless the caller is an operator.
    public let schemeCode: String?
    /// yyyyMMdd, UTC.
    public let fromDay: String
    /// Inclusive; at most 31 days.
    public let toDay: String

    public init(schemeCode: String? = nil, fromDay: String, toDay: String) {
        self.schemeCode = schemeCode
        self.fromDay = fromDay
        self.toDay = toDay
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(fromDay, in: 8...8, "fromDay")
        try Check.length(toDay, in: 8...8, "toDay")
    }
}

/// One day and kind: evaluations that came to PASS, REJECT and UNKNOWN. Replays are not counted.
public struct VerificationDay: Codable, Sendable, Hashable {
    public let day: String
    public let kind: EvidenceKind
    public let passed: Int
    public let refused: Int
    public let unknown: Int

    public init(day: String, kind: EvidenceKind, passed: Int, refused: Int, unknown: Int) {
        self.day = day
        self.kind = kind
        self.passed = passed
        self.refused = refused
        self.unknown = unknown
    }
}

/// In order of day, then kind.
public struct VerificationStatistics: Codable, Sendable, Hashable {
    public let days: [VerificationDay]

    public init(days: [VerificationDay]) {
        self.days = days
    }
}
