import Effects
import HTTPTypes
import Primitives

/// A refusal in CAMARA's words: `{status, code, message}`. Codes are those of the two API
/// definitions, else those of CAMARA's API Design Guide §3.2.
struct CamaraError: Error, Sendable, Hashable {
    let status: Int
    let code: String
    /// At most `messageLengthMax` characters; holds nothing of what was sent.
    let message: String
    let retryAfterMilliseconds: Int64?
    /// `WWW-Authenticate` (RFC 6750 §3).
    let challenge: String?

    /// CAMARA's bound of `message`.
    static let messageLengthMax = 512

    init(
        _ status: Int, _ code: String, _ message: String, retryAfterMilliseconds: Int64? = nil,
        challenge: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = String(message.prefix(Self.messageLengthMax))
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.challenge = challenge
    }

    private struct Body: Encodable {
        let status: Int
        let code: String
        let message: String
    }

    var response: HTTPResponse {
        var response = JSONAnswer.make(
            status, Body(status: status, code: code, message: message), type: CamaraEdge.mediaType)
        if let retryAfterMilliseconds, retryAfterMilliseconds > 0 {
            response.headers.set("Retry-After", "\((retryAfterMilliseconds + 999) / 1000)")
        }
        if let challenge { response.headers.set("WWW-Authenticate", challenge) }
        return response
    }
}

// MARK: The request itself

extension CamaraError {
    static func invalid(_ what: String) -> Self { Self(400, "INVALID_ARGUMENT", what) }

    /// One text for all reasons: who is not known is told nothing (Design Guide §3.2, note 1).
    private static let unauthenticatedText =
        "Request not authenticated due to missing, invalid, or expired credentials. "
        + "A new authentication is required."

    static let tokenMissing = Self(
        401, "UNAUTHENTICATED", unauthenticatedText, challenge: "Bearer realm=\"fusionbus\"")
    static let tokenRefused = Self(
        401, "UNAUTHENTICATED", unauthenticatedText,
        challenge: "Bearer realm=\"fusionbus\", error=\"invalid_token\"")

    static func scopeMissing(_ scope: String) -> Self {
        Self(
            403, "PERMISSION_DENIED", "The access token lacks the scope \(scope).",
            challenge:
                "Bearer realm=\"fusionbus\", error=\"insufficient_scope\", scope=\"\(scope)\"")
    }

    static let permissionDenied = Self(
        403, "PERMISSION_DENIED",
        "Client does not have sufficient permissions to perform this action.")
    static let notByMobileNetwork = Self(
        403, "NUMBER_VERIFICATION.USER_NOT_AUTHENTICATED_BY_MOBILE_NETWORK",
        "Client must authenticate via the mobile network to use this service.")
    static let notFound = Self(404, "NOT_FOUND", "The specified resource is not found.")
    static let methodNotAllowed = Self(
        405, "METHOD_NOT_ALLOWED",
        "The requested method is not allowed/supported on the target resource.")
    static let bodyTooLarge = Self(413, "PAYLOAD_TOO_LARGE", "The request body is too large.")
    static let unsupportedMediaType = Self(
        415, "UNSUPPORTED_MEDIA_TYPE", "The request body must be application/json in UTF-8.")
    static let unavailable = Self(
        503, "UNAVAILABLE", "Service Unavailable.", retryAfterMilliseconds: 1_000)
    static let timeout = Self(504, "TIMEOUT", "Request timeout exceeded.")
    static let internalFault = Self(
        500, "INTERNAL", "Unknown server error. X-Request-Id names it in the logs.")
}

// MARK: One-time passwords

extension CamaraError {
    private static func password(_ status: Int, _ code: String, _ message: String) -> Self {
        Self(status, "ONE_TIME_PASSWORD_SMS.\(code)", message)
    }

    static let wrongCode = password(
        400, "INVALID_OTP", "The provided OTP is not valid for this authenticationId")
    static let codeOver = password(
        400, "VERIFICATION_EXPIRED", "The authenticationId is no longer valid")
    static let triesOver = password(
        400, "VERIFICATION_FAILED",
        "The maximum number of attempts for this authenticationId was exceeded without providing "
            + "a valid OTP")
    static let numberNotAllowed = password(
        403, "PHONE_NUMBER_NOT_ALLOWED",
        "Phone_number can't receive an SMS due to business reasons in the operator.")
    static let numberBlocked = password(
        403, "PHONE_NUMBER_BLOCKED",
        "Phone_number is blocked to receive SMS due to any blocking business reason in the operator."
    )

    static func sendsOver(_ retryAfterMilliseconds: Int64?) -> Self {
        Self(
            403, "ONE_TIME_PASSWORD_SMS.MAX_OTP_CODES_EXCEEDED",
            "Too many OTPs have been requested for this MSISDN. Try later.",
            retryAfterMilliseconds: retryAfterMilliseconds)
    }
}

// MARK: What the bus says

extension CamaraError {
    /// Where an operation has no word of its own for a failure.
    init(_ failure: ServiceFailure) {
        switch failure.code {
        case .numberInvalid, .invalidParameters:
            self = .invalid("\(failure.field ?? "The request") \(failure.message)")
        case .textRefused: self = .invalid("message: \(failure.message)")
        case .challengeNotFound, .belongsToRun: self = .notFound
        case .tokenInvalid, .tokenExpired, .tokenRevoked: self = .tokenRefused
        case .notAllowed, .schemeNotFound, .schemeDisabled, .policyRefused: self = .permissionDenied
        case .numberLimit: self = .sendsOver(failure.retryAfterMilliseconds)
        case .cooldown, .rateLimited, .addressLimit:
            self.init(
                429, "TOO_MANY_REQUESTS", "Rate limit reached.",
                retryAfterMilliseconds: failure.retryAfterMilliseconds ?? 1_000)
        case .guessesExhausted, .tooMany:
            self.init(
                429, "QUOTA_EXCEEDED",
                "Too many wrong codes were tried for this number; a new one could not be checked.",
                retryAfterMilliseconds: failure.retryAfterMilliseconds ?? 1_000)
        case .carrierUnavailable, .providerUnavailable, .unavailable, .overloaded, .workerLost:
            self = .unavailable
        case .deadlinePassed: self = .timeout
        default: self = .internalFault
        }
    }

    /// Of a provider that does not take an SMS; its reason stands in the failure's field.
    static func refusedSMS(_ failure: ServiceFailure) -> Self {
        switch failure.field {
        case "unknown_subscriber": .notFound
        case "sms_not_supported", "landline": .numberNotAllowed
        default: .numberBlocked
        }
    }
}
