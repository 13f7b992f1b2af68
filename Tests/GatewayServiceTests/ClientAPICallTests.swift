import Bus
import Foundation
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@Suite("Client API: from path to message and back")
struct ClientAPICallTests {
    private let world: ClientAPIWorld

    init() throws { world = try ClientAPIWorld() }

    @Test("a session tells what the token is for, the time, and the scheme's templates")
    func session() async throws {
        let answer = await world.ask("GET", "/client/v1/session", ClientAPIWorld.bearer)
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
        #expect(answer.headers["cache-control"] == "no-store")
        let session = try JSONDecoder().decode(
            ClientSession.self, from: Data(try #require(answer.bytes)))
        #expect(session.schemeCode == "FA00000000000001" && session.platform == .ios)
        #expect(session.app == "com.example.app")
        #expect(session.expiresAtMilliseconds == 1_800_000_900_000)
        #expect(session.serverTimeMilliseconds == world.clock.now().millisecondsSince1970)
        #expect(session.templates.map(\.templateId) == ["100001"])
        #expect(world.bus.requests(ListTemplates.self).first?.schemeCode == "FA00000000000001")
    }

    @Test("the bound number, the owner and the token's id do not pass the gateway")
    func nothingMore() async throws {
        let answer = await world.ask("GET", "/client/v1/session", ClientAPIWorld.bearer)
        let names = Set(try ClientAPIWorld.json(answer).keys)
        #expect(
            names == [
                "schemeCode", "platform", "app", "issuedAtMilliseconds", "expiresAtMilliseconds",
                "serverTimeMilliseconds", "templates",
            ])
        let text = String(decoding: try #require(answer.bytes), as: UTF8.self)
        #expect(!text.contains("4155550100") && !text.contains("alice"))
    }

    @Test("every call is made as the gateway alone, whatever else this account may be")
    func asGateway() async throws {
        _ = await world.ask("GET", "/client/v1/session", ClientAPIWorld.bearer)
        _ = await world.ask("GET", ClientAPIWorld.run)
        _ = await world.ask("POST", "\(ClientAPIWorld.run)/stop")
        let options =
            world.bus.options(of: IntrospectAuthToken.self)
            + world.bus.options(of: ListTemplates.self) + world.bus.options(of: GetScene.self)
            + world.bus.options(of: StopScene.self)
        #expect(options.count == 4)
        #expect(options.allSatisfy { $0.onBehalfOf?.role == "gateway" })
        #expect(options.allSatisfy { $0.traceID.count == 16 && $0.spanID.count == 8 })
    }

    @Test("a start brings the token, what the body says, and where the request came from")
    func start() async throws {
        let body = """
            {"templateId":"100001","deviceId":"d1","capabilities":{"graphic":true},"locale":"de"}
            """
        let answer = await world.ask(
            "POST", "/client/v1/scenes", ClientAPIWorld.known, body)
        #expect(answer.status == 201)
        #expect(answer.headers["location"] == ClientAPIWorld.run)
        #expect(try ClientAPIWorld.json(answer)["runKey"] as? String == ClientAPIWorld.runKey)
        let request = try #require(world.bus.requests(StartScene.self).first)
        #expect(request.authToken.reveal() == ClientAPIWorld.token)
        #expect(request.templateId == "100001" && request.deviceId == "d1")
        #expect(request.capabilities == ClientCapabilities(graphic: true))
        #expect(request.locale == "de" && request.address == "192.0.2.7")
    }

    @Test(
        "F126 F127 the address is the last that no trusted proxy wrote, whatever stands before it",
        arguments: [
            ("192.0.2.7", "9.9.9.9", "192.0.2.7"),
            ("10.0.0.1", "9.9.9.9, 198.51.100.4", "198.51.100.4"),
            ("10.0.0.1", "unknown", "unknown"), ("127.0.0.1", "9.9.9.9", "unknown"),
            ("10.0.0.1", "2001:db8::7", "2001:db8::7"),
        ])
    func address(_ peer: String, _ forwarded: String, _ expected: String) async throws {
        var headers = ClientAPIWorld.known
        headers.set("X-Forwarded-For", forwarded)
        _ = await world.ask(
            "POST", "/client/v1/scenes", headers, #"{"templateId":"100001"}"#, peer: peer)
        #expect(world.bus.requests(StartScene.self).first?.address == expected)
    }

    @Test("a client does not name its own address")
    func ownAddress() async throws {
        let answer = await world.ask(
            "POST", "/client/v1/scenes", ClientAPIWorld.known,
            #"{"templateId":"100001","address":"192.0.2.9"}"#)
        #expect(try ClientAPIWorld.problem(answer).field == "address")
        #expect(world.bus.requests(StartScene.self).isEmpty)
    }

    @Test("each move brings token, run, key, step and its word")
    func moves() async throws {
        let run = ClientAPIWorld.run
        let known = ClientAPIWorld.known
        let answers = [
            await world.ask(
                "POST", "\(run)/input", known, #"{"step":3,"input":{"code":"012345"}}"#),
            await world.ask("POST", "\(run)/continue", known, #"{"step":4,"isSuccess":true}"#),
            await world.ask("POST", "\(run)/halfway", known, #"{"step":5,"isSuccess":false}"#),
            await world.ask("POST", "\(run)/stop", known, "{}"),
            await world.ask("GET", run),
        ]
        #expect(answers.allSatisfy { $0.status == 200 })
        let submit = try #require(world.bus.requests(SubmitInput.self).first)
        #expect(submit.step == 3 && submit.input == NodeInput(code: "012345"))
        #expect(submit.authToken.reveal() == ClientAPIWorld.token)
        #expect(submit.runId == ClientAPIWorld.runId)
        #expect(submit.runKey.reveal() == ClientAPIWorld.runKey)
        let proceed = try #require(world.bus.requests(ContinueScene.self).first)
        #expect(proceed.step == 4 && proceed.isSuccess)
        let halfway = try #require(world.bus.requests(AnswerHalfway.self).first)
        #expect(halfway.step == 5 && !halfway.isSuccess)
        #expect(world.bus.requests(StopScene.self).count == 1)
        let get = try #require(world.bus.requests(GetScene.self).first)
        #expect(get.authToken != nil && get.runKey != nil && get.sinceSequence == nil)
    }

    @Test("a stop needs no body and no type of it")
    func bareStop() async {
        var headers = ClientAPIWorld.bearer
        headers.set("X-Run-Key", ClientAPIWorld.runKey)
        #expect(await world.ask("POST", "\(ClientAPIWorld.run)/stop", headers).status == 200)
    }

    @Test("an idempotency key becomes the request key; without one there is none")
    func requestKeys() async {
        var headers = ClientAPIWorld.known
        _ = await world.ask("POST", "\(ClientAPIWorld.run)/stop", headers)
        headers.set("Idempotency-Key", "\"k-1\"")
        _ = await world.ask("POST", "\(ClientAPIWorld.run)/stop", headers)
        #expect(world.bus.options(of: StopScene.self).map(\.requestKey) == [nil, "\"k-1\""])
    }

    @Test(
        "an idempotency key that is none is refused by name",
        arguments: ["", " ", "a b", "ключ", String(repeating: "k", count: 129)])
    func badRequestKeys(_ key: String) async throws {
        var headers = ClientAPIWorld.known
        headers.set("Idempotency-Key", key)
        let answer = await world.ask("POST", "\(ClientAPIWorld.run)/stop", headers)
        #expect(answer.status == 400)
        #expect(try ClientAPIWorld.problem(answer).field == "Idempotency-Key")
        #expect(world.bus.requests(StopScene.self).isEmpty)
    }

    @Test("a missing run key is named; one that cannot be ours is as unknown as a wrong one")
    func runKeys() async throws {
        let missing = await world.ask("GET", ClientAPIWorld.run, ClientAPIWorld.bearer)
        #expect(missing.status == 400)
        #expect(try ClientAPIWorld.problem(missing).field == "X-Run-Key")
        var headers = ClientAPIWorld.bearer
        headers.set("X-Run-Key", String(repeating: "k", count: 129))
        let large = try ClientAPIWorld.problem(await world.ask("GET", ClientAPIWorld.run, headers))
        world.bus.on(GetScene.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.runNotFound, "there is no such run", field: "runId")
        }
        headers.set("X-Run-Key", "wrong")
        let wrong = try ClientAPIWorld.problem(await world.ask("GET", ClientAPIWorld.run, headers))
        let odd = try ClientAPIWorld.problem(
            await world.ask("GET", "/client/v1/scenes/run_x", ClientAPIWorld.known))
        for problem in [large, wrong, odd] {
            #expect(problem.status == 404 && problem.code == "run_not_found")
            #expect(problem.detail == wrong.detail && problem.field == "runId")
        }
    }
}

@Suite("Client API: refusals")
struct ClientAPIRefusalTests {
    private let world: ClientAPIWorld

    init() throws { world = try ClientAPIWorld() }

    @Test("without a token the challenge names no error, and nothing is asked")
    func noToken() async throws {
        for (method, path) in [
            ("GET", "/client/v1/session"), ("POST", "/client/v1/scenes"),
            ("GET", ClientAPIWorld.run), ("POST", "\(ClientAPIWorld.run)/input"),
            ("POST", "\(ClientAPIWorld.run)/continue"), ("POST", "\(ClientAPIWorld.run)/halfway"),
            ("POST", "\(ClientAPIWorld.run)/stop"), ("GET", "\(ClientAPIWorld.run)/events"),
        ] {
            let answer = await world.ask(method, path, ["X-Run-Key": ClientAPIWorld.runKey])
            #expect(answer.status == 401, "\(path)")
            #expect(answer.headers["www-authenticate"] == #"Bearer realm="fusionbus""#)
            #expect(try ClientAPIWorld.problem(answer).code == "token_invalid")
        }
        #expect(world.bus.requests(GetScene.self).isEmpty)
        #expect(world.bus.requests(IntrospectAuthToken.self).isEmpty)
    }

    @Test(
        "what is not one bearer token is refused unasked",
        arguments: [
            "Basic YTpi", "Bearer", "Bearer ", "Bearer a b", "Bearer a,b", "Bearer é",
            "Bearer " + String(repeating: "a", count: 2_049), "eyJh.eyJz.c2ln",
        ])
    func malformed(_ value: String) async throws {
        let answer = await world.ask("GET", "/client/v1/session", ["Authorization": value])
        #expect(answer.status == 401)
        #expect(
            answer.headers["www-authenticate"]
                == #"Bearer realm="fusionbus", error="invalid_token""#)
        #expect(world.bus.requests(IntrospectAuthToken.self).isEmpty)
    }

    @Test("two Authorization fields are refused; the scheme's case does not count")
    func fields() async {
        var twice = ClientAPIWorld.bearer
        twice.add("authorization", "Bearer other")
        #expect(await world.ask("GET", "/client/v1/session", twice).status == 401)
        let lower: HTTPHeaders = ["authorization": "bearer \(ClientAPIWorld.token)"]
        #expect(await world.ask("GET", "/client/v1/session", lower).status == 200)
    }

    @Test(
        "an inactive token opens no session, and the answer says why",
        arguments: [
            (TokenInactivity.malformed, 401, "token_invalid"), (.unknown, 401, "token_invalid"),
            (.expired, 401, "token_expired"), (.revoked, 401, "token_revoked"),
            (.schemeDisabled, 403, "scheme_disabled"),
        ])
    func inactive(_ reason: TokenInactivity, _ status: Int, _ code: String) async throws {
        world.bus.on(IntrospectAuthToken.self) { _, _ in
            TokenState(active: false, reason: reason)
        }
        let answer = await world.ask("GET", "/client/v1/session", ClientAPIWorld.bearer)
        #expect(answer.status == status)
        #expect(try ClientAPIWorld.problem(answer).code == code)
        #expect((answer.headers["www-authenticate"] != nil) == (status == 401))
        #expect(world.bus.requests(ListTemplates.self).isEmpty)
    }

    /// The table of the contract.
    static let statuses: [(ErrorCode, Int)] = [
        (.tokenInvalid, 401), (.tokenExpired, 401), (.tokenRevoked, 401), (.notAllowed, 403),
        (.appMismatch, 403), (.schemeDisabled, 403), (.actionForbidden, 403),
        (.keyInactive, 403), (.schemeNotFound, 404), (.keyNotFound, 404),
        (.challengeNotFound, 404), (.runNotFound, 404), (.templateNotFound, 404),
        (.methodNotFound, 404), (.conflict, 409), (.versionConflict, 409), (.runEnded, 409),
        (.passNotOnRecord, 409), (.inputNotExpected, 409), (.belongsToRun, 409),
        (.invalidParameters, 400), (.numberInvalid, 400), (.numberMismatch, 400),
        (.textRefused, 400), (.policyRefused, 400), (.rateLimited, 429), (.cooldown, 429),
        (.numberLimit, 429), (.addressLimit, 429), (.tooMany, 429), (.guessesExhausted, 429),
        (.providerRefused, 502), (.providerUnavailable, 502), (.carrierUnavailable, 502),
        (.unavailable, 503), (.overloaded, 503), (.workerLost, 503), (.deadlinePassed, 504),
        (.internalFault, 500), (ErrorCode(rawValue: "of_tomorrow"), 500),
        (ErrorCode(rawValue: "thing_not_found"), 404),
    ]

    @Test("every code has its status, its text and its title", arguments: statuses)
    func table(_ code: ErrorCode, _ status: Int) async throws {
        world.bus.on(ContinueScene.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(code, "why", field: "isSuccess")
        }
        let answer = await world.ask(
            "POST", "\(ClientAPIWorld.run)/continue", ClientAPIWorld.known,
            #"{"step":1,"isSuccess":true}"#)
        let problem = try ClientAPIWorld.problem(answer)
        #expect(answer.status == status && problem.code == code.rawValue)
        #expect(problem.field == (status < 500 ? "isSuccess" : nil) && !problem.title.isEmpty)
        #expect(problem.retryAfterMilliseconds == nil)
        #expect(answer.headers["retry-after"] == ([503, 504].contains(status) ? "1" : nil))
        #expect((answer.headers["www-authenticate"] != nil) == (status == 401))
        // What a fault of ours says is for the log.
        #expect(problem.detail.contains("why") == (status < 500))
    }

    @Test(
        "F106 F107 a limit is 429, names itself, and tells when: whole seconds, rounded up",
        arguments: [(1, "1"), (999, "1"), (1_000, "1"), (1_001, "2"), (54_321, "55")])
    func retryAfter(_ milliseconds: Int64, _ seconds: String) async throws {
        world.bus.on(StartScene.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(
                .addressLimit, "too many", field: "address", retryAfterMilliseconds: milliseconds)
        }
        let answer = await world.ask(
            "POST", "/client/v1/scenes", ClientAPIWorld.known, #"{"templateId":"100001"}"#)
        #expect(answer.status == 429 && answer.headers["retry-after"] == seconds)
        let problem = try ClientAPIWorld.problem(answer)
        #expect(problem.code == "address_limit" && problem.title == "Too Many Requests")
        #expect(problem.retryAfterMilliseconds == milliseconds)
    }

    @Test("no wait is told where there is none")
    func noWait() async throws {
        world.bus.on(StartScene.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.tooMany, "many", retryAfterMilliseconds: 0)
        }
        let answer = await world.ask(
            "POST", "/client/v1/scenes", ClientAPIWorld.known, #"{"templateId":"100001"}"#)
        #expect(answer.headers["retry-after"] == nil)
        #expect(try ClientAPIWorld.problem(answer).retryAfterMilliseconds == nil)
    }

    @Test("fields of the bus go by their names in HTTP")
    func names() async throws {
        for (field, name) in [
            ("authToken", "Authorization"), ("runKey", "X-Run-Key"),
            ("meta.requestKey", "Idempotency-Key"), ("input.number", "input.number"),
        ] {
            world.bus.on(StopScene.self) { _, _ throws(ServiceFailure) in
                throw ServiceFailure(.invalidParameters, "why", field: field)
            }
            let answer = await world.ask("POST", "\(ClientAPIWorld.run)/stop")
            #expect(try ClientAPIWorld.problem(answer).field == name)
        }
    }

    @Test("F049 another method, another path and refusals of the server are problems too")
    func server() async throws {
        let method = await world.ask("GET", "/client/v1/scenes")
        #expect(method.status == 405 && method.headers["allow"] == "OPTIONS, POST")
        #expect(try ClientAPIWorld.problem(method).code == "method_not_allowed")
        let path = await world.ask("GET", "/client/v1/nothing")
        #expect(try ClientAPIWorld.problem(path).code == "path_not_found")
        let head = HTTPRequestHead(method: "POST", path: "/client/v1/scenes")
        for (refusal, status, code): (HTTPRefusal, Int, String) in [
            (.badFraming, 400, "invalid_parameters"),
            (.bodyTooLarge(bytesMax: 32_768), 413, "body_too_large"),
            (.unavailable, 503, "unavailable"),
        ] {
            let problem = try ClientAPIWorld.problem(world.gateway.refuse(refusal, head))
            #expect(problem.status == status && problem.code == code)
        }
        #expect(world.gateway.bodyBytesMax(head) == 32_768)
    }
}
