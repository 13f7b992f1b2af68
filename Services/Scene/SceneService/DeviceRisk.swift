/// What a device-risk node found.
package enum DeviceVerdict: Sendable, Equatable {
    case safe
    case frequency
    case risk
    /// The client gave no device id.
    case unknownDevice

    var isSafe: Bool { self == .safe }

    package var resultCode: Int {
        switch self {
        case .safe: 700_001
        case .frequency: 700_002
        case .risk: 700_003
        case .unknownDevice: 700_004
        }
    }

    var reason: String? {
        switch self {
        case .safe: nil
        case .frequency: "device_frequency"
        case .risk: "device_risk"
        case .unknownDevice: "device_unknown"
        }
    }
}

/// An outside opinion on devices and numbers: 0…100, higher is riskier; nil for none. Asked outside
/// every transaction; a scorer that cannot answer in time says nil.
package protocol RiskScorer: Sendable {
    /// Whether asking makes sense at all.
    var isOn: Bool { get }
    func score(deviceId: String, schemeCode: String, address: String?) async -> Int?
    func score(number: String, schemeCode: String) async -> Int?
}

/// The default: nobody is asked, and the windows decide alone.
package struct NoRiskScorer: RiskScorer {
    package let isOn = false
    package init() {}
    package func score(deviceId: String, schemeCode: String, address: String?) async -> Int? { nil }
    package func score(number: String, schemeCode: String) async -> Int? { nil }
}
