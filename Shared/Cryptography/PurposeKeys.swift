import CSodium
import Primitives

/// The subkeys of one purpose, one for each version of the ring, made when first asked for.
final class PurposeKeys: Sendable {
    private struct Made {
        let roots: KeyRoots
        let keys: [(version: UInt16, key: ProtectedBytes)]
    }

    private let ring: KeyRing
    private let purpose: String
    private let made: Lock<Made>

    init(_ ring: KeyRing, purpose: String) {
        precondition(!purpose.isEmpty, "a key without a purpose")
        self.ring = ring
        self.purpose = purpose
        made = Lock(Self.make(ring.roots, purpose))
    }

    var currentVersion: UInt16 { ring.currentVersion }
    var versions: [UInt16] { ring.versions }

    /// nil when the key of that version is gone, or not yet here.
    func key(_ version: UInt16) -> ProtectedBytes? {
        if let key = find(version) { return key }
        ring.lookAgain()
        return find(version)
    }

    private func find(_ version: UInt16) -> ProtectedBytes? {
        let roots = ring.roots
        return made.withLock { made in
            if made.roots !== roots { made = Self.make(roots, purpose) }
            return made.keys.first { $0.version == version }?.key
        }
    }

    private static func make(_ roots: KeyRoots, _ purpose: String) -> Made {
        Made(
            roots: roots,
            keys: roots.keys.map { ($0.version, subkey(of: $0.root, purpose: purpose)) })
    }

    /// crypto_kdf takes an id of 64 bits and a context of 8 bytes. Both come from one BLAKE2b-128
    /// of the purpose, so distinct purposes have distinct subkeys without a table of numbers.
    static func subkey(of root: ProtectedBytes, purpose: String) -> ProtectedBytes {
        let name = blake2b(Array(purpose.utf8), bytesCount: 16)
        let id = name.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let context = name.suffix(8).map { CChar(bitPattern: $0) }
        return ProtectedBytes(count: KeyRing.keyBytesCount) { subkey in
            root.withBytes {
                _ = crypto_kdf_derive_from_key(subkey, KeyRing.keyBytesCount, id, context, $0)
            }
        }
    }

    private static func blake2b(_ message: [UInt8], bytesCount: Int) -> [UInt8] {
        Sodium.start()
        var digest = [UInt8](repeating: 0, count: bytesCount)
        _ = crypto_generichash(&digest, bytesCount, message, UInt64(message.count), nil, 0)
        return digest
    }
}
