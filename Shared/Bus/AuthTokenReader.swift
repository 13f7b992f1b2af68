package import Effects
import FoundationEssentials
package import Messages
package import Primitives

/// An auth token in its compact form (RFC 7515 §7.1): three parts of base64url, judged on their
/// shape only. Nothing in it is to be believed before `AuthTokenReader.verify`.
package struct CompactToken: Sendable, Hashable {
    /// Bytes; ours have about 500.
    package static let bytesMax = 2_048
    /// Both name Ed25519 (RFC 8037, RFC 9864). A fixed list: the token does not choose how it is
    /// judged, and `none` is not among them.
    package static let algorithms = ["EdDSA", "Ed25519"]
    package static let type = "JWT"

    package let keyID: String
    /// What the signature is over: the first two parts as they came, with the dot.
    package let signingInput: [UInt8]
    package let payload: [UInt8]
    package let signature: [UInt8]

    /// nil for anything but three strict parts, a header that names a known algorithm and a key,
    /// and nothing critical that we would have to understand (RFC 7515 §4.1.11).
    package init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let decoded = parts.compactMap { Base64URL.decode(String($0)) }
        guard decoded.count == 3, let headerBytes = decoded.first,
            let payload = decoded.dropFirst().first, let signature = decoded.last,
            let header = try? JSONDecoder().decode(Header.self, from: Data(headerBytes)),
            Self.algorithms.contains(header.alg), header.typ == nil || header.typ == Self.type,
            header.crit == nil, !header.kid.isEmpty
        else { return nil }
        keyID = header.kid
        signingInput = Array("\(parts[0]).\(parts[1])".utf8)
        self.payload = payload
        self.signature = signature
    }

    /// Signs `claims` with an Ed25519 seed.
    /// - Returns: the compact form; nil when the seed is not one.
    package static func compose(
        _ claims: AuthTokenClaims, keyID: String, seed: Secret<[UInt8]>, signer: any TokenSigner
    ) throws(ServiceFailure) -> String? {
        let header = TokenHeader(alg: algorithms[0], typ: type, kid: keyID)
        let head = Base64URL.encode(try BusCoding.encode(header))
        let body = Base64URL.encode(try BusCoding.encode(claims))
        guard let signature = signer.sign(Array("\(head).\(body)".utf8), seed: seed) else {
            return nil
        }
        return "\(head).\(body).\(Base64URL.encode(signature))"
    }

    private struct Header: Decodable {
        let alg: String
        let typ: String?
        let kid: String
        let crit: [String]?
    }
}

/// Judges auth tokens offline, against published keys. Revocation and the scheme's state are the
/// token service's to tell (`token.introspect`).
package enum AuthTokenReader {
    /// How far the clocks of two hosts may lie apart before a token that was just issued is refused
    /// as one from the future. The expiry has no such grace.
    package static let clockSkewMax = Duration.seconds(60)

    /// - Throws: `token_invalid` for anything that no key of `keys` signed in this form,
    ///   `token_expired` for a genuine token after its time.
    package static func verify(
        _ token: String, keys: PublicKeySet, signer: any TokenSigner, now: WallTime
    ) throws(ServiceFailure) -> AuthTokenClaims {
        guard let compact = CompactToken(token) else { throw invalid }
        return try verify(compact, keys: keys, signer: signer, now: now)
    }

    /// The same for a token that was taken apart before, to see which key it names.
    package static func verify(
        _ compact: CompactToken, keys: PublicKeySet, signer: any TokenSigner, now: WallTime
    ) throws(ServiceFailure) -> AuthTokenClaims {
        let claims = try genuineClaims(compact, keys: keys, signer: signer)
        guard claims.issuedAt <= now + clockSkewMax, claims.issuedAt < claims.expiresAt else {
            throw invalid
        }
        guard now < claims.expiresAt else {
            throw ServiceFailure(.tokenExpired, "the auth token has expired", field: "authToken")
        }
        return claims
    }

    /// What a key of `keys` signed, at whatever time.
    package static func genuineClaims(
        _ compact: CompactToken, keys: PublicKeySet, signer: any TokenSigner
    ) throws(ServiceFailure) -> AuthTokenClaims {
        guard let key = keys.keys.first(where: { $0.kid == compact.keyID }), key.kty == "OKP",
            key.crv == "Ed25519", let publicKey = Base64URL.decode(key.x),
            signer.isValid(
                signature: compact.signature, of: compact.signingInput, publicKey: publicKey),
            let claims = try? JSONDecoder().decode(
                AuthTokenClaims.self, from: Data(compact.payload))
        else { throw invalid }
        return claims
    }

    private static let invalid = ServiceFailure(
        .tokenInvalid, "this is not an auth token of ours", field: "authToken")
}

extension AuthTokenClaims {
    package var issuedAt: WallTime { Self.instant(iat) }
    package var expiresAt: WallTime { Self.instant(exp) }

    private static func instant(_ seconds: Int64) -> WallTime {
        WallTime(millisecondsSince1970: 0) + .seconds(seconds)
    }
}
