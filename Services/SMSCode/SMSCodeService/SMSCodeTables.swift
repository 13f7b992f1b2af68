import Effects
import Messages
import Primitives
package import Storage

/// Tables of fusion-smscode.
package enum SMSCodeTables: ServiceTables {
    package static var schemas: [TableSchema] {
        [
            challenges.schema, guesses.schema, guessWindows.schema, sendWindows.schema,
            upgoings.schema, inbound.schema, messages.schema, days.schema, AnswerRow.table.schema,
        ]
    }

    static let bySlot = "slot"
    static let byHolder = "holder"

    static let challenges = Table<CodeChallenge>(
        "challenge", key: \.id.text,
        indexes: [
            Index(bySlot, value: \.slot, order: \.createdAt.millisecondsSince1970),
            Index(
                byHolder, value: { $0.state == .open ? $0.holder : nil },
                order: \.createdAt.millisecondsSince1970),
        ],
        expiresAt: \.keptUntil)

    static let byChallenge = "challenge"

    static let guesses = Table<AttachedCode>(
        "guess", key: \.id.text,
        indexes: [
            Index(
                byChallenge, value: { $0.isRedeemed ? nil : $0.challenge.text },
                order: \.createdAt.millisecondsSince1970)
        ],
        expiresAt: \.keptUntil)

    static let guessWindows = Table<GuessWindow>(
        "guess_window", key: \.key, expiresAt: \.expiresAt)

    static let sendWindows = Table<SendWindow>("send_window", key: \.key, expiresAt: \.expiresAt)

    static let byText = "text"

    static let upgoings = Table<Upgoing>(
        "upgoing", key: \.id.text,
        indexes: [
            Index(byText, value: \.text, order: \.createdAt.millisecondsSince1970),
            Index(
                byHolder, value: { $0.state == .waiting ? $0.holder : nil },
                order: \.expiresAt.millisecondsSince1970),
        ],
        expiresAt: \.keptUntil)

    static let byContent = "content"

    static let inbound = Table<InboundSMS>(
        "inbound", key: \.key,
        indexes: [Index(byContent, value: \.content, order: \.sentAt.millisecondsSince1970)],
        expiresAt: \.keptUntil)

    static let due = "due"
    static let byNumber = "number"

    static let messages = Table<SMSMessage>(
        "message", key: \.id.text,
        indexes: [
            Index(
                due, value: { $0.isOpen ? "due" : nil }, order: \.dueAt.millisecondsSince1970),
            Index(byHolder, value: \.holder, order: \.createdAt.millisecondsSince1970),
            Index(byNumber, value: \.anybody, order: \.createdAt.millisecondsSince1970),
        ],
        expiresAt: \.keptUntil)

    static let byDay = "day"

    static let days = Table<SMSDayCount>(
        "sms_day", key: \.key, indexes: [Index(byDay, value: \.day, order: \.order)],
        expiresAt: \.keptUntil)
}

/// A guess that waits to be redeemed: its MAC, bound to the challenge.
struct AttachedCode: StoredRow, Equatable {
    let id: GuessID
    let challenge: ChallengeID
    let mac: VersionedDigest
    let createdAt: WallTime
    let keptUntil: WallTime
    var isRedeemed = false
}

/// What a scheme sent and accepted on one day, without any number. It is written in several parts, so
/// that numbers do not wait for each other.
struct SMSDayCount: StoredRow, Equatable {
    static let keptFor = Duration.seconds(400 * 86_400)
    static let partsCount = 4

    /// yyyyMMdd, UTC.
    let day: String
    let schemeCode: String
    let part: Int
    let keptUntil: WallTime
    var sent = 0
    var delivered = 0
    var failed = 0
    var accepted = 0
    var rejected = 0

    init(_ day: UTCDay, schemeCode: String, part: Int) {
        self.day = day.text
        self.schemeCode = schemeCode
        self.part = part
        keptUntil = day.start + Self.keptFor
    }

    var key: String { Self.key(day, schemeCode, part) }

    static func key(_ day: String, _ schemeCode: String, _ part: Int) -> String {
        "\(day)/\(part)/\(schemeCode)"
    }

    /// Which part a number's events go to; `holder` is a keyed digest, so parts fill evenly.
    static func part(of holder: String) -> Int {
        Int(holder.utf8.last ?? 0) % partsCount
    }

    /// Spreads the rows of one day over a total order, so that a reader can page through them: FNV-1a.
    var order: Int64 {
        let hash = key.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return Int64(hash >> 1)
    }
}
