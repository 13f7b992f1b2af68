public import Primitives

/// An access key of the HTTP edge, without its secret.
public struct AccessKey: Codable, Sendable, Hashable {
    public let accessKeyId: String
    public let name: String?
    public let owner: String
    /// nil: all of the owner's.
    public let schemeCodes: [String]?
    /// nil: all.
    public let actions: [String]?
    /// Serves calls without a SchemeCode.
    public let defaultSchemeCode: String?
    public let callsPerSecondMax: Int?
    public let active: Bool
    public let createdAtMilliseconds: Int64
    /// Of a temporary key.
    public let expiresAtMilliseconds: Int64?

    public init(
        accessKeyId: String,
        name: String? = nil,
        owner: String,
        schemeCodes: [String]? = nil,
        actions: [String]? = nil,
        defaultSchemeCode: String? = nil,
        callsPerSecondMax: Int? = nil,
        active: Bool,
        createdAtMilliseconds: Int64,
        expiresAtMilliseconds: Int64? = nil
    ) {
        self.accessKeyId = accessKeyId
        self.name = name
        self.owner = owner
        self.schemeCodes = schemeCodes
        self.actions = actions
        self.defaultSchemeCode = defaultSchemeCode
        self.callsPerSecondMax = callsPerSecondMax
        self.active = active
        self.createdAtMilliseconds = createdAtMilliseconds
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// Makes an access key; its secret is shown once. Errors: `scheme_not_found` (also for a scheme of
/// another owner).
public struct CreateAccessKey: BusRequest {
    public typealias Reply = CreatedAccessKey
    public static let method = Method(
        "key.create", .write, callers: [.operator])
    public let owner: String
    public let name: String?
    /// 1…100 of the owner's; nil: all of them.
    public let schemeCodes: [String]?
    /// 1…100, as the edge names them; nil: all.
    public let actions: [String]?
    /// One of `schemeCodes` where those are given.
    public let defaultSchemeCode: String?
    /// 1…100000.
    public let callsPerSecondMax: Int?

    public init(
        owner: String,
        name: String? = nil,
        schemeCodes: [String]? = nil,
        actions: [String]? = nil,
        defaultSchemeCode: String? = nil,
        callsPerSecondMax: Int? = nil
    ) {
        self.owner = owner
        self.name = name
        self.schemeCodes = schemeCodes
        self.actions = actions
        self.defaultSchemeCode = defaultSchemeCode
        self.callsPerSecondMax = callsPerSecondMax
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(owner, in: 1...64, "owner")
        try Check.length(name, in: 1...64, "name")
        try Check.range(callsPerSecondMax, in: 1...100_000, "callsPerSecondMax")
    }
}

/// A new key. The secret is in no other answer.
public struct CreatedAccessKey: Codable, Sendable {
    public let accessKeyId: String
    public let accessKeySecret: Secret<String>
    /// Of a temporary key: third part of the triple.
    public let securityToken: Secret<String>?
    public let expiresAtMilliseconds: Int64?

    public init(
        accessKeyId: String,
        accessKeySecret: Secret<String>,
        securityToken: Secret<String>? = nil,
        expiresAtMilliseconds: Int64? = nil
    ) {
        self.accessKeyId = accessKeyId
        self.accessKeySecret = accessKeySecret
        self.securityToken = securityToken
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// Lists access keys in order of their id.
public struct ListAccessKeys: BusRequest {
    public typealias Reply = AccessKeyList
    public static let method = Method(
        "key.list", .read, callers: [.operator])
    public let owner: String?
    public let after: String?
    /// 1…100; default 100.
    public let limit: Int?

    public init(owner: String? = nil, after: String? = nil, limit: Int? = nil) {
        self.owner = owner
        self.after = after
        self.limit = limit
    }

    public func validate() throws(ServiceFailure) { try Check.range(limit, in: 1...100, "limit") }
}

/// One page.
public struct AccessKeyList: Codable, Sendable, Hashable {
    public let keys: [AccessKey]
    public let next: String?

    public init(keys: [AccessKey], next: String? = nil) {
        self.keys = keys
        self.next = next
    }
}

/// Ends a key now, and every temporary key made from it. Errors: `key_not_found`.
public struct RevokeAccessKey: BusRequest {
    public typealias Reply = RevokedAccessKey
    public static let method = Method(
        "key.revoke", .write, callers: [.operator])
    public let accessKeyId: String

    public init(accessKeyId: String) {
        self.accessKeyId = accessKeyId
    }
}

/// Whether it was active before.
public struct RevokedAccessKey: Codable, Sendable, Hashable {
    public let changed: Bool

    public init(changed: Bool) {
        self.changed = changed
    }
}

/// Makes an STS triple: id, secret, security token. Errors: `key_not_found`, `key_inactive`,
/// `not_allowed` (more than the parent may).
public struct CreateTemporaryKey: BusRequest {
    public typealias Reply = CreatedAccessKey
    public static let method = Method(
        "key.create_temporary", .write, callers: [.operator])
    /// The key it stands for.
    public let accessKeyId: String
    /// 900…43200.
    public let durationSeconds: Int64
    /// A subset of the parent's.
    public let schemeCodes: [String]?
    public let actions: [String]?

    public init(
        accessKeyId: String,
        durationSeconds: Int64,
        schemeCodes: [String]? = nil,
        actions: [String]? = nil
    ) {
        self.accessKeyId = accessKeyId
        self.durationSeconds = durationSeconds
        self.schemeCodes = schemeCodes
        self.actions = actions
    }

    public func validate() throws(ServiceFailure) {
        try Check.range(
            durationSeconds, in: IssueAuthToken.durationSecondsRange, "durationSeconds")
    }
}
