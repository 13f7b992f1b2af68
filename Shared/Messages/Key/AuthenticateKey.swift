public import Primitives

/// Signature algorithms of the HTTP edge.
public enum SignatureAlgorithm: String, Codable, Sendable, Hashable, CaseIterable {
    case acs3HMACSHA256 = "ACS3-HMAC-SHA256"
    case hmacSHA1 = "HMAC-SHA1"
}

/// Judges a signed call of the HTTP edge. Nonces hold over all gateways.
/// Errors: `key_not_found`, `key_inactive`, `signature_mismatch`, `nonce_used`,
/// `timestamp_expired`, `rate_limited`, `action_forbidden`, `token_invalid` (security token),
/// `token_expired` (the temporary key's time is over). Only a call that is let through uses its
/// nonce up.
public struct AuthenticateKey: BusRequest {
    public typealias Reply = AuthenticatedKey
    public static let method = Method(
        "key.internal.authenticate", .write, callers: [.gateway])
    public let accessKeyId: String
    public let securityToken: Secret<String>?
    public let algorithm: SignatureAlgorithm
    /// Built by the gateway from the request.
    public let stringToSign: String
    /// Lower-case hex (ACS3), or base64 (HMAC-SHA1, whose key is the secret and `&`).
    public let signature: String
    /// 1…128 bytes; refused when seen within the window.
    public let nonce: String
    /// Must lie within 15 minutes of now.
    public let timestampMilliseconds: Int64
    public let action: String

    public init(
        accessKeyId: String,
        securityToken: Secret<String>? = nil,
        algorithm: SignatureAlgorithm,
        stringToSign: String,
        signature: String,
        nonce: String,
        timestampMilliseconds: Int64,
        action: String
    ) {
        self.accessKeyId = accessKeyId
        self.securityToken = securityToken
        self.algorithm = algorithm
        self.stringToSign = stringToSign
        self.signature = signature
        self.nonce = nonce
        self.timestampMilliseconds = timestampMilliseconds
        self.action = action
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(accessKeyId, in: 1...64, "accessKeyId")
        try Check.length(securityToken?.reveal(), in: 0...4_096, "securityToken")
        try Check.length(signature, in: 0...256, "signature")
        try Check.length(action, in: 1...128, "action")
        try Check.length(nonce, in: 1...128, "nonce")
        try Check.length(stringToSign, in: 1...65_536, "stringToSign")
    }
}

/// Who signed, and for which schemes.
public struct AuthenticatedKey: Codable, Sendable, Hashable {
    public let owner: String
    public let schemeCodes: [String]?
    public let defaultSchemeCode: String?

    public init(owner: String, schemeCodes: [String]? = nil, defaultSchemeCode: String? = nil) {
        self.owner = owner
        self.schemeCodes = schemeCodes
        self.defaultSchemeCode = defaultSchemeCode
    }
}

/// Marks a single-use token of another issuer as used.
/// Errors: `invalid_parameters` (a time more than 31 days away).
public struct ConsumeToken: BusRequest {
    public typealias Reply = ConsumedToken
    public static let method = Method(
        "key.internal.consume", .write, callers: [.gateway])
    public let issuer: String
    public let tokenId: String
    /// When the token expires by itself.
    public let untilMilliseconds: Int64

    public init(issuer: String, tokenId: String, untilMilliseconds: Int64) {
        self.issuer = issuer
        self.tokenId = tokenId
        self.untilMilliseconds = untilMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(issuer, in: 1...256, "issuer")
        try Check.length(tokenId, in: 1...256, "tokenId")
    }
}

/// Whether this was the first use.
public struct ConsumedToken: Codable, Sendable, Hashable {
    /// False: it was used before.
    public let fresh: Bool

    public init(fresh: Bool) {
        self.fresh = fresh
    }
}
