import Bus
import Cryptography
import Effects
import Messages
import Primitives
import TestKit
import Testing

@Suite("Compact tokens, judged offline")
struct CompactTokenTests {
    private let signer = SodiumSigner()
    private let now = WallTime(millisecondsSince1970: 1_800_000_000_000)

    private struct Pair {
        let seed: Secret<[UInt8]>
        let keys: PublicKeySet
    }

    private func pair(_ kid: String = "k1") -> Pair {
        let (seed, publicKey) = signer.generateKeyPair()
        let key = PublicKey(
            kty: "OKP", crv: "Ed25519", x: Base64URL.encode(publicKey), kid: kid, use: "sig",
            alg: "EdDSA")
        return Pair(seed: seed, keys: PublicKeySet(keys: [key]))
    }

    private func claims(iat: Int64 = 1_800_000_000, lifetime: Int64 = 900) -> AuthTokenClaims {
        AuthTokenClaims(
            iss: "fusionbus", sub: "FA12345678901234",
            jti: TokenID(random: [UInt8](repeating: 1, count: 16)), iat: iat, exp: iat + lifetime,
            platform: .ios, app: "com.example.app")
    }

    /// Signs any header over any payload, as a forger with the key would.
    private func signed(
        header: String, payload: [UInt8], _ pair: Pair
    ) throws -> String {
        let input = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(payload))"
        let signature = try #require(signer.sign(Array(input.utf8), seed: pair.seed))
        return "\(input).\(Base64URL.encode(signature))"
    }

    private func verdict(
        _ token: String, _ keys: PublicKeySet, now: WallTime? = nil
    ) -> ErrorCode? {
        do throws(ServiceFailure) {
            _ = try AuthTokenReader.verify(
                token, keys: keys, signer: signer, now: now ?? self.now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("what was composed verifies, with the claims unchanged")
    func roundTrip() throws {
        let pair = pair()
        let token = try #require(
            try CompactToken.compose(claims(), keyID: "k1", seed: pair.seed, signer: signer))
        let read = try AuthTokenReader.verify(token, keys: pair.keys, signer: signer, now: now)
        #expect(read == claims())
    }

    @Test("RFC 8037 A.4: the published vector verifies, and not with one character changed")
    func publishedVector() {
        let input = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        let signature =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        let publicKey = Base64URL.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo") ?? []
        let bytes = Base64URL.decode(signature) ?? []
        #expect(
            signer.isValid(signature: bytes, of: Array(input.utf8), publicKey: publicKey))
        #expect(
            !signer.isValid(
                signature: bytes, of: Array((input + "A").utf8), publicKey: publicKey))
    }

    @Test(
        "a header with another algorithm, type, critical extension or no key id is refused",
        arguments: [
            #"{"alg":"none","kid":"k1"}"#, #"{"alg":"HS256","kid":"k1"}"#,
            #"{"alg":"eddsa","kid":"k1"}"#, #"{"alg":"EdDSA"}"#, #"{"alg":"EdDSA","kid":""}"#,
            #"{"alg":"EdDSA","kid":"k1","typ":"at+jwt"}"#,
            #"{"alg":"EdDSA","kid":"k1","crit":["b64"]}"#, #"{"alg":"EdDSA","kid":"k2"}"#,
            #"{"alg":["EdDSA"],"kid":"k1"}"#, "[]", "",
        ])
    func headers(_ header: String) throws {
        let pair = pair()
        let payload = try BusCoding.encode(claims())
        let token = try signed(header: header, payload: payload, pair)
        #expect(verdict(token, pair.keys) == .tokenInvalid)
    }

    @Test("Ed25519 (RFC 9864) is taken as EdDSA is")
    func otherName() throws {
        let pair = pair()
        let payload = try BusCoding.encode(claims())
        let token = try signed(header: #"{"alg":"Ed25519","kid":"k1"}"#, payload: payload, pair)
        #expect(verdict(token, pair.keys) == nil)
    }

    @Test("any other shape than three strict parts is refused")
    func shapes() throws {
        let pair = pair()
        let token = try #require(
            try CompactToken.compose(claims(), keyID: "k1", seed: pair.seed, signer: signer))
        let parts = token.split(separator: ".").map(String.init)
        let broken = [
            "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])",
            "\(parts[0]).\(parts[1]).", token + ".", token + "=", " " + token, token + "\n",
            "\(parts[0])=.\(parts[1]).\(parts[2])", token.replacingFirst(".", with: ":"),
            String(repeating: "A", count: CompactToken.bytesMax + 1),
            token + String(repeating: "A", count: 4_000),
        ]
        for text in broken { #expect(verdict(text, pair.keys) == .tokenInvalid, "\(text)") }
    }

    @Test("a flipped bit in any byte of any part is refused")
    func flippedBits() throws {
        let pair = pair()
        let token = try #require(
            try CompactToken.compose(claims(), keyID: "k1", seed: pair.seed, signer: signer))
        for index in 0..<token.utf8.count {
            var bytes = Array(token.utf8)
            bytes[index] ^= 1
            #expect(
                verdict(String(decoding: bytes, as: UTF8.self), pair.keys) == .tokenInvalid,
                "byte \(index)")
        }
    }

    @Test("another key under the same id, and a key of another kind, verify nothing")
    func wrongKeys() throws {
        let pair = pair()
        let token = try #require(
            try CompactToken.compose(claims(), keyID: "k1", seed: pair.seed, signer: signer))
        #expect(verdict(token, self.pair().keys) == .tokenInvalid)
        let key = try #require(pair.keys.keys.first)
        let other = PublicKey(
            kty: "EC", crv: "P-256", x: key.x, kid: key.kid, use: "sig", alg: "ES256")
        #expect(verdict(token, PublicKeySet(keys: [other])) == .tokenInvalid)
        #expect(verdict(token, PublicKeySet(keys: [])) == .tokenInvalid)
    }

    @Test("a genuine token is refused from its last second on, and from the future")
    func times() throws {
        let pair = pair()
        let token = try #require(
            try CompactToken.compose(claims(), keyID: "k1", seed: pair.seed, signer: signer))
        #expect(verdict(token, pair.keys, now: now + .milliseconds(899_999)) == nil)
        #expect(verdict(token, pair.keys, now: now + .seconds(900)) == .tokenExpired)
        #expect(verdict(token, pair.keys, now: now - AuthTokenReader.clockSkewMax) == nil)
        let early = now - AuthTokenReader.clockSkewMax - .milliseconds(1)
        #expect(verdict(token, pair.keys, now: early) == .tokenInvalid)
    }

    @Test("instants beyond what a clock can hold neither trap nor pass")
    func extremeInstants() throws {
        let pair = pair()
        for (iat, exp) in [(Int64.max, Int64.max), (.min, .min), (0, .min), (.max, 0)] {
            let claims = AuthTokenClaims(
                iss: "", sub: "", jti: TokenID(random: [UInt8](repeating: 1, count: 16)), iat: iat,
                exp: exp, platform: .web, app: "")
            let token = try #require(
                try CompactToken.compose(claims, keyID: "k1", seed: pair.seed, signer: signer))
            #expect(verdict(token, pair.keys) != nil)
        }
    }
}

extension String {
    fileprivate func replacingFirst(_ text: String, with other: String) -> String {
        guard let range = firstRange(of: text) else { return self }
        return replacingCharacters(in: range, with: other)
    }

    fileprivate func replacingCharacters(in range: Range<Index>, with other: String) -> String {
        String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
    }
}
