package import Primitives

/// A digest and the version of the key that made it. A stored digest always names its version.
package struct VersionedDigest: Hashable, Codable, Sendable {
    package let version: UInt16
    package let bytes: [UInt8]

    package init(version: UInt16, bytes: [UInt8]) {
        self.version = version
        self.bytes = bytes
    }

    /// `version.hex`: fit for a row's key.
    package var text: String { "\(version).\(Hex.encode(bytes))" }

    /// nil for any other form than that of `text`.
    package init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let version = UInt16(parts[0]),
            let bytes = Hex.decode(String(parts[1]))
        else { return nil }
        self.init(version: version, bytes: bytes)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = Self(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no digest")
        }
        self = digest
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Keyed, one-way, 32 bytes. For values that are only ever compared: mask tokens, run keys,
/// guesses,
/// numbers as row keys.
package protocol KeyedDigest: Sendable {
    var currentVersion: UInt16 { get }
    /// Every version that has a key, the current one included: what a row may be filed under.
    var liveVersions: [UInt16] { get }
    /// nil when the key of that version is gone.
    func digest(_ message: [UInt8], version: UInt16) -> [UInt8]?
}

extension KeyedDigest {
    package var liveVersions: [UInt16] { [currentVersion] }

    /// `message` under every live version, the current one first: the names that a row may have.
    package func digests(_ message: [UInt8]) -> [VersionedDigest] {
        let older = liveVersions.filter { $0 != currentVersion }.compactMap { version in
            digest(message, version: version).map { VersionedDigest(version: version, bytes: $0) }
        }
        return [digest(message)] + older
    }

    package func digest(_ message: [UInt8]) -> VersionedDigest {
        guard let bytes = digest(message, version: currentVersion) else {
            preconditionFailure("the current key version has a key")
        }
        return VersionedDigest(version: currentVersion, bytes: bytes)
    }

    package func digest(_ text: String) -> VersionedDigest { digest(Array(text.utf8)) }

    /// Whether `message` is what `stored` was made from; takes the same time either way.
    package func matches(_ message: [UInt8], _ stored: VersionedDigest) -> Bool {
        guard let bytes = digest(message, version: stored.version) else { return false }
        return constantTimeEqual(bytes, stored.bytes)
    }
}

/// Authenticated encryption at rest. The sealed bytes name their key version.
package protocol Sealer: Sendable {
    /// - Parameter context: what the value is and whose (`"run.number/" + run id`); opening needs
    /// the same.
    func seal(_ plain: [UInt8], context: String) -> [UInt8]
    /// nil for a wrong context, a changed byte, or a key that is gone.
    func open(_ sealed: [UInt8], context: String) -> [UInt8]?
}

extension Sealer {
    package func seal(_ number: PhoneNumber, context: String) -> [UInt8] {
        seal(Array(number.e164.utf8), context: context)
    }

    package func openNumber(_ sealed: [UInt8], context: String) -> PhoneNumber? {
        open(sealed, context: context).flatMap {
            PhoneNumber(e164: String(decoding: $0, as: UTF8.self))
        }
    }
}

/// Ed25519 (RFC 8032).
package protocol TokenSigner: Sendable {
    /// - Returns: a 32-byte seed and its 32-byte public key.
    func generateKeyPair() -> (seed: Secret<[UInt8]>, publicKey: [UInt8])
    /// - Returns: 64 bytes; nil when the seed is not 32 bytes.
    func sign(_ message: [UInt8], seed: Secret<[UInt8]>) -> [UInt8]?
    func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool
    /// SHA-256, 32 bytes (for key thumbprints, RFC 7638).
    func sha256(_ message: [UInt8]) -> [UInt8]
}

/// HMAC for the signatures of others (RFC 2104).
package protocol MessageAuthenticator: Sendable {
    func hmacSHA256(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8]
    func hmacSHA1(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8]
}

/// A code is never stored: it is derived from its challenge, and derived again to send and to
/// compare.
package protocol CodeDerivation: Sendable {
    var currentVersion: UInt16 { get }
    /// PRF(code key of `version`, challenge id, sequence), mapped without bias onto `alphabet`.
    /// - Parameter sequence: 0 for the first code of a challenge, raised by a resend with a new
    /// code.
    /// - Returns: nil when the key of that version is gone.
    func code(
        challengeID: String, sequence: Int, length: Int, alphabet: [UInt8], version: UInt16
    ) -> Secret<String>?
}
