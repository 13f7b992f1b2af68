import CSodium
import Effects
package import Primitives

/// Ed25519 (RFC 8032) and SHA-256, through libsodium.
///
/// Signing expands the seed first, which costs as much as the signature; the last expanded key is
/// kept (guarded), since a service signs with one current key.
package final class SodiumSigner: TokenSigner {
    package static let seedCount = Int(crypto_sign_SEEDBYTES)
    package static let publicKeyCount = Int(crypto_sign_PUBLICKEYBYTES)
    package static let signatureCount = Int(crypto_sign_BYTES)

    private let lastKey = Lock<ProtectedBytes?>(nil)

    package init() { Sodium.start() }

    package func generateKeyPair() -> (seed: Secret<[UInt8]>, publicKey: [UInt8]) {
        let seed = SodiumRandom().bytes(Self.seedCount)
        var publicKey = [UInt8](repeating: 0, count: Self.publicKeyCount)
        var secretKey = [UInt8](repeating: 0, count: Int(crypto_sign_SECRETKEYBYTES))
        _ = crypto_sign_seed_keypair(&publicKey, &secretKey, seed)
        secretKey.wipe()
        return (Secret(seed), publicKey)
    }

    package func sign(_ message: [UInt8], seed: Secret<[UInt8]>) -> [UInt8]? {
        let seed = seed.reveal()
        guard seed.count == Self.seedCount else { return nil }
        let key = expanded(seed)
        var signature = [UInt8](repeating: 0, count: Self.signatureCount)
        key.withBytes {
            _ = crypto_sign_detached(&signature, nil, message, UInt64(message.count), $0)
        }
        return signature
    }

    package func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == Self.signatureCount, publicKey.count == Self.publicKeyCount else {
            return false
        }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey)
            == 0
    }

    package func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        _ = crypto_hash_sha256(&digest, message, UInt64(message.count))
        return digest
    }

    /// The 64-byte secret key of libsodium begins with the seed itself.
    private func expanded(_ seed: [UInt8]) -> ProtectedBytes {
        let known = lastKey.withLock { $0 }
        if let known, known.withBytes({ sodium_memcmp($0, seed, seed.count) }) == 0 { return known }
        var publicKey = [UInt8](repeating: 0, count: Self.publicKeyCount)
        let key = ProtectedBytes(count: Int(crypto_sign_SECRETKEYBYTES)) {
            _ = crypto_sign_seed_keypair(&publicKey, $0, seed)
        }
        lastKey.withLock { $0 = key }
        return key
    }
}
