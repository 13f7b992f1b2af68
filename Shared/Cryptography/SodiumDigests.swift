import CSodium
import Effects
package import Primitives

/// The kernel's random bytes, through libsodium.
package struct SodiumRandom: RandomSource {
    package init() { Sodium.start() }

    package func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0, "a negative number of bytes")
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { randombytes_buf(base, buffer.count) }
        }
        return bytes
    }
}

/// BLAKE2b-256 with a key of the ring (RFC 7693).
package struct SodiumKeyedDigest: KeyedDigest {
    package static let bytesCount = 32
    private let keys: PurposeKeys

    package init(_ ring: KeyRing, purpose: String) { keys = PurposeKeys(ring, purpose: purpose) }

    package var currentVersion: UInt16 { keys.currentVersion }
    package var liveVersions: [UInt16] { keys.versions }

    package func digest(_ message: [UInt8], version: UInt16) -> [UInt8]? {
        guard let key = keys.key(version) else { return nil }
        var digest = [UInt8](repeating: 0, count: Self.bytesCount)
        key.withBytes {
            _ = crypto_generichash(
                &digest, Self.bytesCount, message, UInt64(message.count), $0, key.count)
        }
        return digest
    }
}

/// HMAC for the signatures of others (RFC 2104).
package struct SodiumAuthenticator: MessageAuthenticator {
    package init() { Sodium.start() }

    package func hmacSHA256(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8] {
        let key = key.reveal()
        var state = crypto_auth_hmacsha256_state()
        defer { sodium_memzero(&state, MemoryLayout.size(ofValue: state)) }
        var digest = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        _ = crypto_auth_hmacsha256_init(&state, key, key.count)
        _ = crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        _ = crypto_auth_hmacsha256_final(&state, &digest)
        return digest
    }

    package func hmacSHA1(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8] {
        SHA1.hmac(message, key: key.reveal())
    }
}
