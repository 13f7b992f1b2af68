public import Primitives

/// The kind of app an auth token is for.
public enum AppPlatform: String, Codable, Sendable, Hashable, CaseIterable {
    case ios, android, web
}

/// The app that a scheme admits, by platform.
public struct AppIdentity: Codable, Sendable, Hashable {
    public let iosBundleId: String?
    public let androidPackageName: String?
    /// MD5 of the signing certificate, lower-case hex without colons, 32 characters.
    public let androidPackageSign: String?
    /// `https://host[:port]`, no path.
    public let webOrigin: String?

    public init(
        iosBundleId: String? = nil,
        androidPackageName: String? = nil,
        androidPackageSign: String? = nil,
        webOrigin: String? = nil
    ) {
        self.iosBundleId = iosBundleId
        self.androidPackageName = androidPackageName
        self.androidPackageSign = androidPackageSign
        self.webOrigin = webOrigin
    }
}

/// Issues a signed permit for one app to use the client SDK.
/// Errors: `scheme_not_found`, `scheme_disabled`, `app_mismatch` (the app is not the scheme's),
/// `number_invalid`.
public struct IssueAuthToken: BusRequest {
    public typealias Reply = Issued
    public static let method = Method(
        "token.issue", .write, callers: [.integrator, .gateway, .service, .operator])

    public struct Issued: Codable, Sendable {
        /// JWS, EdDSA (RFC 8037).
        public let authToken: String
        public let tokenId: TokenID
        public let expiresAtMilliseconds: Int64

        public init(authToken: String, tokenId: TokenID, expiresAtMilliseconds: Int64) {
            self.authToken = authToken
            self.tokenId = tokenId
            self.expiresAtMilliseconds = expiresAtMilliseconds
        }
    }

    public static let durationSecondsRange: ClosedRange<Int64> = 900...43_200
    public let schemeCode: String
    public let platform: AppPlatform
    /// Required for ios.
    public let bundleId: String?
    /// Required for android.
    public let packageName: String?
    /// Required for android.
    public let packageSign: String?
    /// Required for web.
    public let origin: String?
    /// 900…43200.
    public let durationSeconds: Int64
    /// The account's number as the app server knows it, as typed; parsed by the token service.
    public let boundNumber: String?

    public init(
        schemeCode: String,
        platform: AppPlatform,
        bundleId: String? = nil,
        packageName: String? = nil,
        packageSign: String? = nil,
        origin: String? = nil,
        durationSeconds: Int64,
        boundNumber: String? = nil
    ) {
        self.schemeCode = schemeCode
        self.platform = platform
        self.bundleId = bundleId
        self.packageName = packageName
        self.packageSign = packageSign
        self.origin = origin
        self.durationSeconds = durationSeconds
        self.boundNumber = boundNumber
    }

    public func validate() throws(ServiceFailure) {
        try Check.range(durationSeconds, in: Self.durationSecondsRange, "durationSeconds")
        try Check.length(boundNumber, in: 1...64, "boundNumber")
        switch platform {
        case .ios: try Check.required(bundleId != nil, "bundleId")
        case .android:
            try Check.required(packageName != nil, "packageName")
            try Check.required(packageSign != nil, "packageSign")
        case .web: try Check.required(origin != nil, "origin")
        }
    }
}
