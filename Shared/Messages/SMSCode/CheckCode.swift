public import Primitives

/// Outcome of comparing a code. All but `accepted` and `rejected` name why no comparison could
/// succeed.
public enum CodeResult: String, Codable, Sendable, Hashable, CaseIterable {
    case accepted, rejected, exhausted, expired, superseded, cancelled
    /// It was accepted before.
    case alreadyUsed = "already_used"
    /// The challenge of this id is gone. A number without a code is never told from one with a code:
    /// its guesses are `rejected` and `exhausted` alike.
    case notFound = "not_found"
}

/// Compares a code with all live codes of the scheme, purpose and number; a match uses up all of
/// them.
/// Errors: `challenge_not_found`, `belongs_to_run`, `scheme_not_found`, `scheme_disabled`,
/// `number_invalid`, `not_allowed`.
public struct CheckCode: BusRequest {
    public typealias Reply = CheckedCode
    public static let method = Method(
        "smscode.check", .write, callers: [.integrator, .gateway, .service, .operator])
    public let challengeId: ChallengeID?
    /// With challengeId: only this code of it counts. One that a newer code replaced is `superseded`,
    /// whatever was typed.
    public let codeSequence: Int?
    /// With purpose and number, instead of challengeId. Beside it, each that is given must be the
    /// challenge's own: another one's id is not found.
    public let schemeCode: String?
    public let purpose: String?
    public let number: String?
    /// As typed: digits of any script, spaces and dashes between are dropped.
    public let code: String
    /// Default: the policy.
    public let caseSensitive: Bool?
    public let outId: String?

    public init(
        challengeId: ChallengeID? = nil,
        codeSequence: Int? = nil,
        schemeCode: String? = nil,
        purpose: String? = nil,
        number: String? = nil,
        code: String,
        caseSensitive: Bool? = nil,
        outId: String? = nil
    ) {
        self.challengeId = challengeId
        self.codeSequence = codeSequence
        self.schemeCode = schemeCode
        self.purpose = purpose
        self.number = number
        self.code = code
        self.caseSensitive = caseSensitive
        self.outId = outId
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(code, in: 1...64, "code")
        if challengeId == nil {
            try Check.required(schemeCode != nil, "schemeCode")
            try Check.required(purpose != nil, "purpose")
            try Check.required(number != nil, "number")
        }
    }
}

/// The outcome.
public struct CheckedCode: Codable, Sendable, Hashable {
    public let result: CodeResult
    /// When accepted.
    public let number: PhoneNumber?
    public let challengeId: ChallengeID?
    /// When rejected: wrong guesses left in the window.
    public let attemptsLeft: Int?
    /// When exhausted.
    public let retryAfterMilliseconds: Int64?
    /// When superseded: a newer code was sent then.
    public let newerSentAtMilliseconds: Int64?
    public let outId: String?

    public init(
        result: CodeResult,
        number: PhoneNumber? = nil,
        challengeId: ChallengeID? = nil,
        attemptsLeft: Int? = nil,
        retryAfterMilliseconds: Int64? = nil,
        newerSentAtMilliseconds: Int64? = nil,
        outId: String? = nil
    ) {
        self.result = result
        self.number = number
        self.challengeId = challengeId
        self.attemptsLeft = attemptsLeft
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.newerSentAtMilliseconds = newerSentAtMilliseconds
        self.outId = outId
    }
}
