import Effects
import Primitives
import Testing
import TokenKeys

@Suite("Signatures of others, by GnuTLS")
struct GnuTLSVerifierTests {
    private struct Case: Sendable {
        let algorithm: ForeignAlgorithm
        let key: ForeignKey
        let token: String
    }

    private let verifier = GnuTLSVerifier()

    private static func rsa(_ modulus: String) -> ForeignKey {
        .rsa(modulus: Base64URL.decode(modulus) ?? [], exponent: [1, 0, 1])
    }

    private static let point = ForeignKey.p256(
        x: Base64URL.decode(SignatureVectors.ecX) ?? [],
        y: Base64URL.decode(SignatureVectors.ecY) ?? [])

    private static let cases = [
        Case(
            algorithm: .rs256, key: rsa(SignatureVectors.rsaModulus),
            token: SignatureVectors.rsaToken),
        Case(algorithm: .es256, key: point, token: SignatureVectors.ecToken),
        Case(
            algorithm: .ps256, key: rsa(SignatureVectors.pssModulus),
            token: SignatureVectors.pssToken),
    ]

    @Test("the vectors of RFC 7515 and of another library are right, every changed byte is wrong")
    func vectors() throws {
        for item in Self.cases {
            let parts = try #require(SignatureVectors.parts(item.token))
            #expect(
                verifier.isValid(
                    signature: parts.signature, of: parts.input, key: item.key,
                    algorithm: item.algorithm))
            for index in stride(from: 0, to: parts.signature.count, by: 7) {
                var changed = parts.signature
                changed[index] ^= 1
                #expect(
                    !verifier.isValid(
                        signature: changed, of: parts.input, key: item.key,
                        algorithm: item.algorithm), "\(item.algorithm) byte \(index)")
            }
            #expect(
                !verifier.isValid(
                    signature: parts.signature, of: parts.input + [0], key: item.key,
                    algorithm: item.algorithm))
        }
    }

    @Test("no signature is good under another algorithm or another kind of key")
    func confusion() throws {
        for item in Self.cases {
            let parts = try #require(SignatureVectors.parts(item.token))
            for other in Self.cases where other.algorithm != item.algorithm {
                for (key, algorithm) in [
                    (item.key, other.algorithm), (other.key, item.algorithm),
                    (other.key, other.algorithm),
                ] {
                    #expect(
                        !verifier.isValid(
                            signature: parts.signature, of: parts.input, key: key,
                            algorithm: algorithm), "\(item.algorithm) as \(algorithm)")
                }
            }
        }
    }

    @Test("RSA below 2048 bits is refused, however right the signature")
    func weakKey() throws {
        let key = Self.rsa(SignatureVectors.weakModulus)
        #expect(key.bitsCount == 1024)
        let parts = try #require(SignatureVectors.parts(SignatureVectors.weakToken))
        #expect(
            !verifier.isValid(
                signature: parts.signature, of: parts.input, key: key, algorithm: .rs256))
    }

    @Test("numbers that are no key, and signatures of another length, are refused")
    func nonsense() throws {
        let parts = try #require(SignatureVectors.parts(SignatureVectors.ecToken))
        let zeros = [UInt8](repeating: 0, count: 32)
        let keys: [ForeignKey] = [
            .p256(x: zeros, y: zeros), .p256(x: [], y: []),
            .p256(x: Base64URL.decode(SignatureVectors.ecY) ?? [], y: zeros),
            .rsa(modulus: [], exponent: []),
        ]
        for key in keys {
            for algorithm in [ForeignAlgorithm.es256, .rs256, .ps256] {
                #expect(
                    !verifier.isValid(
                        signature: parts.signature, of: parts.input, key: key,
                        algorithm: algorithm))
            }
        }
        for signature in [
            [], zeros, zeros + zeros, parts.signature + [0], parts.signature.dropLast(),
        ] {
            #expect(
                !verifier.isValid(
                    signature: Array(signature), of: parts.input, key: Self.point,
                    algorithm: .es256))
        }
    }

    @Test("bits are those of the modulus, not of its bytes")
    func bits() {
        #expect(ForeignKey.rsa(modulus: [1], exponent: []).bitsCount == 1)
        #expect(ForeignKey.rsa(modulus: [0x80, 0], exponent: []).bitsCount == 16)
        #expect(ForeignKey.rsa(modulus: [], exponent: []).bitsCount == 0)
    }
}
