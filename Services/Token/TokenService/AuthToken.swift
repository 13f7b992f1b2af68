import Messages
import Primitives
import Storage

/// An issued auth token, by its `jti`; the token itself is nowhere stored.
///
/// Moves: issued → revoked. Expiry is judged, not stored.
struct AuthToken: StoredRow, Equatable {
    /// Until then a late question still gets `expired`, not `unknown`, whatever the clocks say.
    static let keptAfterEnd = Duration.seconds(3600)

    enum Revocation: Equatable { case revoked, unchanged }

    let id: TokenID
    let schemeCode: String
    /// Of the scheme, which never changes hands.
    let owner: String
    let platform: AppPlatform
    let app: String
    let keyID: String
    let issuedAt: WallTime
    let expiresAt: WallTime
    /// Sealed.
    let boundNumber: StoredBytes?
    private(set) var revokedAt: WallTime?

    init(
        id: TokenID, schemeCode: String, owner: String, platform: AppPlatform, app: String,
        keyID: String, issuedAt: WallTime, expiresAt: WallTime, boundNumber: StoredBytes?
    ) {
        self.id = id
        self.schemeCode = schemeCode
        self.owner = owner
        self.platform = platform
        self.app = app
        self.keyID = keyID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.boundNumber = boundNumber
    }

    mutating func revoke(now: WallTime) -> Revocation {
        guard revokedAt == nil, now < expiresAt else { return .unchanged }
        revokedAt = now
        return .revoked
    }

    /// nil: active.
    func inactivity(of scheme: SchemeRecord?, now: WallTime) -> TokenInactivity? {
        if revokedAt != nil { return .revoked }
        if now >= expiresAt { return .expired }
        guard let scheme, !scheme.disabled else { return .schemeDisabled }
        return nil
    }

    /// Of a sealed bound number.
    static func context(_ id: TokenID) -> String { "auth_token.number/\(id.text)" }
}
