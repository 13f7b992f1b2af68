package import Effects
package import Primitives

/// Signatures and MACs without a C library: forgeable, but repeatable, and strict about every byte
/// of message and key. Rules about who may sign what are tested with it; the real algorithms have
/// tests of their own.
package struct FakeSigner: TokenSigner, MessageAuthenticator {
    private let random: any RandomSource

    package init(random: any RandomSource = SeededRandom(seed: 1)) { self.random = random }

    package func generateKeyPair() -> (seed: Secret<[UInt8]>, publicKey: [UInt8]) {
        let seed = random.bytes(32)
        return (Secret(seed), Self.publicKey(of: seed))
    }

    package func sign(_ message: [UInt8], seed: Secret<[UInt8]>) -> [UInt8]? {
        let seed = seed.reveal()
        guard seed.count == 32 else { return nil }
        return Self.mixed("signature", Self.publicKey(of: seed) + message, 64)
    }

    package func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        signature == Self.mixed("signature", publicKey + message, 64)
    }

    package func sha256(_ message: [UInt8]) -> [UInt8] { Self.mixed("sha256", message, 32) }

    package func hmacSHA256(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8] {
        Self.mixed("hmac-sha256", key.reveal() + [0] + message, 32)
    }

    package func hmacSHA1(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8] {
        Self.mixed("hmac-sha1", key.reveal() + [0] + message, 20)
    }

    private static func publicKey(of seed: [UInt8]) -> [UInt8] { mixed("public", seed, 32) }

    private static func mixed(_ purpose: String, _ message: [UInt8], _ count: Int) -> [UInt8] {
        let start: UInt64 = 0xcbf2_9ce4_8422_2325
        let hash = (Array(purpose.utf8) + [0] + message).reduce(start) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return SeededRandom(seed: hash).bytes(count)
    }
}
