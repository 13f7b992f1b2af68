/// What an identifier names; its prefix makes a mixed-up id visible and refusable.
public protocol IdentifierKind: Sendable {
    static var prefix: String { get }
}

/// An opaque id: the kind's prefix, `_`, then 26 characters of base32 (128 random bits).
public struct Identifier<Kind: IdentifierKind>: Hashable, Sendable, CustomStringConvertible {
    public static var randomBytesCount: Int { 16 }
    public let text: String

    /// nil unless `text` has exactly the form described above.
    public init?(_ text: String) {
        let head = Kind.prefix + "_"
        guard text.hasPrefix(head) else { return nil }
        let body = text.utf8.dropFirst(head.utf8.count)
        guard body.count == 26, body.allSatisfy({ Self.alphabet.contains($0) }) else { return nil }
        self.text = text
    }

    /// - Parameter random: sixteen bytes; longer input is cut, shorter input is our caller's
    /// mistake.
    public init(random: [UInt8]) {
        precondition(random.count >= Self.randomBytesCount, "an id needs sixteen random bytes")
        var characters: [UInt8] = []
        var pending: UInt32 = 0
        var bits = 0
        for byte in random.prefix(Self.randomBytesCount) {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                characters.append(Self.alphabet[Int(pending >> UInt32(bits) & 31)])
            }
            pending &= (1 << UInt32(bits)) - 1
        }
        characters.append(Self.alphabet[Int(pending << UInt32(5 - bits) & 31)])
        text = Kind.prefix + "_" + String(decoding: characters, as: UTF8.self)
    }

    public var description: String { text }

    private static var alphabet: [UInt8] { identifierAlphabet }
}

private let identifierAlphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

extension Identifier: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let identifier = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not an id that begins with \(Kind.prefix)_")
        }
        self = identifier
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

public enum RunKind: IdentifierKind { public static let prefix = "run" }
public enum ChallengeKind: IdentifierKind { public static let prefix = "chl" }
public enum GuessKind: IdentifierKind { public static let prefix = "gss" }
public enum UpgoingKind: IdentifierKind { public static let prefix = "upg" }
public enum VerificationKind: IdentifierKind { public static let prefix = "vrf" }
public enum MessageKind: IdentifierKind { public static let prefix = "msg" }
public enum TokenKind: IdentifierKind { public static let prefix = "tok" }
public enum SIMKind: IdentifierKind { public static let prefix = "sim" }

public typealias RunID = Identifier<RunKind>
public typealias ChallengeID = Identifier<ChallengeKind>
public typealias GuessID = Identifier<GuessKind>
public typealias UpgoingID = Identifier<UpgoingKind>
public typealias VerificationID = Identifier<VerificationKind>
public typealias MessageID = Identifier<MessageKind>
/// The `jti` of an auth token.
public typealias TokenID = Identifier<TokenKind>
public typealias SIMID = Identifier<SIMKind>
