/// A refusal in the words of the original: its programs read the code, people the message.
///
/// Two families (both are interface): what the API gateway or the operation's own error table declares
/// has a status of 400 and above, and client libraries raise it; business failures (`isv.…`, `biz.…`)
/// come with status 200, and client libraries hand the body to their caller.
struct DypnsapiError: Error, Hashable, Sendable {
    let status: Int
    let code: String
    let message: String
    /// What to do about it.
    let recommend: String
    /// Our own word for why, for people who look for a fault.
    var reason: String?
    /// A wait after which the same call may succeed.
    var retryAfterMilliseconds: Int64?

    init(
        _ status: Int, _ code: String, _ message: String, recommend: String,
        reason: String? = nil, retryAfterMilliseconds: Int64? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.recommend = recommend
        self.reason = reason
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    var isBusiness: Bool { status == 200 }

    static func business(
        _ code: String, _ message: String, reason: String? = nil,
        retryAfterMilliseconds: Int64? = nil
    ) -> Self {
        Self(
            200, code, message, recommend: "", reason: reason,
            retryAfterMilliseconds: retryAfterMilliseconds)
    }
}

// MARK: Who called, and whether the call is genuine

extension DypnsapiError {
    static let keyNotFound = Self(
        404, "InvalidAccessKeyId.NotFound", "Specified access key is not found.",
        recommend: "Use an access key of this system; `fusionctl key list` shows them.")
    static let keyInactive = Self(
        400, "InvalidAccessKeyId.Inactive", "Specified access key is disabled.",
        recommend: "Use another access key; this one was revoked.")
    static let incompleteSignature = Self(
        400, "IncompleteSignature", "The request signature does not conform to the standard.",
        recommend: "Sign with ACS3-HMAC-SHA256 or with the RPC signature 1.0.")
    static let invalidSignatureMethod = Self(
        400, "InvalidSignatureMethod", "Specified signature method is not valid.",
        recommend: "Use ACS3-HMAC-SHA256 or HMAC-SHA1.")
    static let timestampFormat = Self(
        400, "InvalidTimeStamp.Format",
        "Specified time stamp or date value is not well formatted.",
        recommend: "Write UTC as 2026-01-31T12:00:00Z.")
    static let timestampExpired = Self(
        400, "InvalidTimeStamp.Expired", "Specified time stamp or date value is expired.",
        recommend: "Set the caller's clock; it may differ by 15 minutes. The time is UTC.")
    static let nonceUsed = Self(
        400, "SignatureNonceUsed", "Specified signature nonce was used already.",
        recommend: "Draw a new nonce for every request, also for a repeated one.")
    static let securityTokenMissing = missing("SecurityToken")
    static let securityTokenMismatch = Self(
        400, "InvalidSecurityToken.MismatchWithAccessKey",
        "Specified SecurityToken mismatch with the AccessKey.",
        recommend: "Send key id, secret and security token of one and the same triple.")
    static let securityTokenExpired = Self(
        400, "InvalidSecurityToken.Expired", "Specified SecurityToken is expired.",
        recommend: "Ask for a new temporary key.")
    static let forbidden = Self(
        403, "Forbidden.RAM", "User not authorized to operate on the specified resource.",
        recommend: "Ask the operator what the access key may do.")

    /// An old client library takes the message apart at its colon, and says "wrong secret" where the
    /// rest is what it signed. All of that came from the client itself.
    static func signatureDoesNotMatch(_ stringToSign: String) -> Self {
        Self(
            400, "SignatureDoesNotMatch",
            "Specified signature is not matched with our calculation. "
                + "server string to sign is:\(stringToSign)",
            recommend: "Compare the string to sign; where it is the same, the secret is not.")
    }

