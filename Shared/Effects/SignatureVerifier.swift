/// A public key of somebody else, in its raw numbers (RFC 7518 §6), big-endian.
package enum ForeignKey: Sendable, Hashable {
    /// Without leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// A point of P-256, 32 bytes each.
    case p256(x: [UInt8], y: [UInt8])
}

/// How somebody else signs (RFC 7518 §3). Ed25519 is `TokenSigner`'s.
package enum ForeignAlgorithm: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes.
    case ps256
    /// ECDSA on P-256 with SHA-256; the signature is R and S, 32 bytes each.
    case es256
}

/// Judges signatures that others made. Our own daemons never sign so.
package protocol SignatureVerifier: Sendable {
    /// False also for a key that the algorithm does not take, a point that is not on its curve, and
    /// an RSA modulus outside `ForeignKey.rsaBits`.
    func isValid(
        signature: [UInt8], of message: [UInt8], key: ForeignKey, algorithm: ForeignAlgorithm
    ) -> Bool
}

extension ForeignKey {
    /// Bits of an RSA modulus: fewer can be broken (RFC 7518 §3.3), more cost us time.
    package static let rsaBits = 2048...8192

    /// Of the modulus or of the curve.
    package var bitsCount: Int {
        switch self {
        case .rsa(let modulus, _):
            modulus.first.map { modulus.count * 8 - $0.leadingZeroBitCount } ?? 0
        case .p256: 256
        }
    }
}
