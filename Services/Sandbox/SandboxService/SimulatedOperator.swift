import Bus
import Effects
import Messages
import Primitives

/// The signing key of the sandbox's access tokens; it lives as long as the process.
struct SandboxAccessKey: Sendable {
    let signer: any TokenSigner
    let published: PublicKeySet
    let keyID: String
    private let seed: Secret<[UInt8]>
    /// Signs tokens that must not be believed; published nowhere.
    private let strangerSeed: Secret<[UInt8]>

    init(signer: any TokenSigner) {
        self.signer = signer
        let (seed, publicKey) = signer.generateKeyPair()
        self.seed = seed
        strangerSeed = signer.generateKeyPair().seed
        let x = Base64URL.encode(publicKey)
        // RFC 7638 §3 with the members of RFC 8037 §2, in their fixed order.
        let text = #"{"crv":"Ed25519","kty":"OKP","x":"\#(x)"}"#
        keyID = Base64URL.encode(signer.sha256(Array(text.utf8)))
        published = PublicKeySet(keys: [
            PublicKey(
                kty: "OKP", crv: "Ed25519", x: x, kid: keyID, use: "sig",
                alg: CompactToken.algorithms[0])
        ])
    }

    /// A JWT (RFC 7519) as RFC 9068 types it.
    func token(
        _ claims: some Encodable, _ fault: AccessTokenFault
    ) throws(ServiceFailure) -> String {
        let isUnknown = fault == .unknownKey
        let header = TokenHeader(
            alg: CompactToken.algorithms[0], typ: "at+jwt",
            kid: isUnknown ? "unknown-\(keyID)" : keyID)
        let input =
            "\(Base64URL.encode(try BusCoding.encode(header)))."
            + Base64URL.encode(try BusCoding.encode(claims))
        let isStrange = isUnknown || fault == .wrongSignature
        guard
            let signature = signer.sign(Array(input.utf8), seed: isStrange ? strangerSeed : seed)
        else { throw ServiceFailure(.internalFault, "the sandbox's own key does not sign") }
        return "\(input).\(Base64URL.encode(signature))"
    }
}

/// `sandbox.access_token` and `access_keys`: the authorization server of the simulated operator.
extension SandboxService {
    private struct Claims: Encodable {
        let iss: String
        let sub: String
        let aud: String
        let clientID: String
        let scope: String
        let amr: [String]?
        let iat: Int64
        let nbf: Int64
        let exp: Int64
        let jti: String?
        let owner: String
        let schemeCode: String
        let carrierToken: String?

        private enum CodingKeys: String, CodingKey {
            case iss, sub, aud, scope, amr, iat, nbf, exp, jti, owner
            case clientID = "client_id"
            case schemeCode = "scheme_code"
            case carrierToken = "carrier_token"
        }
    }

    func accessKeys(
        _ request: GetAccessKeys, _ context: CallContext
    ) async throws(ServiceFailure) -> PublicKeySet { accessKey.published }

    func mintAccessToken(
        _ request: MintAccessToken, _ context: CallContext
    ) async throws(ServiceFailure) -> MintedAccessToken {
        let fault = request.fault ?? .none
        let carrierToken = try await networkProof(request, context)
        let lifetime = request.lifetimeSeconds ?? MintAccessToken.lifetimeSecondsStandard
        // Of an expired one the whole life lies in the past.
        let now = clock.now().millisecondsSince1970 / 1000
        let issuedAt = fault == .expired ? now - lifetime - 1 : now
        let clientID = request.clientId ?? "sandbox-client"
        let claims = Claims(
            iss: fault == .wrongIssuer ? "https://elsewhere.invalid" : SandboxIssuer.issuer,
            sub: carrierToken == nil ? clientID : "phone-" + Hex.encode(random.bytes(8)),
            aud: fault == .wrongAudience ? "another-api" : SandboxIssuer.audience,
            clientID: clientID, scope: request.scope,
            amr: request.amr ?? (carrierToken == nil ? nil : [SandboxIssuer.networkMethod]),
            iat: issuedAt, nbf: fault == .notYetValid ? now + 3600 : issuedAt,
            exp: issuedAt + lifetime,
            jti: fault == .noTokenID ? nil : Base64URL.encode(random.bytes(16)),
            owner: request.owner, schemeCode: request.schemeCode, carrierToken: carrierToken)
        return MintedAccessToken(
            accessToken: Secret(try accessKey.token(claims, fault)), tokenType: "Bearer",
            scope: request.scope, expiresAtMilliseconds: claims.exp * 1000)
    }

    /// What the operator's network knows of the phone; nil without one.
    private func networkProof(
        _ request: MintAccessToken, _ context: CallContext
    ) async throws(ServiceFailure) -> String? {
        guard request.simId != nil || request.number != nil else { return nil }
        let answer = try await carrierToken(
            FetchCarrierToken(simId: request.simId, number: request.number), context)
        guard let token = answer.carrierToken else {
            throw ServiceFailure(
                .carrierUnavailable,
                "the simulated SIM gives no carrier token (inner code \(answer.innerCode))")
        }
        return token.reveal()
    }
}
