/// The SDK of the phone's carrier, for one-click number authentication.
public protocol CarrierTokenProvider: Sendable {
    /// Looks whether it can be done here, before a page is shown: SIM, cellular data, carrier.
    func prepare() async throws(CarrierFailure) -> CarrierOffer
    /// Fetches the token that proves the SIM's number, after the person agreed.
    func token() async throws(CarrierFailure) -> CarrierToken
}

/// What the page of number authentication shows of the carrier.
public struct CarrierOffer: Hashable, Sendable {
    /// `138****8000`
    public var maskedNumber: String?
    public var carrierName: String?
    /// The carrier's own agreement, which the person has to accept too.
    public var agreement: FusionAuthAgreement?

    public init(
        maskedNumber: String? = nil, carrierName: String? = nil,
        agreement: FusionAuthAgreement? = nil
    ) {
        self.maskedNumber = maskedNumber
        self.carrierName = carrierName
        self.agreement = agreement
    }
}

/// Prints without the token.
public struct CarrierToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let token: String
    /// Of the carrier's answer.
    public let requestId: String?

    public init(_ token: String, requestId: String? = nil) {
        self.token = token
        self.requestId = requestId
    }

    public var description: String { "<secret>" }
    public var customMirror: Mirror { Mirror(reflecting: "<secret>") }
}

public struct CarrierFailure: Error, Hashable, Sendable {
    public let innerCode: FusionAuthInnerCode
    public let innerMsg: String
    /// The carrier's answer as text.
    public let resultData: String?
    public let requestId: String?

    public init(
        _ innerCode: FusionAuthInnerCode, _ innerMsg: String, resultData: String? = nil,
        requestId: String? = nil
    ) {
        self.innerCode = innerCode
        self.innerMsg = innerMsg
        self.resultData = resultData
        self.requestId = requestId
    }

    static let timeout = Self(.timeout, "the carrier did not answer in time")
}

/// Opens the handset's SMS composer for up-going SMS.
public protocol MessageComposer: Sendable {
    func compose(text: String, to number: String) async -> ComposeResult
}

public enum ComposeResult: Hashable, Sendable { case sent, cancelled, failed }
