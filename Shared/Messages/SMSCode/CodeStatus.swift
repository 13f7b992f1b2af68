public import Primitives

/// State of a challenge.
public enum ChallengeState: String, Codable, Sendable, Hashable, CaseIterable {
    case pending, accepted, exhausted, expired, superseded, cancelled
}

/// State of a challenge and its newest message. Errors: `challenge_not_found`, `not_allowed`.
public struct GetCodeStatus: BusRequest {
    public typealias Reply = CodeStatus
    public static let method = Method(
        "smscode.status", .read, callers: [.integrator, .gateway, .service, .operator])
    public let challengeId: ChallengeID
    /// Where given, the challenge's own: another one's id is not found.
    public let schemeCode: String?
    public let purpose: String?

    public init(challengeId: ChallengeID, schemeCode: String? = nil, purpose: String? = nil) {
        self.challengeId = challengeId
        self.schemeCode = schemeCode
        self.purpose = purpose
    }
}

/// State of a challenge.
public struct CodeStatus: Codable, Sendable, Hashable {
    public let challengeId: ChallengeID
    public let state: ChallengeState
    public let number: PhoneNumber
    public let purpose: String
    public let sentCount: Int
    public let delivery: DeliveryState
    public let deliveryReason: String?
    public let createdAtMilliseconds: Int64
    public let expiresAtMilliseconds: Int64
    public let resendAtMilliseconds: Int64

    public init(
        challengeId: ChallengeID,
        state: ChallengeState,
        number: PhoneNumber,
        purpose: String,
        sentCount: Int,
        delivery: DeliveryState,
        deliveryReason: String? = nil,
        createdAtMilliseconds: Int64,
        expiresAtMilliseconds: Int64,
        resendAtMilliseconds: Int64
    ) {
        self.challengeId = challengeId
        self.state = state
        self.number = number
        self.purpose = purpose
        self.sentCount = sentCount
        self.delivery = delivery
        self.deliveryReason = deliveryReason
        self.createdAtMilliseconds = createdAtMilliseconds
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.resendAtMilliseconds = resendAtMilliseconds
    }
}

/// Voids open codes, for example after the account changed by another way. Counters stay. Errors:
/// `challenge_not_found`, `not_allowed`.
public struct CancelCode: BusRequest {
    public typealias Reply = CancelledCodes
    public static let method = Method(
        "smscode.cancel", .write, callers: [.integrator, .gateway, .service, .operator])
    public let challengeId: ChallengeID?
    /// With number (and purpose), instead of challengeId. Beside it, scheme and purpose must be the
    /// challenge's own where they are given.
    public let schemeCode: String?
    /// nil: every purpose.
    public let purpose: String?
    public let number: String?

    public init(
        challengeId: ChallengeID? = nil,
        schemeCode: String? = nil,
        purpose: String? = nil,
        number: String? = nil
    ) {
        self.challengeId = challengeId
        self.schemeCode = schemeCode
        self.purpose = purpose
        self.number = number
    }

    public func validate() throws(ServiceFailure) {
        if challengeId == nil {
            try Check.required(schemeCode != nil, "schemeCode")
            try Check.required(number != nil, "number")
        }
    }
}

/// How many were open.
public struct CancelledCodes: Codable, Sendable, Hashable {
    public let count: Int

    public init(count: Int) {
        self.count = count
    }
}
