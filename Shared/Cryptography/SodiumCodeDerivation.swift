import CSodium
import Effects
package import Primitives

/// Codes as a keyed function of their challenge.
///
/// Stream: BLAKE2b-512, keyed, over a fixed label, the id's length and bytes, the sequence and a
/// block number. Each stream byte below the largest multiple of the alphabet's size gives one
/// character; the others are thrown away, so every character is equally likely.
package struct SodiumCodeDerivation: CodeDerivation {
    package static let lengthMax = 64
    private static let label = Array("fusion.code.1".utf8)
    private static let blockCount = Int(crypto_generichash_BYTES_MAX)

    private let keys: PurposeKeys

    package init(_ ring: KeyRing, purpose: String = "smscode.code") {
        keys = PurposeKeys(ring, purpose: purpose)
    }

    package var currentVersion: UInt16 { keys.currentVersion }

    package func code(
        challengeID: String, sequence: Int, length: Int, alphabet: [UInt8], version: UInt16
    ) -> Secret<String>? {
        precondition(
            (1...Self.lengthMax).contains(length) && (2...256).contains(alphabet.count),
            "a code has 1…64 characters of an alphabet of 2…256")
        guard let key = keys.key(version) else { return nil }
        let ceiling = 256 - 256 % alphabet.count
        var characters: [UInt8] = []
        var block: UInt64 = 0
        while characters.count < length {
            for byte in stream(key, challengeID, sequence, block)
            where Int(byte) < ceiling && characters.count < length {
                characters.append(alphabet[Int(byte) % alphabet.count])
            }
            block += 1
        }
        return Secret(String(decoding: characters, as: UTF8.self))
    }

    private func stream(
        _ key: ProtectedBytes, _ challengeID: String, _ sequence: Int, _ block: UInt64
    ) -> [UInt8] {
        let id = Array(challengeID.utf8)
        var message = Self.label + bigEndian(UInt64(id.count)) + id
        message += bigEndian(UInt64(bitPattern: Int64(sequence))) + bigEndian(block)
        var bytes = [UInt8](repeating: 0, count: Self.blockCount)
        key.withBytes {
            _ = crypto_generichash(
                &bytes, Self.blockCount, message, UInt64(message.count), $0, key.count)
        }
        return bytes
    }

    private func bigEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }
}
