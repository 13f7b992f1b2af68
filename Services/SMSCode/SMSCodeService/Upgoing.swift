import Effects
import Messages
import Primitives
import Storage

/// A text that a person sends from the handset, to prove the number it comes from.
///
/// Moves: waiting → received → used. A text from a sender that does not count is noted and changes
/// nothing else. After `expiresAt` nothing is taken any more, neither from the carrier nor to be used up.
struct Upgoing: StoredRow, Equatable {
    enum State: String, Codable, Sendable { case waiting, received, used }

    static let keptFor = Duration.seconds(24 * 3600)

    let id: UpgoingID
    let schemeCode: String
    let owner: String
    let purpose: String
    let runID: RunID?
    /// Digest of the text in its normal form.
    let text: String
    /// Whose open texts are counted together.
    let holder: String
    /// Digests of the sender that alone counts, and of the one that does not.
    let expected: VersionedDigest?
    let excluded: VersionedDigest?
    let createdAt: WallTime
    let expiresAt: WallTime
    private(set) var state = State.waiting
    /// Sealed.
    private(set) var sender: StoredBytes?
    private(set) var hadOtherSender = false
    private(set) var latestAt: WallTime

    init(
        id: UpgoingID, schemeCode: String, owner: String, purpose: String, runID: RunID?,
        text: String, holder: String, expected: VersionedDigest?, excluded: VersionedDigest?,
        at now: WallTime, lifetime: Duration
    ) {
        self.id = id
        self.schemeCode = schemeCode
        self.owner = owner
        self.purpose = purpose
        self.runID = runID
        self.text = text
        self.holder = holder
        self.expected = expected
        self.excluded = excluded
        createdAt = now
        expiresAt = now + lifetime
        latestAt = now
    }

    var keptUntil: WallTime { expiresAt + Self.keptFor }

    func isExpired(at now: WallTime) -> Bool { max(now, latestAt) >= expiresAt }
    func isOpen(at now: WallTime) -> Bool { state == .waiting && !isExpired(at: now) }

    /// - Returns: whether this is the text that was waited for.
    mutating func receive(counts: Bool, sender: StoredBytes, at now: WallTime) -> Bool {
        guard isOpen(at: now) else { return false }
        latestAt = max(now, latestAt)
        guard counts else {
            hadOtherSender = true
            return false
        }
        state = .received
        self.sender = sender
        return true
    }

    /// Uses it up when it was received.
    mutating func check(at now: WallTime) -> UpgoingResult {
        if state == .used { return .alreadyUsed }
        if isExpired(at: now) { return .expired }
        guard state == .received else { return hadOtherSender ? .senderMismatch : .notReceived }
        latestAt = max(now, latestAt)
        state = .used
        return .received
    }
}

/// A carrier's message that was taken, so that its repeats are known.
struct InboundSMS: StoredRow, Equatable {
    static let keptFor = Duration.seconds(24 * 3600)
    /// The same sender and text this close in carrier time are one message under two ids.
    static let sameWithin = Duration.seconds(2)

    /// Digest of the carrier's id.
    let key: String
    /// Digest of sender and text.
    let content: String
    let sentAt: WallTime
    let receivedAt: WallTime
    let matched: Bool

    var keptUntil: WallTime { receivedAt + Self.keptFor }
}

/// Up-going texts: two groups of four characters without look-alikes, 40 bits.
enum UpgoingText {
    static let length = 8
    private static let alphabet = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZ".utf8)

    /// - Parameter random: at least `length` bytes; 32 characters take five bits of each.
    static func make(random: [UInt8]) -> String {
        precondition(random.count >= length, "a text needs a byte per character")
        let characters = random.prefix(length).map { alphabet[Int($0 & 31)] }
        let text = String(decoding: characters, as: UTF8.self)
        return "\(text.prefix(4)) \(text.suffix(4))"
    }

    /// The form in which texts are compared: letters and digits only, of any script, upper case.
    static func normal(_ text: String) -> String {
        var normal = ""
        for scalar in text.unicodeScalars {
            if let digit = TypedCode.digit(scalar) {
                normal += String(digit)
            } else if let letter = TypedCode.letter(scalar) {
                normal += String(Character(letter)).uppercased()
            } else if scalar.properties.isAlphabetic {
                normal.unicodeScalars.append(scalar)
            }
        }
        return normal
    }
}