    /// - Parameter retryAfterMilliseconds: until the next second begins.
    static func throttled(retryAfterMilliseconds: Int64?) -> Self {
        Self(
            400, "Throttling.User", "Request was denied due to user flow control.",
            recommend: "Wait as x-acs-retry-after says, in milliseconds.",
            retryAfterMilliseconds: max(1, retryAfterMilliseconds ?? 1_000))
    }
}

// MARK: The shape of a call

extension DypnsapiError {
    static func missing(_ parameter: String) -> Self {
        Self(
            400, "Missing\(parameter)", "\(parameter) is mandatory for this action.",
            recommend: "Give \(parameter) a value.")
    }

    /// - Parameter parameter: as the caller wrote it; a name that no parameter has is not echoed.
    static func invalid(_ parameter: String?, _ why: String) -> Self {
        let name = parameter.flatMap { isPlain($0) ? $0 : nil }
        return Self(
            400, name.map { "InvalidParameter.\($0)" } ?? "InvalidParameter",
            name.map { "The specified parameter \($0) is not valid. It \(why)." }
                ?? "A specified parameter is not valid. It \(why).",
            recommend: "Mend the parameter.")
    }

    private static func isPlain(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                    || $0 == "." || $0 == "-" || $0 == "_"
            }
    }

    static let malformed = Self(
        400, "InvalidParameter", "The parameters are not well formed.",
        recommend: "Percent-encode UTF-8; at most 256 parameters.")
    /// Most often a client library was given `http://host:port`, which it sends as `Host`.
    static let unreadable = Self(
        400, "InvalidParameter", "The head of the request is not valid HTTP.",
        recommend: "Send one Host, one Content-Length or chunks, and fields without control "
            + "characters. An SDK's endpoint is HOST:PORT, without http:// before it.")
    static let tooLarge = Self(
        400, "InvalidParameter.TooLarge", "The parameters are too large.",
        recommend: "Send less than 64 KiB.")
    static let invalidVersion = Self(
        400, "InvalidVersion", "Specified parameter Version is not valid.",
        recommend: "The version of this API is \(DypnsapiEdge.version).")
    static let unknownAction = Self(
        404, "InvalidApi.NotFound", "Specified api is not found, please check your url and method.",
        recommend: "The README of the gateway lists its paths and actions.")
    static let unsupportedMethod = Self(
        400, "UnsupportedHTTPMethod", "This http method is not supported.",
        recommend: "Use POST.")
    static let otherBody = Self(
        400, "IdempotentParameterMismatch",
        "The request uses the same idempotency key as an earlier one with other parameters.",
        recommend: "Choose a new Idempotency-Key.")
}

// MARK: What is declared, and faults of ours

extension DypnsapiError {
    static let schemeNotExist = Self(
        400, "VerifySchemeNotExist", "The specified verify scheme does not exist.",
        recommend: "Look up the code of the scheme; `fusionctl scheme list` shows them.")
    static let schemeNotPassed = Self(
        400, "SchemeNotPassed", "The scheme is not passed.",
        recommend: "The scheme is switched off; ask the operator.")
    static let schemeOverLimit = Self(
        400, "SchemeNumberOverLimit", "The maximum number of scheme is exceeded.",
        recommend: "Use or delete schemes that exist.")
    static let sceneQueryFail = Self(
        400, "SceneQueryFail", "The specified scene does not exist.",
        recommend: "Look up the code of the scheme.")
    static let functionNotOpened = Self(
        400, "FUNCTION_NOT_OPENED", "The scheme is switched off.",
        recommend: "Ask the operator.")
    static let internalError = Self(
        500, "InternalError",
        "The request processing has failed due to some unknown error, exception or failure.",
        recommend: "Tell the operator the RequestId.")

    static func unavailable(retryAfterMilliseconds: Int64? = nil) -> Self {
        Self(
            503, "ServiceUnavailable",
            "The request has failed due to a temporary failure of the server.",
            recommend: "Try again in a moment.", retryAfterMilliseconds: retryAfterMilliseconds)
    }
}
