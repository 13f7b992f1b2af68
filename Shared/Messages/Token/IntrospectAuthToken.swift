public import Primitives

/// Tells whether an auth token is good now, judged on signature, expiry, revocation and the
/// scheme's state (RFC 7662).
/// An inactive token is an answer, not an error.
public struct IntrospectAuthToken: BusRequest {
    public typealias Reply = TokenState
    public static let method = Method(
        "token.introspect", .read, callers: [.integrator, .gateway, .service, .operator])
    public let authToken: String

    public init(authToken: String) {
        self.authToken = authToken
    }
}

/// Why a token is not active.
public enum TokenInactivity: String, Codable, Sendable, Hashable, CaseIterable {
    case malformed, unknown, expired, revoked
    case schemeDisabled = "scheme_disabled"
}

/// State of an auth token.
public struct TokenState: Codable, Sendable, Hashable {
    public let active: Bool
    /// Present when not active.
    public let reason: TokenInactivity?
    public let tokenId: TokenID?
    public let schemeCode: String?
    /// Owner of the scheme.
    public let owner: String?
    public let platform: AppPlatform?
    /// Bundle id, package name or origin, as in the token.
    public let app: String?
    public let issuedAtMilliseconds: Int64?
    public let expiresAtMilliseconds: Int64?
    /// To services only; never passes the gateway.
    public let boundNumber: PhoneNumber?

    public init(
        active: Bool,
        reason: TokenInactivity? = nil,
        tokenId: TokenID? = nil,
        schemeCode: String? = nil,
        owner: String? = nil,
        platform: AppPlatform? = nil,
        app: String? = nil,
        issuedAtMilliseconds: Int64? = nil,
        expiresAtMilliseconds: Int64? = nil,
        boundNumber: PhoneNumber? = nil
    ) {
        self.active = active
        self.reason = reason
        self.tokenId = tokenId
        self.schemeCode = schemeCode
        self.owner = owner
        self.platform = platform
        self.app = app
        self.issuedAtMilliseconds = issuedAtMilliseconds
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.boundNumber = boundNumber
    }
}
