/// A stable reason, in snake case, that a program may act on. Codes are added, never renamed.
/// Each comment says who reacts, and how.
public struct ErrorCode: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    // Shape and access: the calling team mends its code or asks for the right.
    /// A field is missing, of the wrong type or out of range; `field` names it. JSON-RPC −32602.
    public static let invalidParameters = Self(rawValue: "invalid_parameters")
    /// No such method under this service. JSON-RPC −32601.
    public static let methodNotFound = Self(rawValue: "method_not_found")
    /// The principal may not call this method, or not for this scheme. Ask the operator.
    public static let notAllowed = Self(rawValue: "not_allowed")
    /// The same request key came with another body. Do not repeat; choose a new key.
    public static let conflict = Self(rawValue: "conflict")
    /// The row changed since it was read (`expectedVersion`). Read again, then repeat.
    public static let versionConflict = Self(rawValue: "version_conflict")

    // Limits: the caller waits `retryAfterMilliseconds`, then repeats.
    /// The caller's own calls per second are used up.
    public static let rateLimited = Self(rawValue: "rate_limited")
    /// The minimum gap between two sends to this number has not passed.
    public static let cooldown = Self(rawValue: "cooldown")
    /// A window's limit for this number is reached; `field` names the window.
    public static let numberLimit = Self(rawValue: "number_limit")
    /// A window's limit for this address is reached.
    public static let addressLimit = Self(rawValue: "address_limit")
    /// Too many unredeemed guesses, mask tokens or open texts for this challenge or run.
    public static let tooMany = Self(rawValue: "too_many")
    /// The wrong guesses of this window are used up; the user waits.
    public static let guessesExhausted = Self(rawValue: "guesses_exhausted")

    // Things that are not there, or no longer usable.
    public static let schemeNotFound = Self(rawValue: "scheme_not_found")
    public static let schemeDisabled = Self(rawValue: "scheme_disabled")
    public static let appMismatch = Self(rawValue: "app_mismatch")
    public static let keyNotFound = Self(rawValue: "key_not_found")
    public static let keyInactive = Self(rawValue: "key_inactive")
    public static let signatureMismatch = Self(rawValue: "signature_mismatch")
    public static let nonceUsed = Self(rawValue: "nonce_used")
    public static let timestampExpired = Self(rawValue: "timestamp_expired")
    public static let actionForbidden = Self(rawValue: "action_forbidden")
    /// The auth token is not one of ours, is expired or revoked. The app asks its server for a new
    /// one.
    public static let tokenInvalid = Self(rawValue: "token_invalid")
    public static let tokenExpired = Self(rawValue: "token_expired")
    public static let tokenRevoked = Self(rawValue: "token_revoked")
    public static let challengeNotFound = Self(rawValue: "challenge_not_found")
    public static let upgoingNotFound = Self(rawValue: "upgoing_not_found")
    public static let guessNotFound = Self(rawValue: "guess_not_found")
    public static let verificationNotFound = Self(rawValue: "verification_not_found")
    public static let messageNotFound = Self(rawValue: "message_not_found")
    public static let simNotFound = Self(rawValue: "sim_not_found")
    public static let runNotFound = Self(rawValue: "run_not_found")
    /// The run has ended; its view tells how.
    public static let runEnded = Self(rawValue: "run_ended")
    public static let templateNotFound = Self(rawValue: "template_not_found")
    public static let passNotOnRecord = Self(rawValue: "pass_not_on_record")
    /// A node does not take this input now.
    public static let inputNotExpected = Self(rawValue: "input_not_expected")
    /// The challenge belongs to a scene run and is redeemed there only.
    public static let belongsToRun = Self(rawValue: "belongs_to_run")

    // Numbers and text: the user types again.
    public static let numberInvalid = Self(rawValue: "number_invalid")
    public static let numberMismatch = Self(rawValue: "number_mismatch")
    public static let textRefused = Self(rawValue: "text_refused")
    public static let policyRefused = Self(rawValue: "policy_refused")

    // Providers and ourselves: the caller may repeat; the operator looks.
    public static let providerRefused = Self(rawValue: "provider_refused")
    public static let providerUnavailable = Self(rawValue: "provider_unavailable")
    public static let carrierUnavailable = Self(rawValue: "carrier_unavailable")
    /// The bus: no worker within the time, overloaded, worker lost, deadline passed.
    public static let unavailable = Self(rawValue: "unavailable")
    public static let overloaded = Self(rawValue: "overloaded")
    public static let workerLost = Self(rawValue: "worker_lost")
    public static let deadlinePassed = Self(rawValue: "deadline_passed")
    /// A fault of ours. The log has the detail under the request id.
    public static let internalFault = Self(rawValue: "internal_fault")
}

/// The one error that crosses the bus: a code to act on, a sentence for a person, the field at
/// fault,
/// and how long to wait. It holds no secret and no full number.
public struct ServiceFailure: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    public let code: ErrorCode
    public let message: String
    public let field: String?
    public let retryAfterMilliseconds: Int64?

    public init(
        _ code: ErrorCode, _ message: String, field: String? = nil,
        retryAfterMilliseconds: Int64? = nil
    ) {
        self.code = code
        self.message = message
        self.field = field
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    public var description: String { "\(code)\(field.map { " (\($0))" } ?? ""): \(message)" }
}
