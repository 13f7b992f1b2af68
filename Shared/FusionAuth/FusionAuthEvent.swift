/// The nodes that a person meets. Raw values are those of the client API.
public enum FusionAuthNodeName: String, Codable, Hashable, Sendable, CaseIterable {
    case numberAuth, verifyCodeAuth, upGoingAuth, graphAuth
    /// Device risk: never waits, and so is only named in events.
    case deviceSecurity
}

/// One thing that happened. It holds no mask token, no code and no full number.
public struct FusionAuthEvent: Hashable, Sendable, CustomStringConvertible {
    /// Empty outside a scene.
    public var templateId: String
    /// Empty where no node is concerned.
    public var nodeId: String
    public var resultCode: FusionAuthResultCode
    /// A sentence for a person.
    public var resultMsg: String
    /// One-click login only: what the carrier's SDK said, or where the person clicked.
    public var innerCode: FusionAuthInnerCode?
    public var innerMsg: String?
    /// One-click login only: the carrier's own answer, as text.
    public var carrierFailedResultData: String?
    /// Of the carrier's request.
    public var innerRequestId: String?
    /// Of the gateway's answer; name it to whoever runs the service.
    public var requestId: String?
    /// Such as `isCheckBoxSelected` 0 or 1.
    public var extendData: [String: String]
    /// Why, as the service calls it in snake case: `cooldown`, `number_unchanged`.
    public var reason: String?
    /// The failure of a call, where one failed.
    public var error: FusionAuthError?

    public init(
        _ resultCode: FusionAuthResultCode, _ resultMsg: String? = nil, templateId: String = "",
        nodeId: String = "", reason: String? = nil, error: FusionAuthError? = nil
    ) {
        self.resultCode = resultCode
        self.resultMsg = resultMsg ?? error?.message ?? resultCode.sentence
        self.templateId = templateId
        self.nodeId = nodeId
        self.reason = reason ?? error?.code
        self.error = error
        requestId = error?.requestId
        extendData = [:]
    }

    public var description: String {
        "\(resultCode.value) \(resultCode.name)\(reason.map { " (\($0))" } ?? "")"
    }
}

/// What the carrier's SDK says of one-click login.
public struct FusionAuthInnerCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let success = Self(rawValue: 1_600_000)
    public static let pageShown = Self(rawValue: 1_600_001)
    public static let pageFailed = Self(rawValue: 1_600_002)
    public static let carrierInfoFailed = Self(rawValue: 1_600_004)
    public static let noSIM = Self(rawValue: 1_600_007)
    public static let noCellularData = Self(rawValue: 1_600_008)
    public static let carrierUnknown = Self(rawValue: 1_600_009)
    public static let unknownFault = Self(rawValue: 1_600_010)
    public static let tokenFetchFailed = Self(rawValue: 1_600_011)
    public static let prefetchFailed = Self(rawValue: 1_600_012)
    public static let carrierMaintenance = Self(rawValue: 1_600_013)
    public static let carrierCallsExceeded = Self(rawValue: 1_600_014)
    public static let timeout = Self(rawValue: 1_600_015)
    public static let carrierFault = Self(rawValue: 1_600_017)
    public static let carrierChanged = Self(rawValue: 1_600_021)
    public static let environmentCheckFailed = Self(rawValue: 1_600_025)
    public static let pageBusy = Self(rawValue: 1_600_026)

    public static let clickCancel = Self(rawValue: 1_700_000)
    public static let clickOtherMethod = Self(rawValue: 1_700_001)
    public static let clickLogin = Self(rawValue: 1_700_002)
    public static let clickCheckBox = Self(rawValue: 1_700_003)
    public static let clickProtocol = Self(rawValue: 1_700_004)
    public static let alertShown = Self(rawValue: 1_700_006)
    public static let alertClosed = Self(rawValue: 1_700_007)
    public static let alertAgreed = Self(rawValue: 1_700_008)
    public static let alertClickProtocol = Self(rawValue: 1_700_009)
}
