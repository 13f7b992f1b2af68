import Bus
import Effects
import Foundation
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit

/// A gateway with the CAMARA edge over a bus whose answers a test sets, and issuers that sign with a
/// fake signer.
final class CamaraWorld: Sendable {
    static let owner = "acme"
    static let schemeCode = "FA100"
    static let number = "+14155552671"
    static let challenge = ChallengeID(random: Array(repeating: 7, count: 16))
    static let carrierToken = "CTabc"
    static let allScopes =
        "one-time-password-sms:send-validate number-verification:verify "
        + "number-verification:device-phone-number:read"

    let clock = ManualClock()
    let bus = FakeBus()
    let signer = FakeSigner(random: SeededRandom(seed: 5))
    let log = RecordingLog()
    let gateway: Gateway
    private let seed: Secret<[UInt8]>
    private let strangerSeed: Secret<[UInt8]>
    private let consumed = Lock<Set<String>>([])

    struct FixedKeys: AccessTokenKeys {
        let set: JSONWebKeySet

        func key(_ keyID: String) async throws(ServiceFailure) -> JSONWebKey? { set[keyID] }
    }

    /// - Parameter device: where tokens of the issuer tell the number.
    init(
        issuer name: String = "https://operator.example", audience: String = "gateway",
        device: AccessTokenIssuer.Device = .carrierToken(claim: "carrier_token"),
        messages: [String] = [], keys: (any AccessTokenKeys)? = nil,
        parser: any PhoneNumberParser = FakePhoneNumberParser()
    ) {
        let (seed, publicKey) = signer.generateKeyPair()
        self.seed = seed
        strangerSeed = signer.generateKeyPair().seed
        let set = JSONWebKeySet(keys: [JSONWebKey(keyID: "k1", material: .ed25519(publicKey))])
        let issuer = AccessTokenIssuer(
            name: name, audience: audience,
            client: .fixed(owner: Self.owner, schemeCode: Self.schemeCode), device: device,
            messages: messages, keys: keys ?? FixedKeys(set: set))
        let edge = CamaraEdge(
            bus: bus,
            tokens: AccessTokenVerifier(
                issuers: [issuer], signer: signer, foreign: NoForeignSignatures(), clock: clock),
            phoneNumbers: parser, signer: signer, pause: clock, metrics: NoMetrics())
        guard let proxies = TrustedProxies([]) else { preconditionFailure("none is a list") }
        gateway = Gateway(
            edges: [edge, RestEdge()], proxies: proxies, random: SeededRandom(seed: 9),
            pause: clock, metrics: NoMetrics(), log: Log(log))
        serveTokens()
    }

    /// Single use, as the token service keeps it.
    private func serveTokens() {
        bus.on(ConsumeToken.self) { [consumed] request, _ throws(ServiceFailure) in
            ConsumedToken(
                fresh: consumed.withLock {
                    $0.insert("\(request.issuer) \(request.tokenId)").inserted
                })
        }
    }

    // MARK: Tokens

    /// Claims of a good token of five minutes; `changes` replaces claims, nil takes one away.
    func claims(_ changes: [String: Any?] = [:]) -> [String: Any] {
        let now = clock.now().millisecondsSince1970 / 1000
        var claims: [String: Any] = [
            "iss": "https://operator.example", "sub": "phone-1", "aud": "gateway",
            "client_id": "app", "scope": Self.allScopes, "amr": ["nba"], "iat": now,
            "exp": now + 300, "jti": "jti-1", "carrier_token": Self.carrierToken,
        ]
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    func token(
        _ changes: [String: Any?] = [:],
        header: [String: Any] = ["alg": "EdDSA", "kid": "k1", "typ": "at+jwt"],
        isForged: Bool = false
    ) -> String {
        sign(header: json(header), claims: json(claims(changes)), isForged: isForged)
    }

    func sign(header: Data, claims: Data, isForged: Bool = false) -> String {
        let input = Base64URL.encode(Array(header)) + "." + Base64URL.encode(Array(claims))
        let seed = isForged ? strangerSeed : seed
        let signature = signer.sign(Array(input.utf8), seed: seed) ?? []
        return "\(input).\(Base64URL.encode(signature))"
    }

    func json(_ value: [String: Any]) -> Data {
        (try? JSONSerialization.data(withJSONObject: value)) ?? Data()
    }

    // MARK: Requests

    struct Answer {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        private struct ErrorBody: Decodable {
            let status: Int
            let code: String
            let message: String
        }

        private var error: ErrorBody? {
            try? JSONDecoder().decode(ErrorBody.self, from: Data(text.utf8))
        }

        /// Of a body that is an error in CAMARA's form and repeats its status.
        var code: String? {
            guard let error, error.status == status, !error.message.isEmpty,
                error.message.count <= 512, headers["content-type"] == "application/json"
            else { return nil }
            return error.code
        }

        var message: String? { error?.message }
    }

    func ask(
        _ method: String, _ path: String, _ body: String = "", token: String? = nil,
        _ headers: [String: String] = [:]
    ) async -> Answer {
        var fields = HTTPHeaders()
        if let token { fields.add("Authorization", "Bearer \(token)") }
        if !body.isEmpty, headers["Content-Type"] == nil {
            fields.add("Content-Type", "application/json")
        }
        for name in headers.keys.sorted() { fields.add(name, headers[name] ?? "") }
        let response = await gateway.answer(
            HTTPRequest(
                head: HTTPRequestHead(method: method, path: path, headers: fields),
                body: Array(body.utf8)))
        return Answer(
            status: response.status, headers: response.headers,
            text: String(decoding: response.bytes ?? [], as: UTF8.self))
    }

    func send(
        _ body: String = #"{"phoneNumber":"+14155552671","message":"{{code}} is it"}"#
    ) async -> Answer {
        await ask("POST", "/one-time-password-sms/v1/send-code", body, token: token())
    }

    func validate(_ id: String, _ code: String = "123456") async -> Answer {
        await ask(
            "POST", "/one-time-password-sms/v1/validate-code",
            #"{"authenticationId":"\#(id)","code":"\#(code)"}"#, token: token())
    }

    func verify(
        _ body: String = #"{"phoneNumber":"+14155552671"}"#, token: String? = nil
    ) async -> Answer {
        await ask("POST", "/number-verification/v2/verify", body, token: token ?? self.token())
    }

    func devicePhoneNumber(_ token: String? = nil) async -> Answer {
        await ask(
            "GET", "/number-verification/v2/device-phone-number", token: token ?? self.token())
    }
}

/// Speaks for every other path.
private struct RestEdge: Edge {
    let prefixes = ["/"]
    let routes: [Route] = []

    func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse {
        .text(404, "rest")
    }
}

/// For issuers that sign with Ed25519 alone.
struct NoForeignSignatures: SignatureVerifier {
    func isValid(
        signature: [UInt8], of message: [UInt8], key: ForeignKey, algorithm: ForeignAlgorithm
    ) -> Bool { false }
}
