import Bus
import Effects
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@Suite("CAMARA: One-Time-Password SMS")
struct CamaraPasswordTests {
    private let world = CamaraWorld()

    private func serveSends(_ world: CamaraWorld, sequence: Int = 0) {
        world.bus.on(SendCode.self) { _, _ throws(ServiceFailure) in
            SentCode(
                challengeId: CamaraWorld.challenge,
                messageId: MessageID(random: Array(repeating: 1, count: 16)), delivery: .sent,
                resendAtMilliseconds: 0, sendsLeft: 4, codeSequence: sequence)
        }
    }

    private func failSends(_ failure: ServiceFailure) {
        world.bus.on(SendCode.self) { _, _ throws(ServiceFailure) in throw failure }
    }

    private func serveChecks(_ result: CodeResult) {
        world.bus.on(CheckCode.self) { _, _ throws(ServiceFailure) in CheckedCode(result: result) }
    }

    private let id = "\(CamaraWorld.challenge.text).0"

    // MARK: send-code

    @Test("a send goes out for the issuer's scheme, in the client's wording, in its owner's name")
    func send() async throws {
        serveSends(world, sequence: 37)
        let answer = await world.send()
        #expect(answer.status == 200)
        #expect(answer.text == #"{"authenticationId":"\#(CamaraWorld.challenge.text).11"}"#)
        #expect(answer.headers["content-type"] == "application/json")
        let request = try #require(world.bus.requests(SendCode.self).first)
        #expect(request.schemeCode == CamaraWorld.schemeCode)
        #expect(request.purpose.hasPrefix("camara:") && request.purpose.utf8.count <= 64)
        #expect(request.number == CamaraWorld.number)
        #expect(request.text?.body == "##code## is it")
        #expect(request.duplicatePolicy == .newest && request.returnCode == nil)
        #expect(request.origin == nil)
        let options = try #require(world.bus.options(of: SendCode.self).first)
        #expect(options.onBehalfOf == .integrator(CamaraWorld.owner))
    }

    @Test("codes of two clients of one issuer do not end each other")
    func clientsApart() async {
        serveSends(world)
        for client in ["app", "shop", "app"] {
            _ = await world.ask(
                "POST", "/one-time-password-sms/v1/send-code",
                #"{"phoneNumber":"+14155552671","message":"{{code}} is it"}"#,
                token: world.token(["client_id": client]))
        }
        let purposes = world.bus.requests(SendCode.self).map(\.purpose)
        #expect(purposes.count == 3 && Set(purposes).count == 2)
        #expect(purposes.first == purposes.last)
    }

