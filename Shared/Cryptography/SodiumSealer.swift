import CSodium
import Effects

/// XChaCha20-Poly1305 with a key of the ring.
///
/// Sealed bytes: form (1, value 1) · key version (2, big-endian) · nonce (24, random) · text and
/// tag (16 more than the plain bytes). The first three bytes and the context are authenticated with
/// the text.
package struct SodiumSealer: Sealer {
    private static let form: UInt8 = 1
    private static let headCount = 3
    private static let nonceCount = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    private static let tagCount = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)
    /// Bytes that sealing adds.
    package static let overheadCount = headCount + nonceCount + tagCount

    private let keys: PurposeKeys

    package init(_ ring: KeyRing, purpose: String) { keys = PurposeKeys(ring, purpose: purpose) }

    package func seal(_ plain: [UInt8], context: String) -> [UInt8] {
        let version = keys.currentVersion
        guard let key = keys.key(version) else {
            preconditionFailure("the current key version has a key")
        }
        let head = [Self.form, UInt8(version >> 8), UInt8(version & 255)]
        let nonce = SodiumRandom().bytes(Self.nonceCount)
        let bound = head + Array(context.utf8)
        var text = [UInt8](repeating: 0, count: plain.count + Self.tagCount)
        key.withBytes {
            _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                &text, nil, plain, UInt64(plain.count), bound, UInt64(bound.count), nil, nonce, $0)
        }
        return head + nonce + text
    }

    package func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        guard sealed.count >= Self.overheadCount, sealed.first == Self.form else { return nil }
        let head = Array(sealed.prefix(Self.headCount))
        let version = head.dropFirst().reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        guard let key = keys.key(version) else { return nil }
        let nonce = Array(sealed.dropFirst(Self.headCount).prefix(Self.nonceCount))
        let text = Array(sealed.dropFirst(Self.headCount + Self.nonceCount))
        let bound = head + Array(context.utf8)
        var plain = [UInt8](repeating: 0, count: text.count - Self.tagCount)
        let status = key.withBytes {
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                &plain, nil, nil, text, UInt64(text.count), bound, UInt64(bound.count), nonce, $0)
        }
        return status == 0 ? plain : nil
    }
}
