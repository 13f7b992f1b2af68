public import Primitives

/// The SMS provider. A refusal is an answer.
public struct SubmitSMS: BusRequest {
    public typealias Reply = SubmittedSMS
    public static let method = Method(
        "sandbox.submit_sms", .write, callers: [.service])
    /// Repeats of a reference are dropped.
    public let reference: String
    public let number: PhoneNumber
    public let text: Secret<String>

    public init(reference: String, number: PhoneNumber, text: Secret<String>) {
        self.reference = reference
        self.number = number
        self.text = text
    }
}

/// What the provider said.
public struct SubmittedSMS: Codable, Sendable, Hashable {
    public let accepted: Bool
    public let reason: String?
    public let repeated: Bool

    public init(accepted: Bool, reason: String? = nil, repeated: Bool) {
        self.accepted = accepted
        self.reason = reason
        self.repeated = repeated
    }
}

/// What arrived at the simulated phones, newest last.
public struct ReadInbox: BusRequest {
    public typealias Reply = Inbox
    public static let method = Method(
        "sandbox.inbox", .read, callers: [.operator, .service, .gateway])
    public let number: String?
    public let afterSequence: Int64?
    /// 1…100; default 20.
    public let limit: Int?
    /// Waits so long for a message; at most 1500.
    public let waitMilliseconds: Int64?

    public init(
        number: String? = nil,
        afterSequence: Int64? = nil,
        limit: Int? = nil,
        waitMilliseconds: Int64? = nil
    ) {
        self.number = number
        self.afterSequence = afterSequence
        self.limit = limit
        self.waitMilliseconds = waitMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.range(limit, in: 1...100, "limit")
        try Check.range(waitMilliseconds, in: 0...1500, "waitMilliseconds")
    }
}

/// One SMS.
public struct InboxMessage: Codable, Sendable, Hashable {
    public let sequence: Int64
    public let number: PhoneNumber
    public let text: String
    public let reference: String
    public let arrivedAtMilliseconds: Int64

    public init(
        sequence: Int64,
        number: PhoneNumber,
        text: String,
        reference: String,
        arrivedAtMilliseconds: Int64
    ) {
        self.sequence = sequence
        self.number = number
        self.text = text
        self.reference = reference
        self.arrivedAtMilliseconds = arrivedAtMilliseconds
    }
}

/// Messages of the inbox.
public struct Inbox: Codable, Sendable, Hashable {
    public let messages: [InboxMessage]

    public init(messages: [InboxMessage]) {
        self.messages = messages
    }
}

/// A person sends an SMS.
public struct SendMobileOriginated: BusRequest {
    public typealias Reply = ReceivedSMS
    public static let method = Method(
        "sandbox.send_mo", .write, callers: [.operator, .service, .gateway])
    public let sender: String
    public let receiver: String
    public let text: String
    /// Repeat one to test repeats.
    public let messageId: String?

    public init(sender: String, receiver: String, text: String, messageId: String? = nil) {
        self.sender = sender
        self.receiver = receiver
        self.text = text
        self.messageId = messageId
    }
}

/// The human check: `human-` and at least eight characters, each once, is right.
public struct CheckProof: BusRequest {
    public typealias Reply = CheckedProof
    public static let method = Method(
        "sandbox.check_proof", .write, callers: [.service])
    public let proof: String

    public init(proof: String) {
        self.proof = proof
    }
}

/// Right or not.
public struct CheckedProof: Codable, Sendable, Hashable {
    public let accepted: Bool

    public init(accepted: Bool) {
        self.accepted = accepted
    }
}

/// What an SMS to a number meets.
public enum SMSFault: String, Codable, Sendable, Hashable, CaseIterable {
    case none, delayed, refused, undelivered
    /// The provider takes it and does not answer.
    case silent
    /// Refused: the line takes no SMS.
    case incapable
    /// Refused: no subscriber of this operator.
    case foreign
}

/// Makes SMS to a number fail on purpose.
public struct PutFault: BusRequest {
    public typealias Reply = EmptyReply
    public static let method = Method(
        "sandbox.fault", .write, callers: [.operator, .service, .gateway])
    /// nil: every number.
    public let number: String?
    public let fault: SMSFault
    public let delayMilliseconds: Int64?

    public init(number: String? = nil, fault: SMSFault, delayMilliseconds: Int64? = nil) {
        self.number = number
        self.fault = fault
        self.delayMilliseconds = delayMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.range(delayMilliseconds, in: 0...600_000, "delayMilliseconds")
    }
}
