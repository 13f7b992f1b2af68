import Effects
import Foundation
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

private let operations = [
    ("POST", "/one-time-password-sms/v1/send-code"),
    ("POST", "/one-time-password-sms/v1/validate-code"),
    ("POST", "/number-verification/v2/verify"),
    ("GET", "/number-verification/v2/device-phone-number"),
]

@Suite("CAMARA: what every answer has")
struct CamaraAnswerTests {
    private let world = CamaraWorld()

    @Test("x-correlator is echoed in every answer, refusals of the gateway included")
    func correlator() async {
        let word = "b4333c46_:;./<>{}-x"
        for (method, path) in operations {
            for (method, path) in [(method, path), ("PUT", path), (method, path + "/x")] {
                let answer = await world.ask(method, path, "", ["X-Correlator": word])
                #expect(answer.headers["x-correlator"] == word, "\(method) \(path)")
                #expect(answer.status >= 400)
            }
        }
        let tooLarge = world.gateway.refuse(
            .bodyTooLarge(bytesMax: 1),
            HTTPRequestHead(
                method: "POST", path: operations[0].1, headers: ["x-correlator": word]))
        #expect(tooLarge.status == 413 && tooLarge.headers["x-correlator"] == word)
    }

    @Test(
        "a correlator that does not fit is 400, and a fresh one is answered",
        arguments: ["a b", "ü", "a,b", String(repeating: "a", count: 257)])
    func badCorrelator(_ word: String) async {
        for (method, path) in operations {
            let answer = await world.ask(
                method, path, token: world.token(), ["x-correlator": word])
            #expect(answer.code == "INVALID_ARGUMENT")
            #expect(answer.headers["x-correlator"] == answer.headers["x-request-id"])
        }
    }

    @Test("without a correlator, or with an empty one, a UUID is answered")
    func freshCorrelator() async {
        for headers in [[:], ["x-correlator": ""]] {
            let answer = await world.ask(operations[0].0, operations[0].1, "", headers)
            #expect(answer.headers["x-correlator"]?.utf8.count == 36)
            #expect(answer.code == "UNAUTHENTICATED")
        }
    }

    @Test("another path is 404, another method 405, in CAMARA's form")
    func refusals() async {
        #expect(await world.ask("GET", "/number-verification/v2/other").code == "NOT_FOUND")
        #expect(await world.ask("GET", "/one-time-password-sms/v1").code == "NOT_FOUND")
        let answer = await world.ask("GET", "/number-verification/v2/verify")
        #expect(answer.code == "METHOD_NOT_ALLOWED" && answer.headers["allow"] == "POST")
        #expect(await world.ask("GET", "/number-verification/v3/verify").text == "rest")
    }

    private static let badBodies = [
        "{}", "[]", "null", "\"x\"", "{", "{\"a\":1}", "{\"a\":1,}", "{}{}", "\u{feff}{}",
    ]

    @Test("a body that is no object of the schema is 400", arguments: badBodies)
    func bodies(_ body: String) async {
        for (method, path) in operations.prefix(3) {
            let answer = await world.ask(method, path, body, token: world.token())
            #expect(answer.code == "INVALID_ARGUMENT", "\(path) \(body)")
        }
        #expect(world.bus.requests(ConsumeToken.self).isEmpty)
    }

    @Test("no body is 400, another media type or an encoded body 415")
    func mediaTypes() async {
        for (method, path) in operations.prefix(3) {
            for headers in [[:], ["Content-Type": "application/json"]] {
                let missing = await world.ask(method, path, token: world.token(), headers)
                #expect(missing.code == "INVALID_ARGUMENT")
            }
            for headers in [
                ["Content-Type": "text/plain"],
                ["Content-Type": "application/x-www-form-urlencoded"],
                ["Content-Type": "application/json; charset=utf-16"],
                ["Content-Type": "application/json", "Content-Encoding": "gzip"],
            ] {
                let answer = await world.ask(method, path, "{}", token: world.token(), headers)
                #expect(answer.code == "UNSUPPORTED_MEDIA_TYPE", "\(headers)")
            }
        }
    }
}

