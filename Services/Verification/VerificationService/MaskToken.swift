import Effects
import Primitives

/// 256 random bits as text: the version of the key that digests it, a point, base64url. Whoever
/// holds one may exchange it; the store knows only its digest.
struct MaskToken: Sendable {
    static let randomBytesCount = 32
    /// Digits of a key version, the point, 43 characters.
    static let textBytesMax = 5 + 1 + 43

    let text: Secret<String>
    /// Of the row.
    let key: String

    /// A new one.
    init(random: [UInt8], digest: any KeyedDigest) {
        precondition(random.count == Self.randomBytesCount, "a mask token has 256 bits")
        let made = digest.digest(random)
        text = Secret("\(made.version).\(Base64URL.encode(random))")
        key = Self.key(made)
    }

    /// One that came back; nil for a text that cannot be ours, or whose key is gone. One token has
    /// one text.
    init?(text: String, digest: any KeyedDigest) {
        guard text.utf8.count <= Self.textBytesMax, let point = text.firstIndex(of: ".") else {
            return nil
        }
        let head = String(text[..<point])
        guard let version = UInt16(head), String(version) == head,
            let random = Base64URL.decode(String(text[text.index(after: point)...])),
            random.count == Self.randomBytesCount,
            let bytes = digest.digest(random, version: version)
        else { return nil }
        self.text = Secret(text)
        key = Self.key(VersionedDigest(version: version, bytes: bytes))
    }

    private static func key(_ digest: VersionedDigest) -> String { "mask/\(digest.text)" }
}

/// A carrier token of a direct call, which itself is what is used once.
struct DirectToken: Sendable {
    /// Of the row, under the current key version.
    let key: String
    /// Every key that the row may have.
    let keys: [String]
    /// Made of the token, so that every repeat has the same reference at the carrier.
    let id: Identifier<VerificationKind>

    init(_ carrierToken: Secret<String>, digest: any KeyedDigest) {
        let token = Array(carrierToken.reveal().utf8)
        let name = Array("direct.key/".utf8) + token
        key = "direct/\(digest.digest(name).text)"
        keys = digest.digests(name).map { "direct/\($0.text)" }
        id = Identifier(random: digest.digest(Array("direct.id/".utf8) + token).bytes)
    }
}
