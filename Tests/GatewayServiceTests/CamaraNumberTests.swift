import Bus
import Effects
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@Suite("CAMARA: Number Verification")
struct CamaraNumberTests {
    private let world = CamaraWorld()
    private static let verification = VerificationID(random: Array(repeating: 3, count: 16))
    private static let notByNetwork =
        "NUMBER_VERIFICATION.USER_NOT_AUTHENTICATED_BY_MOBILE_NETWORK"

    private func serveMatches(_ result: VerificationResult) {
        world.bus.on(MatchNumber.self) { _, _ throws(ServiceFailure) in
            MatchedNumber(verificationId: Self.verification, result: result)
        }
    }

    private func serveNumbers() {
        world.bus.on(GetNumber.self) { _, _ throws(ServiceFailure) in
            guard let number = PhoneNumber(e164: CamaraWorld.number) else {
                throw ServiceFailure(.internalFault, "test")
            }
            return GotNumber(verificationId: Self.verification, number: number)
        }
    }

    private func fail(_ code: ErrorCode) {
        world.bus.on(MatchNumber.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(code, "x")
        }
        world.bus.on(GetNumber.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(code, "x")
        }
    }

    @Test("HEAD is refused: it would use the token up for nothing")
    func head() async {
        let token = world.token()
        let answer = await world.ask(
            "HEAD", "/number-verification/v2/device-phone-number", token: token)
        #expect(answer.status == 405)
        #expect(answer.headers["allow"] == "GET")
        #expect(world.bus.requests(ConsumeToken.self).isEmpty)
    }

    @Test("the carrier's word is the answer: PASS true, REJECT false, UNKNOWN neither")
    func verify() async throws {
        serveMatches(.pass)
        let yes = await world.verify()
        #expect(yes.status == 200 && yes.text == #"{"devicePhoneNumberVerified":true}"#)
        #expect(yes.headers["content-type"] == "application/json")
        let request = try #require(world.bus.requests(MatchNumber.self).first)
        #expect(request.schemeCode == CamaraWorld.schemeCode)
        #expect(request.carrierToken.reveal() == CamaraWorld.carrierToken)
        #expect(request.number == CamaraWorld.number && request.hashedNumber == nil)
        let options = try #require(world.bus.options(of: MatchNumber.self).first)
        #expect(options.onBehalfOf == .integrator(CamaraWorld.owner))
        serveMatches(.reject)
        let no = await world.verify(token: world.token(["jti": "2"]))
        #expect(no.status == 200 && no.text == #"{"devicePhoneNumberVerified":false}"#)
        serveMatches(.unknown)
        let unknown = await world.verify(token: world.token(["jti": "3"]))
        #expect(unknown.status == 503 && unknown.code == "UNAVAILABLE")
    }

    @Test("the device's number is the carrier's word")
    func devicePhoneNumber() async throws {
        serveNumbers()
        let answer = await world.devicePhoneNumber()
        #expect(answer.status == 200)
        #expect(answer.text == #"{"devicePhoneNumber":"+14155552671"}"#)
        let request = try #require(world.bus.requests(GetNumber.self).first)
        #expect(request.carrierToken.reveal() == CamaraWorld.carrierToken)
    }

