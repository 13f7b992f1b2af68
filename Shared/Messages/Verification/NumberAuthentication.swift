public import Primitives

/// Exchanges a carrier token for the number, without a scene. Errors: `token_invalid`,
/// `carrier_unavailable`, `scheme_not_found`, `scheme_disabled`.
public struct GetNumber: BusRequest {
    public typealias Reply = GotNumber
    public static let method = Method(
        "verification.get_number", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let schemeCode: String
    /// Single use.
    public let carrierToken: Secret<String>
    public let outId: String?

    public init(schemeCode: String, carrierToken: Secret<String>, outId: String? = nil) {
        self.schemeCode = schemeCode
        self.carrierToken = carrierToken
        self.outId = outId
    }
}

/// The number.
public struct GotNumber: Codable, Sendable, Hashable {
    public let verificationId: VerificationID
    public let number: PhoneNumber
    public let outId: String?

    public init(verificationId: VerificationID, number: PhoneNumber, outId: String? = nil) {
        self.verificationId = verificationId
        self.number = number
        self.outId = outId
    }
}

/// Tells whether the number behind a carrier token is the one stated. Errors: as `get_number`,
/// `number_invalid`.
public struct MatchNumber: BusRequest {
    public typealias Reply = MatchedNumber
    public static let method = Method(
        "verification.match_number", .write, callers: [.integrator, .gateway, .operator],
        timeout: Method.timeoutLong)
    public let schemeCode: String
    public let carrierToken: Secret<String>
    /// One of the two.
    public let number: String?
    /// SHA-256 of the E.164 text with its +, 64 hex digits of either case.
    public let hashedNumber: String?
    public let outId: String?

    public init(
        schemeCode: String,
        carrierToken: Secret<String>,
        number: String? = nil,
        hashedNumber: String? = nil,
        outId: String? = nil
    ) {
        self.schemeCode = schemeCode
        self.carrierToken = carrierToken
        self.number = number
        self.hashedNumber = hashedNumber
        self.outId = outId
    }

    public func validate() throws(ServiceFailure) {
        try Check.required((number == nil) != (hashedNumber == nil), "number")
        if let hashedNumber, Hex.decode(hashedNumber)?.count != 32 {
            throw ServiceFailure(
                .invalidParameters, "takes exactly 64 hexadecimal digits", field: "hashedNumber")
        }
    }
}

/// PASS, REJECT or UNKNOWN.
public struct MatchedNumber: Codable, Sendable, Hashable {
    public let verificationId: VerificationID
    public let result: VerificationResult
    public let outId: String?

    public init(verificationId: VerificationID, result: VerificationResult, outId: String? = nil) {
        self.verificationId = verificationId
        self.result = result
        self.outId = outId
    }
}
