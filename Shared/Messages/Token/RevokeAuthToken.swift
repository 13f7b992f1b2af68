public import Primitives

/// Ends an auth token now: scene calls stop; mask tokens already handed out live on. One of the two
/// fields is required.
/// Errors: `token_invalid` (not one of ours).
public struct RevokeAuthToken: BusRequest {
    public typealias Reply = Revoked
    public static let method = Method(
        "token.revoke", .write, callers: [.integrator, .gateway, .service, .operator])

    public struct Revoked: Codable, Sendable {
        /// False when it was revoked or expired before.
        public let changed: Bool
        public init(changed: Bool) { self.changed = changed }
    }
    public let authToken: String?
    public let tokenId: TokenID?

    public init(authToken: String? = nil, tokenId: TokenID? = nil) {
        self.authToken = authToken
        self.tokenId = tokenId
    }

    public var comparisonBody: Self { Self(authToken: nil, tokenId: tokenId) }

    public func validate() throws(ServiceFailure) {
        try Check.required(authToken != nil || tokenId != nil, "tokenId")
    }
}
