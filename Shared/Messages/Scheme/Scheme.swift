public import Primitives

/// A registered app of an integrator: its identity and its policy.
public struct Scheme: Codable, Sendable, Hashable {
    /// `FA` and 14 digits.
    public let schemeCode: String
    /// Raised by every update.
    public let version: Int64
    public let name: String
    /// Name of the principal that may use it.
    public let owner: String
    public let app: AppIdentity
    public let policy: SchemePolicy
    /// Judged live, whatever version a run keeps.
    public let disabled: Bool
    public let createdAtMilliseconds: Int64
    public let updatedAtMilliseconds: Int64
    /// What is allowed but may surprise, such as a wording that goes out in several parts; in the
    /// answers of create and update only.
    public let warnings: [String]?

    public init(
        schemeCode: String,
        version: Int64,
        name: String,
        owner: String,
        app: AppIdentity,
        policy: SchemePolicy,
        disabled: Bool,
        createdAtMilliseconds: Int64,
        updatedAtMilliseconds: Int64,
        warnings: [String]? = nil
    ) {
        self.schemeCode = schemeCode
        self.version = version
        self.name = name
        self.owner = owner
        self.app = app
        self.policy = policy
        self.disabled = disabled
        self.createdAtMilliseconds = createdAtMilliseconds
        self.updatedAtMilliseconds = updatedAtMilliseconds
        self.warnings = warnings
    }
}

/// Registers a scheme. Errors: `policy_refused` (with the arithmetic or the lint finding),
/// `invalid_parameters` (an app that cannot be one), `not_allowed` (another owner), `too_many`
/// (schemes of this owner), `conflict`.
public struct CreateScheme: BusRequest {
    public typealias Reply = Scheme
    public static let method = Method(
        "scheme.create", .write, callers: [.operator, .gateway, .integrator])
    /// 1…64 bytes.
    public let name: String
    /// Operators only; else the caller.
    public let owner: String?
    public let app: AppIdentity
    public let policy: SchemePolicy?

    public init(name: String, owner: String? = nil, app: AppIdentity, policy: SchemePolicy? = nil) {
        self.name = name
        self.owner = owner
        self.app = app
        self.policy = policy
    }

    public func validate() throws(ServiceFailure) { try Check.length(name, in: 1...64, "name") }
}

/// Reads a scheme, or an earlier version of its policy (for 30 days after it was superseded).
/// Errors: `scheme_not_found` (also for another owner's; field `version` for a version).
public struct GetScheme: BusRequest {
    public typealias Reply = Scheme
    public static let method = Method(
        "scheme.get", .read, callers: [.operator, .gateway, .integrator, .service])
    public let schemeCode: String
    /// nil: the newest. `disabled` is always the present state.
    public let version: Int64?

    public init(schemeCode: String, version: Int64? = nil) {
        self.schemeCode = schemeCode
        self.version = version
    }
}

/// Lists schemes in order of their code.
public struct ListSchemes: BusRequest {
    public typealias Reply = SchemeList
    public static let method = Method(
        "scheme.list", .read, callers: [.operator, .gateway, .integrator])
    /// Operators only; else the caller.
    public let owner: String?
    /// The last code of the page before.
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
public struct SchemeList: Codable, Sendable, Hashable {
    public let schemes: [Scheme]
    /// Pass as `after`; absent on the last page.
    public let next: String?

    public init(schemes: [Scheme], next: String? = nil) {
        self.schemes = schemes
        self.next = next
    }
}

/// Makes a new version, unless nothing would change. Errors: `version_conflict`, `policy_refused`,
/// `invalid_parameters`, `scheme_not_found` (also for another owner's).
public struct UpdateScheme: BusRequest {
    public typealias Reply = Scheme
    public static let method = Method(
        "scheme.update", .write, callers: [.operator, .gateway, .integrator])
    public let schemeCode: String
    public let expectedVersion: Int64?
    public let name: String?
    public let app: AppIdentity?
    /// Replaces the whole policy.
    public let policy: SchemePolicy?

    public init(
        schemeCode: String,
        expectedVersion: Int64? = nil,
        name: String? = nil,
        app: AppIdentity? = nil,
        policy: SchemePolicy? = nil
    ) {
        self.schemeCode = schemeCode
        self.expectedVersion = expectedVersion
        self.name = name
        self.app = app
        self.policy = policy
    }

    public func validate() throws(ServiceFailure) { try Check.length(name, in: 1...64, "name") }
}

/// Switches a scheme off at once, or on again. Errors: `scheme_not_found` (also for another owner's).
public struct DisableScheme: BusRequest {
    public typealias Reply = Scheme
    public static let method = Method(
        "scheme.disable", .write, callers: [.operator, .gateway, .integrator])
    public let schemeCode: String
    /// Default true; false enables again.
    public let disabled: Bool?

    public init(schemeCode: String, disabled: Bool? = nil) {
        self.schemeCode = schemeCode
        self.disabled = disabled
    }
}