    @Test("F089 a hash has exactly 64 hexadecimal digits of either case")
    func hashes() async {
        serveMatches(.reject)
        let digits = String(repeating: "aB3", count: 21) + "f"
        let good = await world.verify(#"{"hashedPhoneNumber":"\#(digits)"}"#)
        #expect(good.status == 200)
        #expect(world.bus.requests(MatchNumber.self).first?.hashedNumber == digits.lowercased())
        for bad in [String(digits.dropLast()), digits + "a", digits.dropLast() + "g", "", " "] {
            let answer = await world.verify(
                #"{"hashedPhoneNumber":"\#(bad)"}"#, token: world.token(["jti": "2"]))
            #expect(answer.code == "INVALID_ARGUMENT", "\(bad)")
        }
        #expect(world.bus.requests(ConsumeToken.self).count == 1)
    }

    @Test(
        "both forms of the number, neither, or one that is no number: 400, and the token lives",
        arguments: [
            #"{}"#, #"{"additional_property":"foo_value"}"#, #"{"phoneNumber":"14155552671"}"#,
            #"{"phoneNumber":"+14155552671","additional_property":"foo_value"}"#,
            #"{"phoneNumber":"+14155552671","hashedPhoneNumber":"\#(String(repeating: "a", count: 64))"}"#,
            #"{"phoneNumber":"+14155552671","phoneNumber":"+14155552671"}"#,
            #"{"phoneNumber":null}"#, #"{"phoneNumber":14155552671}"#, #"{"phoneNumber":""}"#,
            #"{"phoneNumber":"tel:+14155552671"}"#,
        ])
    func badBodies(_ body: String) async {
        serveMatches(.pass)
        #expect(await world.verify(body).code == "INVALID_ARGUMENT")
        #expect(world.bus.requests(ConsumeToken.self).isEmpty)
        #expect(await world.verify().status == 200)
    }

    @Test("a token is used up by its first call, whichever of the two it is")
    func singleUse() async throws {
        serveMatches(.pass)
        serveNumbers()
        #expect(await world.verify().status == 200)
        #expect(await world.verify().code == "UNAUTHENTICATED")
        #expect(await world.devicePhoneNumber().code == "UNAUTHENTICATED")
        #expect(world.bus.requests(MatchNumber.self).count == 1)
        #expect(world.bus.requests(GetNumber.self).isEmpty)
        let used = try #require(world.bus.requests(ConsumeToken.self).first)
        #expect(used.issuer == "https://operator.example" && used.tokenId == "jti-1")
        #expect(
            used.untilMilliseconds
                == world.clock.now().millisecondsSince1970 / 1000 * 1000 + 300_000)
        let options = try #require(world.bus.options(of: ConsumeToken.self).first)
        #expect(options.onBehalfOf == nil)
    }

    @Test("a token without jti, without iat, or of more than 300 seconds is refused")
    func watchable() async {
        serveMatches(.pass)
        serveNumbers()
        let now = world.clock.now().millisecondsSince1970 / 1000
        for changes: [String: Any?] in [
            ["jti": nil], ["jti": ""], ["jti": 7], ["jti": String(repeating: "j", count: 257)],
            ["iat": nil], ["exp": now + 301], ["iat": now - 1],
        ] {
            let answers = [
                await world.verify(token: world.token(changes)),
                await world.devicePhoneNumber(world.token(changes)),
            ]
            for answer in answers { #expect(answer.code == "UNAUTHENTICATED", "\(changes)") }
        }
        #expect(world.bus.requests(ConsumeToken.self).isEmpty)
    }

    @Test("a token not won by network or SIM, or without a device, is 403 and lives")
    func methods() async {
        serveMatches(.pass)
        serveNumbers()
        for changes: [String: Any?] in [
            ["amr": nil], ["amr": [String]()], ["amr": ["sms", "otp"]], ["amr": ["pwd"]],
            ["amr": "NBA"], ["carrier_token": nil], ["carrier_token": ""], ["carrier_token": 1],
        ] {
            let answers = [
                await world.verify(token: world.token(changes)),
                await world.devicePhoneNumber(world.token(changes)),
            ]
            for answer in answers {
                #expect(answer.status == 403 && answer.code == Self.notByNetwork, "\(changes)")
            }
        }
        #expect(world.bus.requests(ConsumeToken.self).isEmpty)
        for (index, methods) in [["nba"], ["mnba"], ["sim"], ["ts43"], ["pwd", "nba"]].enumerated()
        {
            let token = world.token(["amr": methods, "jti": "m\(index)"])
            #expect(await world.verify(token: token).status == 200, "\(methods)")
        }
    }

    @Test(
        "what the carrier cannot say is an error, never a verdict",
        arguments: [
            (ErrorCode.tokenInvalid, 401, "UNAUTHENTICATED"),
            (.carrierUnavailable, 503, "UNAVAILABLE"), (.unavailable, 503, "UNAVAILABLE"),
            (.deadlinePassed, 504, "TIMEOUT"), (.schemeDisabled, 403, "PERMISSION_DENIED"),
            (.internalFault, 500, "INTERNAL"),
        ])
    func failures(_ code: ErrorCode, _ status: Int, _ expected: String) async {
        fail(code)
        let match = await world.verify()
        #expect(match.status == status && match.code == expected)
        let number = await world.devicePhoneNumber(world.token(["jti": "2"]))
        #expect(number.status == status && number.code == expected)
    }

    @Test("a number that no plan has differs from every device's")
    func impossible() async {
        serveMatches(.reject)
        let answer = await world.verify(#"{"phoneNumber":"+99999"}"#)
        #expect(answer.text == #"{"devicePhoneNumberVerified":false}"#)
        let request = world.bus.requests(MatchNumber.self).first
        #expect(request?.number == nil)
        #expect(request?.hashedNumber == Hex.encode(world.signer.sha256(Array("+99999".utf8))))
    }

    @Test("an issuer that states the number itself is compared here, and nobody is asked")
    func statedNumber() async {
        let world = CamaraWorld(device: .number(claim: "phone_number"))
        func token(_ id: String, _ number: String) -> String {
            world.token(["jti": id, "phone_number": number])
        }
        let number = CamaraWorld.number
        let hash = Hex.encode(world.signer.sha256(Array(number.utf8)))
        let cases: [(String, Bool)] = [
            (#"{"phoneNumber":"+14155552671"}"#, true), (#"{"phoneNumber":"+14155552672"}"#, false),
            (#"{"hashedPhoneNumber":"\#(hash.uppercased())"}"#, true),
            (#"{"hashedPhoneNumber":"\#(String(repeating: "a", count: 64))"}"#, false),
        ]
        for (index, (body, verified)) in cases.enumerated() {
            let answer = await world.verify(body, token: token("\(index)", number))
            #expect(answer.text == #"{"devicePhoneNumberVerified":\#(verified)}"#, "\(body)")
        }
        let told = await world.devicePhoneNumber(token("t", "tel:\(number)"))
        #expect(told.text == #"{"devicePhoneNumber":"+14155552671"}"#)
        #expect(await world.devicePhoneNumber(token("t", number)).code == "UNAUTHENTICATED")
        #expect(await world.devicePhoneNumber(token("u", "anonymous")).code == Self.notByNetwork)
        let none = CamaraWorld(device: .nothing)
        #expect(await none.devicePhoneNumber().code == Self.notByNetwork)
    }
}
