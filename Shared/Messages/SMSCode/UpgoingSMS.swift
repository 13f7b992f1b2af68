public import Primitives

/// Makes a text that the person sends from the handset. Errors: `scheme_not_found`,
/// `scheme_disabled`, `number_invalid`, `too_many`, `provider_unavailable` (no receiving number).
public struct OpenUpgoing: BusRequest {
    public typealias Reply = OpenedUpgoing
    public static let method = Method(
        "upgoing.open", .write, callers: [.integrator, .gateway, .service])
    public let schemeCode: String
    public let purpose: String
    public let runId: RunID?
    /// Only this sender counts.
    public let number: String?
    /// This sender does not count.
    public let excludedNumber: String?
    /// 60…600; default 600.
    public let lifetimeSeconds: Int64?

    public init(
        schemeCode: String,
        purpose: String,
        runId: RunID? = nil,
        number: String? = nil,
        excludedNumber: String? = nil,
        lifetimeSeconds: Int64? = nil
    ) {
        self.schemeCode = schemeCode
        self.purpose = purpose
        self.runId = runId
        self.number = number
        self.excludedNumber = excludedNumber
        self.lifetimeSeconds = lifetimeSeconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(purpose, in: 1...64, "purpose")
        try Check.range(lifetimeSeconds, in: 60...600, "lifetimeSeconds")
    }
}

/// What to send, and where.
public struct OpenedUpgoing: Codable, Sendable, Hashable {
    public let upgoingId: UpgoingID
    public let text: String
    public let receivingNumber: String
    public let expiresAtMilliseconds: Int64

    public init(
        upgoingId: UpgoingID,
        text: String,
        receivingNumber: String,
        expiresAtMilliseconds: Int64
    ) {
        self.upgoingId = upgoingId
        self.text = text
        self.receivingNumber = receivingNumber
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// Whether the text arrived.
public enum UpgoingResult: String, Codable, Sendable, Hashable, CaseIterable {
    case received
    case notReceived = "not_received"
    case expired
    /// It arrived from a sender that does not count.
    case senderMismatch = "sender_mismatch"
    case alreadyUsed = "already_used"
}

/// Asks whether the text arrived. `received` uses it up under the request key; asking again with
/// that key repeats the answer. Not yet arrived is not final. Errors: `upgoing_not_found`,
/// `not_allowed`, `belongs_to_run`.
public struct CheckUpgoing: BusRequest {
    public typealias Reply = CheckedUpgoing
    public static let method = Method(
        "upgoing.check", .write, callers: [.integrator, .gateway, .service])
    public let upgoingId: UpgoingID

    public init(upgoingId: UpgoingID) {
        self.upgoingId = upgoingId
    }
}

/// The outcome.
public struct CheckedUpgoing: Codable, Sendable, Hashable {
    public let result: UpgoingResult
    /// The sender, when received.
    public let number: PhoneNumber?
    public let schemeCode: String
    public let purpose: String
    public let runId: RunID?

    public init(
        result: UpgoingResult,
        number: PhoneNumber? = nil,
        schemeCode: String,
        purpose: String,
        runId: RunID? = nil
    ) {
        self.result = result
        self.number = number
        self.schemeCode = schemeCode
        self.purpose = purpose
        self.runId = runId
    }
}
