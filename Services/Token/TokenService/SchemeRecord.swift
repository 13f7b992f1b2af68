import Messages
import Primitives
import Storage

/// A scheme without its policy: what every token and introspection needs, small to read.
///
/// `version` goes up by one with every update, never down. `disabled` belongs to no version.
/// Invariant: the row of `version` exists among the versions, and does not expire.
struct SchemeRecord: StoredRow, Equatable {
    static let codePrefix = "FA"
    static let codeDigitsCount = 14
    static let digits = Array("0123456789".utf8)

    let code: String
    let owner: String
    let createdAt: WallTime
    private(set) var version: Int64
    private(set) var name: String
    private(set) var app: AppIdentity
    /// For numbers typed without country code.
    private(set) var defaultRegion: String?
    /// Of the present policy; keeps a page of schemes within a message.
    private(set) var policyBytesCount: Int
    private(set) var updatedAt: WallTime
    private(set) var disabled: Bool

    var listOrder: Int64 { ListOrder.of(schemeCode: code) }

    init(code: String, owner: String, content: SchemeContent, now: WallTime) {
        self.code = code
        self.owner = owner
        createdAt = now
        version = 1
        name = content.name
        app = content.app
        defaultRegion = content.policy.defaultRegion
        policyBytesCount = content.policyBytesCount
        updatedAt = now
        disabled = false
    }

    mutating func update(to content: SchemeContent, now: WallTime) {
        version += 1
        name = content.name
        app = content.app
        defaultRegion = content.policy.defaultRegion
        policyBytesCount = content.policyBytesCount
        updatedAt = max(now, updatedAt)
    }

    mutating func setDisabled(_ disabled: Bool, now: WallTime) {
        guard self.disabled != disabled else { return }
        self.disabled = disabled
        updatedAt = max(now, updatedAt)
    }

    func versionRow(_ content: SchemeContent) -> SchemeVersionRow {
        SchemeVersionRow(
            key: SchemeVersionRow.key(code, version), name: content.name, app: content.app,
            policy: content.policy, updatedAt: updatedAt, expiresAt: nil)
    }

    /// - Parameter row: of the present version or an earlier one.
    func scheme(
        _ row: SchemeVersionRow, version: Int64, warnings: [String] = []
    ) -> Scheme {
        Scheme(
            schemeCode: code, version: version, name: row.name, owner: owner, app: row.app,
            policy: row.policy, disabled: disabled,
            createdAtMilliseconds: createdAt.millisecondsSince1970,
            updatedAtMilliseconds: (version == self.version ? updatedAt : row.updatedAt)
                .millisecondsSince1970, warnings: warnings.isEmpty ? nil : warnings)
    }

    /// What an app says of itself against what the scheme admits.
    /// - Returns: the app's name for the token, or the field that does not fit.
    func admits(_ request: IssueAuthToken) -> Admission {
        switch request.platform {
        case .ios:
            guard let bundleID = app.iosBundleId, bundleID == request.bundleId else {
                return .refused(field: "bundleId")
            }
            return .admitted(app: bundleID)
        case .android:
            guard let packageName = app.androidPackageName, packageName == request.packageName
            else { return .refused(field: "packageName") }
            guard let sign = app.androidPackageSign,
                sign == AppIdentity.normalSign(request.packageSign ?? "")
            else { return .refused(field: "packageSign") }
            return .admitted(app: packageName)
        case .web:
            guard let origin = app.webOrigin, origin == request.origin else {
                return .refused(field: "origin")
            }
            return .admitted(app: origin)
        }
    }

    enum Admission: Equatable {
        case admitted(app: String)
        case refused(field: String)
    }
}

/// What an update may change.
struct SchemeContent: Sendable, Equatable {
    let name: String
    let app: AppIdentity
    let policy: SchemePolicy
    let policyBytesCount: Int
    let warnings: [String]
}

/// One version of a scheme. Superseded versions stay while runs may name them, and long after.
struct SchemeVersionRow: StoredRow, Equatable {
    /// After the version was superseded; a run lasts 2 hours at most.
    static let keptFor = Duration.seconds(30 * 24 * 3600)

    let key: String
    let name: String
    let app: AppIdentity
    let policy: SchemePolicy
    let updatedAt: WallTime
    let expiresAt: WallTime?

    static func key(_ code: String, _ version: Int64) -> String { "\(code)/\(version)" }

    func superseded(at now: WallTime) -> Self {
        Self(
            key: key, name: name, app: app, policy: policy, updatedAt: updatedAt,
            expiresAt: now + Self.keptFor)
    }
}

extension AppIdentity {
    /// Fingerprints are written with colons and in capitals too.
    static func normalSign(_ text: String) -> String {
        text.lowercased().replacing(":", with: "")
    }

    var normalised: Self {
        Self(
            iosBundleId: iosBundleId, androidPackageName: androidPackageName,
            androidPackageSign: androidPackageSign.map(Self.normalSign), webOrigin: webOrigin)
    }
}
