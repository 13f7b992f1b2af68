public import Primitives

/// Claims of an auth token (RFC 7519); there is no `aud`.
public struct AuthTokenClaims: Codable, Sendable, Hashable {
    public let iss: String
    /// The scheme code.
    public let sub: String
    public let jti: TokenID
    /// Seconds since 1970.
    public let iat: Int64
    /// Seconds since 1970.
    public let exp: Int64
    public let platform: AppPlatform
    /// Bundle id, package name or origin.
    public let app: String

    public init(
        iss: String,
        sub: String,
        jti: TokenID,
        iat: Int64,
        exp: Int64,
        platform: AppPlatform,
        app: String
    ) {
        self.iss = iss
        self.sub = sub
        self.jti = jti
        self.iat = iat
        self.exp = exp
        self.platform = platform
        self.app = app
    }
}

/// Protected header of an auth token.
public struct TokenHeader: Codable, Sendable, Hashable {
    /// `EdDSA`; `Ed25519` (RFC 9864) is accepted too.
    public let alg: String
    public let typ: String?
    public let kid: String

    public init(alg: String, typ: String? = nil, kid: String) {
        self.alg = alg
        self.typ = typ
        self.kid = kid
    }
}