    @Test(
        "numbers that are not E.164 are 400",
        arguments: [
            "3301", "+3301", "+0123456789", "14155552671", "+1415555267a", "+1234567890123456",
            "+١٤١٥٥٥٥٢٦٧١", "", " +14155552671", "+1 4155552671",
        ])
    func numbers(_ number: String) async {
        serveSends(world)
        let answer = await world.send(#"{"phoneNumber":"\#(number)","message":"{{code}}"}"#)
        #expect(answer.code == "INVALID_ARGUMENT")
        #expect(world.bus.requests(SendCode.self).isEmpty)
    }

    @Test("fields that are missing, null, no texts or not of the schema are 400")
    func shapes() async {
        serveSends(world)
        for body in [
            #"{"phoneNumber":"+14155552671"}"#, #"{"message":"{{code}}"}"#,
            #"{"phoneNumber":"+14155552671","message":null}"#,
            #"{"phoneNumber":14155552671,"message":"{{code}}"}"#,
            #"{"phoneNumber":"+14155552671","message":["{{code}}"]}"#,
            #"{"phoneNumber":"+14155552671","message":"{{code}}","extra":"x"}"#,
            #"{"phoneNumber":"+14155552671","message":"{{code}}","phoneNumber":"+14155552672"}"#,
            #"{"phoneNumber":"+14155552671","message":"no mark {code}"}"#,
            #"{"phoneNumber":"+14155552671","message":""}"#,
        ] {
            #expect(await world.send(body).code == "INVALID_ARGUMENT", "\(body)")
        }
    }

    @Test("no name of the caller's is repeated")
    func names() async {
        let name = "a" + String(repeating: "\u{301}", count: 300)
        for body in [
            #"{"phoneNumber":"+14155552671","message":"{{code}}","\#(name)":"x"}"#,
            #"{"\#(name)":"x","\#(name)":"x"}"#,
        ] {
            let answer = await world.send(body)
            #expect(answer.code == "INVALID_ARGUMENT")
            #expect(answer.message?.unicodeScalars.contains("\u{301}") == false)
            #expect((answer.message?.utf8.count ?? 0) < 160)
        }
    }

    @Test("a message has at most 160 code points")
    func messageLength() async {
        serveSends(world)
        func body(_ filling: String) -> String {
            #"{"phoneNumber":"+14155552671","message":"{{code}}\#(filling)"}"#
        }
        for one in ["x", "é", "码", "😀"] {
            #expect(await world.send(body(String(repeating: one, count: 152))).status == 200)
            let tooLong = await world.send(body(String(repeating: one, count: 153)))
            #expect(tooLong.code == "INVALID_ARGUMENT", "\(one)")
        }
    }

    @Test("every mark becomes the code's place; a caller's own marks of ours change nothing more")
    func marks() async {
        serveSends(world)
        _ = await world.send(
            #"{"phoneNumber":"+14155552671","message":"{{code}} $ {{code}}"}"#)
        #expect(world.bus.requests(SendCode.self).last?.text?.body == "##code## $ ##code##")
    }

    @Test("F099 with approved wordings no other is sent, and links are refused without them")
    func approved() async {
        let strict = CamaraWorld(messages: ["{{code}} is it"])
        serveSends(strict)
        #expect(await strict.send().status == 200)
        let other = #"{"phoneNumber":"+14155552671","message":"Buy now {{code}}"}"#
        #expect(await strict.send(other).code == "INVALID_ARGUMENT")
        #expect(strict.bus.requests(SendCode.self).count == 1)
        failSends(ServiceFailure(.textRefused, "links are not sent", field: "text.body"))
        let link = #"{"phoneNumber":"+14155552671","message":"Buy now http://x {{code}}"}"#
        #expect(await world.send(link).code == "INVALID_ARGUMENT")
    }

    @Test("a landline is not allowed, a number without a plan is invalid")
    func kinds() async {
        struct Plan: PhoneNumberParser {
            func parse(
                _ text: String, defaultRegion: String?
            ) throws(PhoneNumberProblem) -> ParsedPhoneNumber {
                guard text != "+99999", let number = PhoneNumber(e164: text) else {
                    throw .notPossible
                }
                return ParsedPhoneNumber(
                    number: number, region: "DE", countryCode: 49, isKnownToPlan: true,
                    kind: text.hasPrefix("+4930") ? .fixedLine : .mobile)
            }
        }
        let world = CamaraWorld(parser: Plan())
        serveSends(world)
        let landline = await world.send(
            #"{"phoneNumber":"+493012345678","message":"{{code}}"}"#)
        #expect(landline.status == 403)
        #expect(landline.code == "ONE_TIME_PASSWORD_SMS.PHONE_NUMBER_NOT_ALLOWED")
        let nowhere = await world.send(#"{"phoneNumber":"+99999","message":"{{code}}"}"#)
        #expect(nowhere.code == "INVALID_ARGUMENT")
        #expect(world.bus.requests(SendCode.self).isEmpty)
    }

    private static let otp = "ONE_TIME_PASSWORD_SMS."

    private static let refusals: [(ServiceFailure, Int, String, String?)] = [
        (
            ServiceFailure(
                .numberLimit, "x", field: "hour", retryAfterMilliseconds: 1_800_001), 403,
            otp + "MAX_OTP_CODES_EXCEEDED", "1801"
        ),
        (
            ServiceFailure(.numberLimit, "x", field: "day_all_schemes"), 403,
            otp + "MAX_OTP_CODES_EXCEEDED", nil
        ),
        (
            ServiceFailure(.cooldown, "x", retryAfterMilliseconds: 60_000), 429,
            "TOO_MANY_REQUESTS", "60"
        ),
        (
            ServiceFailure(.guessesExhausted, "x", retryAfterMilliseconds: 5_000), 429,
            "QUOTA_EXCEEDED", "5"
        ),
        (
            ServiceFailure(.providerRefused, "x", field: "blocked_by_carrier"), 403,
            otp + "PHONE_NUMBER_BLOCKED", nil
        ),
        (
            ServiceFailure(.providerRefused, "x", field: "sms_not_supported"), 403,
            otp + "PHONE_NUMBER_NOT_ALLOWED", nil
        ),
        (ServiceFailure(.providerRefused, "x", field: "unknown_subscriber"), 404, "NOT_FOUND", nil),
        (ServiceFailure(.providerRefused, "x"), 403, otp + "PHONE_NUMBER_BLOCKED", nil),
        (ServiceFailure(.schemeDisabled, "x"), 403, "PERMISSION_DENIED", nil),
        (ServiceFailure(.schemeNotFound, "x"), 403, "PERMISSION_DENIED", nil),
        (ServiceFailure(.overloaded, "x"), 503, "UNAVAILABLE", "1"),
        (ServiceFailure(.unavailable, "x"), 503, "UNAVAILABLE", "1"),
        (ServiceFailure(.deadlinePassed, "x"), 504, "TIMEOUT", nil),
        (ServiceFailure(.internalFault, "secret detail"), 500, "INTERNAL", nil),
    ]

    @Test("each refusal of a send has its own status, code and wait", arguments: refusals)
    func refused(
        _ failure: ServiceFailure, _ status: Int, _ code: String, _ retryAfter: String?
    ) async {
        failSends(failure)
        let answer = await world.send()
        #expect(answer.status == status && answer.code == code)
        #expect(answer.headers["retry-after"] == retryAfter)
        #expect(answer.message?.contains("secret detail") == false)
    }

    @Test("a second send within the gap waits for its turn, once")
    func turn() async {
        let calls = Lock(0)
        world.bus.on(SendCode.self) { _, _ throws(ServiceFailure) in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            guard call > 1 else {
                throw ServiceFailure(.cooldown, "x", retryAfterMilliseconds: 900)
            }
            throw ServiceFailure(.cooldown, "x", retryAfterMilliseconds: 1_000)
        }
        async let answer = world.send()
        while world.clock.sleepersCount == 0 { await Task.yield() }
        world.clock.advance(.milliseconds(900))
        let refused = await answer
        #expect(refused.code == "TOO_MANY_REQUESTS" && refused.headers["retry-after"] == "1")
        #expect(calls.withLock(\.self) == 2)
    }

    // MARK: validate-code

    @Test("a right code is 204 without a body, asked for in the owner's name")
    func accepted() async throws {
        serveChecks(.accepted)
        let answer = await world.validate(id)
        #expect(answer.status == 204 && answer.text.isEmpty)
        #expect(answer.headers["x-correlator"] != nil)
        let request = try #require(world.bus.requests(CheckCode.self).first)
        #expect(request.challengeId == CamaraWorld.challenge && request.codeSequence == 0)
        #expect(request.number == nil && request.code == "123456")
        let options = try #require(world.bus.options(of: CheckCode.self).first)
        #expect(options.onBehalfOf == .integrator(CamaraWorld.owner))
    }

    @Test("a check names scheme and purpose of the client that asks, as its send did")
    func checkedForItsClient() async throws {
        serveSends(world)
        world.bus.on(CheckCode.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.invalidParameters, "x", field: "code")
        }
        world.bus.on(GetCodeStatus.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.challengeNotFound, "x")
        }
        _ = await world.send()
        let purpose = try #require(world.bus.requests(SendCode.self).first?.purpose)
        for client in ["app", "shop"] {
            _ = await world.ask(
                "POST", "/one-time-password-sms/v1/validate-code",
                #"{"authenticationId":"\#(id)","code":"12"}"#,
                token: world.token(["client_id": client]))
        }
        let checks = world.bus.requests(CheckCode.self)
        let questions = world.bus.requests(GetCodeStatus.self)
        #expect(checks.map(\.schemeCode) == [CamaraWorld.schemeCode, CamaraWorld.schemeCode])
        #expect(questions.map(\.schemeCode) == checks.map(\.schemeCode))
        #expect(checks.map { $0.purpose == purpose } == [true, false])
        #expect(questions.map(\.purpose) == checks.map(\.purpose))
    }

    @Test(
        "F104 each outcome of a check has its own code",
        arguments: [
            (CodeResult.rejected, 400, otp + "INVALID_OTP"),
            (.exhausted, 400, otp + "VERIFICATION_FAILED"),
            (.expired, 400, otp + "VERIFICATION_EXPIRED"),
            (.superseded, 400, otp + "VERIFICATION_EXPIRED"),
            (.alreadyUsed, 400, otp + "VERIFICATION_EXPIRED"),
            (.cancelled, 400, otp + "VERIFICATION_EXPIRED"), (.notFound, 404, "NOT_FOUND"),
        ])
    func outcomes(_ result: CodeResult, _ status: Int, _ code: String) async {
        serveChecks(result)
        let answer = await world.validate(id)
        #expect(answer.status == status && answer.code == code)
    }

    @Test(
        "an id of another form is 404, and asks nobody",
        arguments: [
            "ea0840f3-3663-4149-bd10-c7c6b8912105", "x", CamaraWorld.challenge.text,
            "\(CamaraWorld.challenge.text).", "\(CamaraWorld.challenge.text).00",
            "\(CamaraWorld.challenge.text).-1", "\(CamaraWorld.challenge.text).A",
        ])
    func unknown(_ id: String) async {
        #expect(await world.validate(id).code == "NOT_FOUND")
        #expect(world.bus.requests(CheckCode.self).isEmpty)
    }

    @Test("an id of another owner, or of a scene run, is 404")
    func others() async {
        for code in [ErrorCode.challengeNotFound, .belongsToRun] {
            world.bus.on(CheckCode.self) { _, _ throws(ServiceFailure) in
                throw ServiceFailure(code, "x")
            }
            let answer = await world.validate(id)
            #expect(answer.status == 404 && answer.code == "NOT_FOUND")
        }
    }

    @Test("texts that are missing or too long are 400")
    func lengths() async {
        serveChecks(.accepted)
        #expect(await world.validate(id, "thisCodeExceedsTenCharacters").code == "INVALID_ARGUMENT")
        #expect(await world.validate(id, "12345678901").code == "INVALID_ARGUMENT")
        #expect(await world.validate(id, "").code == "INVALID_ARGUMENT")
        #expect(await world.validate("").code == "INVALID_ARGUMENT")
        let long = String(repeating: "a", count: 37)
        #expect(await world.validate(long).code == "INVALID_ARGUMENT")
        #expect(await world.validate(String(long.dropLast())).code == "NOT_FOUND")
        #expect(world.bus.requests(CheckCode.self).isEmpty)
    }

    @Test("characters that no code has are a wrong code, where a right one could be told")
    func unreadable() async {
        world.bus.on(CheckCode.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.invalidParameters, "x", field: "code")
        }
        for (state, code) in [
            (ChallengeState.pending, "INVALID_OTP"), (.exhausted, "VERIFICATION_FAILED"),
            (.accepted, "VERIFICATION_EXPIRED"), (.expired, "VERIFICATION_EXPIRED"),
        ] {
            world.bus.on(GetCodeStatus.self) { request, _ throws(ServiceFailure) in
                guard let number = PhoneNumber(e164: CamaraWorld.number) else {
                    throw ServiceFailure(.internalFault, "test")
                }
                return CodeStatus(
                    challengeId: request.challengeId, state: state, number: number,
                    purpose: "camara", sentCount: 1, delivery: .sent, createdAtMilliseconds: 0,
                    expiresAtMilliseconds: 0, resendAtMilliseconds: 0)
            }
            #expect(await world.validate(id, "+12345").code == Self.otp + code)
        }
        world.bus.on(GetCodeStatus.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.challengeNotFound, "x")
        }
        #expect(await world.validate(id, "+12345").code == "NOT_FOUND")
    }
}
