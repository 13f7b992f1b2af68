public import Primitives

/// Keeps a guess as a keyed MAC and counts nothing. Errors: `challenge_not_found`, `too_many`
/// (unredeemed guesses).
public struct AttachGuess: BusRequest {
    public typealias Reply = AttachedGuess
    public static let method = Method(
        "smscode.internal.attach", .write, callers: [.service])
    public let challengeId: ChallengeID
    public let runId: RunID
    /// As typed.
    public let code: String

    public init(challengeId: ChallengeID, runId: RunID, code: String) {
        self.challengeId = challengeId
        self.runId = runId
        self.code = code
    }

    public func validate() throws(ServiceFailure) { try Check.length(code, in: 1...64, "code") }
}

/// The kept guess.
public struct AttachedGuess: Codable, Sendable, Hashable {
    public let guessId: GuessID
    /// Of the challenge.
    public let expiresAtMilliseconds: Int64

    public init(guessId: GuessID, expiresAtMilliseconds: Int64) {
        self.guessId = guessId
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// Counts, compares and uses up in one transaction. The request key is the verification id; another
/// key gets `already_used`. Errors: `guess_not_found`.
public struct RedeemGuess: BusRequest {
    public typealias Reply = RedeemedGuess
    public static let method = Method(
        "smscode.internal.redeem", .write, callers: [.service])
    public let guessId: GuessID

    public init(guessId: GuessID) {
        self.guessId = guessId
    }
}

/// The outcome, and what the challenge is bound to.
public struct RedeemedGuess: Codable, Sendable, Hashable {
    public let result: CodeResult
    /// The challenge's.
    public let number: PhoneNumber
    public let schemeCode: String
    public let purpose: String
    public let runId: RunID?
    public let challengeId: ChallengeID
    public let attemptsLeft: Int?
    public let expiresAtMilliseconds: Int64

    public init(
        result: CodeResult,
        number: PhoneNumber,
        schemeCode: String,
        purpose: String,
        runId: RunID? = nil,
        challengeId: ChallengeID,
        attemptsLeft: Int? = nil,
        expiresAtMilliseconds: Int64
    ) {
        self.result = result
        self.number = number
        self.schemeCode = schemeCode
        self.purpose = purpose
        self.runId = runId
        self.challengeId = challengeId
        self.attemptsLeft = attemptsLeft
        self.expiresAtMilliseconds = expiresAtMilliseconds
    }
}

/// Takes a mobile-originated SMS, durable before the answer. Repeats (same id; or same sender, text
/// and carrier time within seconds) are taken once.
public struct ReceiveSMS: BusRequest {
    public typealias Reply = ReceivedSMS
    public static let method = Method(
        "smscode.internal.inbound", .write, callers: [.service, .gateway])
    /// The carrier's or gateway's id of this message.
    public let messageId: String
    public let sender: String
    public let receiver: String
    public let text: String
    /// Carrier time.
    public let sentAtMilliseconds: Int64?

    public init(
        messageId: String,
        sender: String,
        receiver: String,
        text: String,
        sentAtMilliseconds: Int64? = nil
    ) {
        self.messageId = messageId
        self.sender = sender
        self.receiver = receiver
        self.text = text
        self.sentAtMilliseconds = sentAtMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(messageId, in: 1...128, "messageId")
        try Check.length(text, in: 0...2000, "text")
    }
}

/// What became of it.
public struct ReceivedSMS: Codable, Sendable, Hashable {
    /// An open text waited for it.
    public let matched: Bool
    public let repeated: Bool

    public init(matched: Bool, repeated: Bool) {
        self.matched = matched
        self.repeated = repeated
    }
}

/// Takes a delivery receipt. Repeats and unknown references change nothing.
public struct ReceiveReceipt: BusRequest {
    public typealias Reply = EmptyReply
    public static let method = Method(
        "smscode.internal.receipt", .write, callers: [.service, .gateway])
    /// The reference that the provider was given.
    public let reference: String
    public let delivered: Bool
    public let reason: String?
    public let atMilliseconds: Int64?

    public init(
        reference: String,
        delivered: Bool,
        reason: String? = nil,
        atMilliseconds: Int64? = nil
    ) {
        self.reference = reference
        self.delivered = delivered
        self.reason = reason
        self.atMilliseconds = atMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(reference, in: 1...128, "reference")
        try Check.length(reason, in: 0...128, "reason")
    }
}

/// A notice without a code.
public enum NoticeKind: String, Codable, Sendable, Hashable, CaseIterable {
    case numberChanged = "number_changed"
}

/// Sends a notice without any code, outside the limits of codes.
public struct NotifyNumber: BusRequest {
    public typealias Reply = NotifiedNumber
    public static let method = Method(
        "smscode.internal.notify", .write, callers: [.service])
    public let schemeCode: String
    public let number: PhoneNumber
    public let kind: NoticeKind
    public let locale: String?

    public init(schemeCode: String, number: PhoneNumber, kind: NoticeKind, locale: String? = nil) {
        self.schemeCode = schemeCode
        self.number = number
        self.kind = kind
        self.locale = locale
    }
}

/// The notice.
public struct NotifiedNumber: Codable, Sendable, Hashable {
    public let messageId: MessageID

    public init(messageId: MessageID) {
        self.messageId = messageId
    }
}
