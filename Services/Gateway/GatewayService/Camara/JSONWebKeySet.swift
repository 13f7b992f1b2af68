package import Effects
import FoundationEssentials
import Primitives

/// Algorithms that an access token may name (RFC 7518 §3.1, RFC 8037, RFC 9864). A fixed list: the
/// token does not choose how it is judged. `none` and the HMACs are not among them.
package enum AccessTokenAlgorithm: String, Sendable, Hashable, CaseIterable {
    case edDSA = "EdDSA"
    case ed25519 = "Ed25519"
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
}

/// A key that signs access tokens.
package struct JSONWebKey: Sendable, Hashable {
    package enum Material: Sendable, Hashable {
        case ed25519([UInt8])
        case foreign(ForeignKey)
    }

    package let keyID: String
    package let material: Material
    /// What the key's own `alg` allows; nil where it says nothing.
    package let algorithm: AccessTokenAlgorithm?

    package init(keyID: String, material: Material, algorithm: AccessTokenAlgorithm? = nil) {
        self.keyID = keyID
        self.material = material
        self.algorithm = algorithm
    }

    /// Whether tokens under this key may name `asked`.
    package func takes(_ asked: AccessTokenAlgorithm) -> Bool {
        let fitting: [AccessTokenAlgorithm] =
            switch material {
            case .ed25519: [.edDSA, .ed25519]
            case .foreign(.rsa): [.rs256, .ps256]
            case .foreign(.p256): [.es256]
            }
        guard fitting.contains(asked) else { return false }
        guard let algorithm else { return true }
        // Two names of one algorithm.
        return algorithm == asked || fitting == [.edDSA, .ed25519]
    }
}

/// A JWKS (RFC 7517) as an issuer publishes it.
package struct JSONWebKeySet: Sendable, Hashable {
    package static let bytesMax = 256 * 1024
    package static let keysMax = 64

    package let keys: [JSONWebKey]
    /// Signing keys that cannot be used, each with the reason. Keys for something else, and of kinds
    /// that no algorithm of ours takes, are passed over in silence.
    package let problems: [String]

    package init(keys: [JSONWebKey], problems: [String] = []) {
        self.keys = keys
        self.problems = problems
    }

    /// nil for bytes that are no key set.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax,
            let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
            document.keys.count <= Self.keysMax
        else { return nil }
        var keys: [JSONWebKey] = []
        var problems: [String] = []
        for (index, entry) in document.keys.enumerated() where entry.isForSignatures {
            do throws(Entry.Problem) {
                guard let key = try entry.key() else { continue }
                guard !keys.contains(where: { $0.keyID == key.keyID }) else {
                    throw Entry.Problem(text: "has the kid of another key")
                }
                keys.append(key)
            } catch {
                problems.append("key \(index + 1): \(error.text)")
            }
        }
        self.init(keys: keys, problems: problems)
    }

    package subscript(keyID: String) -> JSONWebKey? {
        keys.first { $0.keyID.utf8.elementsEqual(keyID.utf8) }
    }

    private struct Document: Decodable {
        let keys: [Entry]
    }

    private struct Entry: Decodable {
        struct Problem: Error {
            let text: String
        }

        let kty: String
        let kid: String?
        let use: String?
        let operations: [String]?
        let alg: String?
        let crv: String?
        let x: String?
        let y: String?
        let n: String?
        let e: String?

        private enum CodingKeys: String, CodingKey {
            case kty, kid, use, alg, crv, x, y, n, e
            case operations = "key_ops"
        }

        var isForSignatures: Bool {
            (use == nil || use == "sig") && (operations?.contains("verify") ?? true)
        }

        /// nil for a kind of key that is not ours to judge.
        func key() throws(Problem) -> JSONWebKey? {
            let algorithm = alg.flatMap(AccessTokenAlgorithm.init)
            guard alg == nil || algorithm != nil, let material = try material() else { return nil }
            guard let kid, !kid.isEmpty else { throw Problem(text: "has no kid") }
            let key = JSONWebKey(keyID: kid, material: material, algorithm: algorithm)
            guard algorithm.map(key.takes) ?? true else {
                throw Problem(text: "has an alg that is not of its kind")
            }
            return key
        }

        private func material() throws(Problem) -> JSONWebKey.Material? {
            switch (kty, crv) {
            case ("OKP", "Ed25519"): return .ed25519(try bytes(x, "x", count: 32))
            case ("EC", "P-256"):
                return .foreign(
                    .p256(x: try bytes(x, "x", count: 32), y: try bytes(y, "y", count: 32)))
            case ("RSA", _):
                let key = ForeignKey.rsa(
                    modulus: Array(try bytes(n, "n").drop { $0 == 0 }),
                    exponent: Array(try bytes(e, "e").drop { $0 == 0 }))
                guard ForeignKey.rsaBits.contains(key.bitsCount) else {
                    throw Problem(
                        text: "RSA of \(key.bitsCount) bits; "
                            + "\(ForeignKey.rsaBits.lowerBound)…\(ForeignKey.rsaBits.upperBound)"
                            + " are taken")
                }
                return .foreign(key)
            default: return nil
            }
        }

        private func bytes(
            _ text: String?, _ name: String, count: Int? = nil
        ) throws(Problem) -> [UInt8] {
            guard let bytes = text.flatMap(Base64URL.decode), !bytes.isEmpty,
                count == nil || bytes.count == count
            else { throw Problem(text: "\(name) is missing or not of its size") }
            return bytes
        }
    }
}
