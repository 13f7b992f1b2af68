import Effects
package import Messages
import Primitives

/// How long a run may live.
package struct RunLimits: Sendable {
    /// Since the last thing that the client did.
    package let idle: Duration
    /// Since the start.
    package let total: Duration

    package init(idle: Duration = .seconds(1_800), total: Duration = .seconds(7_200)) {
        self.idle = idle
        self.total = total
    }
}

/// Something that happened in a run, and its code for the client. Holds no number.
package struct RunNote: Sendable, Equatable {
    package let step: Int
    package var nodeId: String?
    package var kind: NodeKind?
    package let name: String
    package var resultCode: Int?
    package var reason: String?
}

/// The live code of an SMS node.
package struct SMSProgress: Codable, Sendable, Equatable {
    let challengeId: ChallengeID?
    let expiresAtMilliseconds: Int64?
    let resendAtMilliseconds: Int64
    let sendsLeft: Int
    let delivery: DeliveryState
    let codeLength: Int?
    let codeType: Int?

    init(_ sent: SentCode) {
        challengeId = sent.challengeId
        expiresAtMilliseconds = sent.expiresAtMilliseconds
        resendAtMilliseconds = sent.resendAtMilliseconds
        sendsLeft = sent.sendsLeft
        delivery = sent.delivery
        codeLength = sent.codeLength
        codeType = sent.codeType
    }
}

/// The open text of an up-going node.
package struct UpgoingProgress: Codable, Sendable, Equatable {
    let upgoingId: UpgoingID
    let receivingNumber: String
    let expiresAtMilliseconds: Int64
}