@Suite("CAMARA: access tokens")
struct CamaraTokenTests {
    private let world = CamaraWorld()

    private func answers(_ token: String?, _ headers: [String: String] = [:]) async
        -> [CamaraWorld.Answer]
    {
        var answers: [CamaraWorld.Answer] = []
        for (method, path) in operations {
            answers.append(await world.ask(method, path, token: token, headers))
        }
        return answers
    }

    @Test("no token is 401 with a bare challenge")
    func missing() async {
        for answer in await answers(nil) {
            #expect(answer.code == "UNAUTHENTICATED")
            #expect(answer.headers["www-authenticate"] == "Bearer realm=\"fusionbus\"")
        }
    }

    @Test(
        "anything but one bearer token is 401",
        arguments: ["Basic YTpi", "Bearer", "Bearer a b", "bearer x.y.z", "Bearer a.b.c.d", ""])
    func malformed(_ value: String) async {
        for answer in await answers(nil, ["Authorization": value]) {
            #expect(answer.code == "UNAUTHENTICATED")
            #expect(answer.headers["www-authenticate"]?.contains("invalid_token") == true)
        }
    }

    @Test("expired, forged, of another issuer or for another audience: one answer for all")
    func refused() async {
        let now = world.clock.now().millisecondsSince1970 / 1000
        let changes: [[String: Any?]] = [
            ["exp": now], ["exp": now - 1], ["exp": nil], ["exp": "soon"], ["exp": 1e300],
            ["iat": now + 61], ["nbf": now + 61], ["iss": "https://elsewhere.example"],
            ["iss": nil], ["aud": "other"], ["aud": nil], ["aud": ["a", "b"]],
        ]
        var tokens = changes.map { world.token($0) }
        let good = world.token()
        tokens += [world.token(isForged: true), good + "A", String(good.dropLast()), good + "="]
        tokens.append(good.split(separator: ".").prefix(2).joined(separator: ".") + ".")
        var messages: Set<String> = []
        for token in tokens {
            for answer in await answers(token) {
                #expect(answer.code == "UNAUTHENTICATED", "\(token)")
                messages.insert(answer.message ?? "")
            }
        }
        #expect(messages.count == 1)
        #expect(world.bus.requests(ConsumeToken.self).isEmpty)
    }

    @Test("issuer and audience are compared to the letter: a Kelvin sign is no K")
    func letters() async {
        let world = CamaraWorld(issuer: "https://K.example", audience: "K")
        let names: [(issuer: String, audience: String, isOurs: Bool)] = [
            ("https://K.example", "K", true), ("https://\u{212a}.example", "K", false),
            ("https://K.example", "\u{212a}", false),
        ]
        for (index, name) in names.enumerated() {
            let changes = ["iss": name.issuer, "aud": name.audience, "jti": "jti-\(index)"]
            let answer = await world.verify("{}", token: world.token(changes))
            #expect((answer.status != 401) == name.isOurs)
        }
    }

    @Test("the header chooses neither algorithm nor key, and nothing critical is passed over")
    func headers() async {
        let headers: [[String: Any]] = [
            ["alg": "none", "kid": "k1"], ["alg": "NONE", "kid": "k1"],
            ["alg": "HS256", "kid": "k1"], ["alg": "RS256", "kid": "k1"],
            ["alg": "ES256", "kid": "k1"], ["alg": "eddsa", "kid": "k1"], ["kid": "k1"],
            ["alg": "EdDSA"], ["alg": "EdDSA", "kid": ""], ["alg": "EdDSA", "kid": "k2"],
            ["alg": "EdDSA", "kid": "k1", "crit": ["exp"]],
            ["alg": "EdDSA", "kid": "k1", "crit": []],
            ["alg": "EdDSA", "kid": "k1", "b64": false],
            ["alg": "EdDSA", "kid": "k1", "typ": "dpop+jwt"],
        ]
        for header in headers {
            for answer in await answers(world.token(header: header)) {
                #expect(answer.code == "UNAUTHENTICATED", "\(header)")
            }
        }
        for header in [
            ["alg": "EdDSA", "kid": "k1"], ["alg": "Ed25519", "kid": "k1", "typ": "JWT"],
        ] {
            let answer = await world.ask(
                operations[0].0, operations[0].1, token: world.token(header: header))
            #expect(answer.code == "INVALID_ARGUMENT", "\(header)")
        }
    }

