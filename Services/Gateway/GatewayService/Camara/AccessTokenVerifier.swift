package import Effects
import FoundationEssentials
import Primitives

/// Why an access token is not believed. Callers see one answer for all of them; metrics tell them
/// apart.
package enum AccessTokenProblem: String, Error, Sendable, Hashable {
    /// Not three parts of base64url, or no JSON of the right kind inside.
    case malformed
    /// `alg` is not on the list, or not of the key's kind.
    case algorithm
    case unknownIssuer = "unknown_issuer"
    case unknownKey = "unknown_key"
    case signature
    case audience
    case expired
    /// `iat` or `nbf` lies ahead.
    case notYetValid = "not_yet_valid"
    /// The token says not whose scheme it is for.
    case incomplete
    /// The keys could not be asked for; the token may be good.
    case keysUnavailable = "keys_unavailable"
}

/// A token that was judged good now.
package struct AccessToken: Sendable {
    package let issuer: AccessTokenIssuer
    package let claims: AccessTokenClaims
    package let owner: String
    package let schemeCode: String
}

/// A JWS in its compact form (RFC 7515 §7.1), judged on its shape only.
package struct AccessTokenText: Sendable {
    /// Ours have 700, those of operators up to 2,000.
    package static let bytesMax = 8 * 1024
    /// RFC 9068 §2.1; older issuers write JWT, or nothing.
    private static let types = ["at+jwt", "application/at+jwt", "jwt"]

    let algorithm: AccessTokenAlgorithm
    let keyID: String
    let signingInput: [UInt8]
    let signature: [UInt8]
    let claims: AccessTokenClaims

    private struct Header: Decodable {
        let alg: String
        let typ: String?
        let kid: String?
        let b64: Bool?
    }

    init(_ text: String) throws(AccessTokenProblem) {
        guard text.utf8.count <= Self.bytesMax else { throw .malformed }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]),
            let body = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
            // No name twice: two readers would read two tokens.
            case .object(let members)? = try? StrictJSON.read(head),
            (try? StrictJSON.read(body)) != nil,
            let header = try? JSONDecoder().decode(Header.self, from: Data(head))
        else { throw .malformed }
        guard let algorithm = AccessTokenAlgorithm(rawValue: header.alg) else { throw .algorithm }
        // Nothing critical is understood here (RFC 7515 §4.1.11).
        guard !members.contains(where: { $0.name == "crit" }), header.b64 ?? true,
            header.typ.map({ Self.types.contains($0.lowercased()) }) ?? true
        else { throw .malformed }
        guard let keyID = header.kid, !keyID.isEmpty else { throw .unknownKey }
        guard let claims = try? JSONDecoder().decode(AccessTokenClaims.self, from: Data(body))
        else { throw .malformed }
        self.algorithm = algorithm
        self.keyID = keyID
        signingInput = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = signature
        self.claims = claims
    }
}

/// Judges access tokens against the configured issuers. It holds no state but their keys.
package struct AccessTokenVerifier: Sendable {
    /// How far an issuer's clock may be ahead of ours. The end of a token has no such grace.
    package static let clockSkewMax = Duration.seconds(60)

    private let issuers: [AccessTokenIssuer]
    private let signer: any TokenSigner
    private let foreign: any SignatureVerifier
    private let clock: any WallClock

    /// - Parameters:
    ///   - signer: judges Ed25519.
    ///   - foreign: judges RSA and P-256.
    package init(
        issuers: [AccessTokenIssuer], signer: any TokenSigner, foreign: any SignatureVerifier,
        clock: any WallClock
    ) {
        self.issuers = issuers
        self.signer = signer
        self.foreign = foreign
        self.clock = clock
    }

    package func admit(_ text: String) async throws(AccessTokenProblem) -> AccessToken {
        let token = try AccessTokenText(text)
        let claims = token.claims
        guard let issuer = issuers.first(where: { Self.isSame($0.name, claims.issuer) }) else {
            throw .unknownIssuer
        }
        let found: JSONWebKey?
        do throws(ServiceFailure) { found = try await issuer.keys.key(token.keyID) } catch {
            throw .keysUnavailable
        }
        guard let key = found else { throw .unknownKey }
        guard key.takes(token.algorithm) else { throw .algorithm }
        guard isSigned(token, with: key) else { throw .signature }
        try judge(claims, issuer)
        return try admitted(claims, issuer)
    }

    /// To the letter (RFC 7519 §2, StringOrURI); `==` takes other spellings of a character too.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }

    private func isSigned(_ token: AccessTokenText, with key: JSONWebKey) -> Bool {
        switch (key.material, token.algorithm) {
        case (.ed25519(let publicKey), .edDSA), (.ed25519(let publicKey), .ed25519):
            signer.isValid(
                signature: token.signature, of: token.signingInput, publicKey: publicKey)
        case (.foreign(let key), .rs256): isSigned(token, with: key, .rs256)
        case (.foreign(let key), .ps256): isSigned(token, with: key, .ps256)
        case (.foreign(let key), .es256): isSigned(token, with: key, .es256)
        default: false
        }
    }

    private func isSigned(
        _ token: AccessTokenText, with key: ForeignKey, _ algorithm: ForeignAlgorithm
    ) -> Bool {
        foreign.isValid(
            signature: token.signature, of: token.signingInput, key: key, algorithm: algorithm)
    }

    private func judge(
        _ claims: AccessTokenClaims, _ issuer: AccessTokenIssuer
    ) throws(AccessTokenProblem) {
        if let audience = issuer.audience,
            !claims.audience.contains(where: { Self.isSame($0, audience) })
        {
            throw .audience
        }
        let now = clock.now()
        guard now < claims.expiresAt else { throw .expired }
        for instant in [claims.issuedAt, claims.notBefore].compactMap(\.self) {
            guard instant <= now + Self.clockSkewMax else { throw .notYetValid }
        }
    }

    private func admitted(
        _ claims: AccessTokenClaims, _ issuer: AccessTokenIssuer
    ) throws(AccessTokenProblem) -> AccessToken {
        switch issuer.client {
        case .fixed(let owner, let schemeCode):
            return AccessToken(
                issuer: issuer, claims: claims, owner: owner, schemeCode: schemeCode)
        case .claims:
            guard let owner = claims.texts["owner"], let schemeCode = claims.texts["scheme_code"]
            else { throw .incomplete }
            return AccessToken(
                issuer: issuer, claims: claims, owner: owner, schemeCode: schemeCode)
        }
    }
}
