import Effects
import Messages
import Primitives
import Storage

/// A long-lived access key.
///
/// Moves: active → revoked. Its secret never changes.
struct APIKey: StoredRow, Equatable {
    static let idPrefix = "LTAI5t"
    static let idRandomCount = 18
    static let secretCount = 30
    /// So that a list still shows it.
    static let keptAfterEnd = Duration.seconds(30 * 24 * 3600)

    let id: String
    let name: String?
    let owner: String
    /// nil: all of the owner's.
    let schemeCodes: [String]?
    /// nil: all.
    let actions: [String]?
    let defaultSchemeCode: String?
    let callsPerSecondMax: Int?
    /// Sealed.
    let secret: StoredBytes
    let createdAt: WallTime
    private(set) var revokedAt: WallTime?

    init(
        id: String, request: CreateAccessKey, secret: StoredBytes, createdAt: WallTime
    ) {
        self.id = id
        name = request.name
        owner = request.owner
        schemeCodes = request.schemeCodes
        actions = request.actions
        defaultSchemeCode = request.defaultSchemeCode
        callsPerSecondMax = request.callsPerSecondMax
        self.secret = secret
        self.createdAt = createdAt
    }

    var isActive: Bool { revokedAt == nil }

    /// Whether it was active before.
    mutating func revoke(now: WallTime) -> Bool {
        guard isActive else { return false }
        revokedAt = now
        return true
    }

    var accessKey: AccessKey {
        AccessKey(
            accessKeyId: id, name: name, owner: owner, schemeCodes: schemeCodes, actions: actions,
            defaultSchemeCode: defaultSchemeCode, callsPerSecondMax: callsPerSecondMax,
            active: isActive, createdAtMilliseconds: createdAt.millisecondsSince1970)
    }

    var grant: KeyGrant {
        KeyGrant(
            keyID: id, owner: owner, schemeCodes: schemeCodes, actions: actions,
            defaultSchemeCode: defaultSchemeCode, callsPerSecondMax: callsPerSecondMax)
    }

    static func context(_ id: String) -> String { "api_key.secret/\(id)" }
}

/// A key that stands for another one for a while. It ends with its parent.
struct TemporaryKey: StoredRow, Equatable {
    static let idPrefix = "STS."
    static let idRandomCount = 24
    static let securityTokenBytesCount = 32
    /// So that a late call hears of the end, not of an unknown key.
    static let keptAfterEnd = Duration.seconds(3600)

    let id: String
    let parentID: String
    /// nil: the parent's.
    let schemeCodes: [String]?
    let actions: [String]?
    /// Sealed.
    let secret: StoredBytes
    let securityToken: VersionedDigest
    let createdAt: WallTime
    let expiresAt: WallTime

    func grant(of parent: APIKey) -> KeyGrant {
        let codes = schemeCodes ?? parent.schemeCodes
        let isDefaultCovered = parent.defaultSchemeCode.map { codes?.contains($0) ?? true } ?? false
        return KeyGrant(
            keyID: parent.id, owner: parent.owner, schemeCodes: codes,
            actions: actions ?? parent.actions,
            defaultSchemeCode: isDefaultCovered ? parent.defaultSchemeCode : nil,
            callsPerSecondMax: parent.callsPerSecondMax)
    }

    static func context(_ id: String) -> String { "temporary_key.secret/\(id)" }
}

/// What a key may do; a temporary key counts its calls with its parent's.
struct KeyGrant: Sendable, Equatable {
    let keyID: String
    let owner: String
    let schemeCodes: [String]?
    let actions: [String]?
    let defaultSchemeCode: String?
    let callsPerSecondMax: Int?

    func covers(_ action: String) -> Bool { actions?.contains(action) ?? true }

    var authenticated: AuthenticatedKey {
        AuthenticatedKey(
            owner: owner, schemeCodes: schemeCodes, defaultSchemeCode: defaultSchemeCode)
    }
}

/// Calls of one key in one second.
///
/// The row decides with the later of its own second and now, so that a clock that lags does not
/// open the second again. A row that lies further ahead than clocks may differ was written by a
/// clock that has since been set back; it begins anew.
struct CallWindow: StoredRow, Equatable {
    static let clockSkewMax = Duration.seconds(5)
    static let keptFor = Duration.seconds(60)
    private static let span = Duration.seconds(1)

    enum Decision: Equatable {
        case counted
        case usedUp(retryAfter: Duration)
    }

    let keyID: String
    private(set) var startedAt: WallTime
    private(set) var count: Int

    init(keyID: String, now: WallTime) {
        self.keyID = keyID
        startedAt = Self.second(of: now)
        count = 0
    }

    mutating func count(limit: Int, now: WallTime) -> Decision {
        let second = Self.second(of: now)
        if second > startedAt || startedAt > second + Self.clockSkewMax {
            startedAt = second
            count = 0
        }
        guard count < limit else { return .usedUp(retryAfter: startedAt + Self.span - now) }
        count += 1
        return .counted
    }

    private static func second(of instant: WallTime) -> WallTime {
        WallTime(millisecondsSince1970: instant.millisecondsSince1970 / 1000 * 1000)
    }
}

/// A nonce that was used, and by which request: a delivery of the same request gets its answer
/// again.
struct NonceRow: StoredRow, Equatable {
    /// Twice the window of the timestamp: a call is acceptable from 15 minutes before its timestamp
    /// to 15 minutes after it.
    static let keptFor = Duration.seconds(30 * 60)

    let key: String
    let request: String
    let expiresAt: WallTime
}
