public import Primitives

/// What the access tokens of the sandbox say, in names that the gateway knows. Real issuers have
/// names of their own, which the gateway's configuration tells.
public enum SandboxIssuer {
    /// `iss`.
    public static let issuer = "https://sandbox.fusionbus.invalid"
    /// `aud`.
    public static let audience = "fusion-gateway"
    /// Holds the carrier token that the simulated SIM gave for this access token.
    public static let carrierTokenClaim = "carrier_token"
    /// Network based authentication, as CAMARA's flows name it.
    public static let networkMethod = "nba"
}

/// How an access token is wrong, for tests of those who judge it.
public enum AccessTokenFault: String, Codable, Sendable, Hashable, CaseIterable {
    case none
    /// Its time is over.
    case expired
    /// `nbf` lies an hour ahead.
    case notYetValid = "not_yet_valid"
    /// Another key signed it than the one it names.
    case wrongSignature = "wrong_signature"
    /// It names a key that the sandbox does not publish.
    case unknownKey = "unknown_key"
    case wrongIssuer = "wrong_issuer"
    case wrongAudience = "wrong_audience"
    /// It has no `jti`, so that nobody can tell whether it was used.
    case noTokenID = "no_token_id"
}

/// The authorization server of the simulated operator: an access token as CAMARA's APIs take it, a
/// JWT. With a SIM, or a number that has one, it is won by network based authentication and holds a
/// carrier token of that SIM; without, it is one of an API client alone.
/// Errors: `sim_not_found`, `number_invalid`, `carrier_unavailable` (the SIM gives no carrier token).
public struct MintAccessToken: BusRequest {
    public typealias Reply = MintedAccessToken
    public static let method = Method(
        "sandbox.access_token", .write, callers: [.operator, .service, .gateway])
    public static let lifetimeSecondsStandard: Int64 = 300

    /// Owner of the scheme; the token acts for that owner.
    public let owner: String
    public let schemeCode: String
    /// Words between spaces; may be empty.
    public let scope: String
    /// The API client's `client_id`; default `sandbox-client`.
    public let clientId: String?
    /// At most one of the two.
    public let simId: SIMID?
    public let number: String?
    /// Default: `nba` with a phone, none without.
    public let amr: [String]?
    /// 1…86400; default 300, the most that Number Verification takes.
    public let lifetimeSeconds: Int64?
    public let fault: AccessTokenFault?

    public init(
        owner: String,
        schemeCode: String,
        scope: String,
        clientId: String? = nil,
        simId: SIMID? = nil,
        number: String? = nil,
        amr: [String]? = nil,
        lifetimeSeconds: Int64? = nil,
        fault: AccessTokenFault? = nil
    ) {
        self.owner = owner
        self.schemeCode = schemeCode
        self.scope = scope
        self.clientId = clientId
        self.simId = simId
        self.number = number
        self.amr = amr
        self.lifetimeSeconds = lifetimeSeconds
        self.fault = fault
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(owner, in: 1...64, "owner")
        try Check.length(schemeCode, in: 1...64, "schemeCode")
        try Check.length(scope, in: 0...1000, "scope")
        try Check.length(clientId, in: 1...64, "clientId")
        try Check.range(amr?.count, in: 0...8, "amr")
        for method in amr ?? [] { try Check.length(method, in: 1...32, "amr") }
        try Check.range(lifetimeSeconds, in: 1...86_400, "lifetimeSeconds")
        guard simId == nil || number == nil else {
            throw ServiceFailure(
                .invalidParameters, "one of simId and number names the phone", field: "number")
        }
    }
}

/// An access token (RFC 6749 §5.1).
public struct MintedAccessToken: Codable, Sendable {
    public let accessToken: Secret<String>
    /// `Bearer`.
    public let tokenType: String
    public let scope: String
    public let expiresAtMilliseconds: Int64

    public init(
        accessToken: Secret<String>,
        tokenType: String,
        scope: String,
        expiresAtMilliseconds: Int64
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.scope = scope
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// The public key of the sandbox's access tokens; made anew at every start.
public struct GetAccessKeys: BusRequest {
    public typealias Reply = PublicKeySet
    public static let method = Method(
        "sandbox.access_keys", .read, callers: [.operator, .service, .gateway])
    public init() {}
}