    @Test("a name that is there twice, in header or claims, is no token")
    func twice() async {
        let good = String(decoding: world.json(world.claims()), as: UTF8.self)
        let header = #"{"alg":"EdDSA","kid":"k1"}"#
        let tokens = [
            world.sign(header: Data(header.utf8), claims: Data(good.utf8)),
            world.sign(
                header: Data(#"{"alg":"EdDSA","kid":"k1","alg":"none"}"#.utf8),
                claims: Data(good.utf8)),
            world.sign(
                header: Data(header.utf8),
                claims: Data((#"{"scope":"x","# + good.dropFirst()).utf8)),
        ]
        var codes: [String?] = []
        for token in tokens {
            codes.append(await world.ask(operations[0].0, operations[0].1, token: token).code)
        }
        #expect(codes == ["INVALID_ARGUMENT", "UNAUTHENTICATED", "UNAUTHENTICATED"])
    }

    @Test("a clock up to a minute ahead, a list of audiences and of scopes are taken")
    func lenient() async {
        let now = world.clock.now().millisecondsSince1970 / 1000
        for changes: [String: Any?] in [
            ["iat": now + 60, "nbf": now + 60], ["aud": ["other", "gateway"]],
            ["scope": ["one-time-password-sms:send-validate", "openid"]],
            ["exp": Double(now) + 1.5],
        ] {
            let answer = await world.ask(
                operations[0].0, operations[0].1, token: world.token(changes))
            #expect(answer.code == "INVALID_ARGUMENT", "\(changes)")
        }
    }

    @Test("a token without the operation's scope is 403, and names the scope")
    func scopes() async {
        for (index, scope) in [
            "one-time-password-sms:send-validate", "one-time-password-sms:send-validate",
            "number-verification:verify", "number-verification:device-phone-number:read",
        ].enumerated() {
            let (method, path) = operations[index]
            let others = CamaraWorld.allScopes.split(separator: " ").filter { $0 != scope }
            for words: Any? in [others.joined(separator: " "), "", nil, "\(scope)x", 7] {
                let answer = await world.ask(
                    method, path, token: world.token(["scope": words]))
                // A scope of the wrong kind makes the token unreadable.
                #expect(answer.code == (words is Int ? "UNAUTHENTICATED" : "PERMISSION_DENIED"))
                #expect(answer.status == (words is Int ? 401 : 403))
            }
        }
    }

    @Test("keys that cannot be asked for are 503, not 401")
    func unavailable() async {
        struct NoKeys: AccessTokenKeys {
            func key(_ keyID: String) async throws(ServiceFailure) -> JSONWebKey? {
                throw ServiceFailure(.unavailable, "gone")
            }
        }
        let world = CamaraWorld(keys: NoKeys())
        let answer = await world.send()
        #expect(answer.code == "UNAVAILABLE" && answer.headers["retry-after"] == "1")
    }

    @Test("no token, code or number in the log")
    func log() async {
        let token = world.token()
        _ = await world.verify(token: token)
        _ = await world.validate("\(CamaraWorld.challenge.text).0")
        let lines = world.log.lines.joined(separator: "\n")
        #expect(!lines.isEmpty)
        for secret in [token, "123456", "4155552671", CamaraWorld.carrierToken] {
            #expect(!lines.contains(secret))
        }
    }
}
