import Bus
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import GatewayService

/// Codes by SMS, as integrators of the original send and check them.
@Suite("dypnsapi: codes by SMS")
struct DypnsapiSMSTests {
    typealias World = DypnsapiWorld
    private static let messageID = MessageID(random: Array(1...16))
    private static let send: [String: String?] = [
        "PhoneNumber": "13000000000", "SignName": "速通互联验证码", "TemplateCode": "100001",
        "TemplateParam": ###"{"code":"##code##","min":"5"}"###,
    ]
    private static let check: [String: String?] = [
        "PhoneNumber": "13000000000", "VerifyCode": "123456",
    ]

    private func with(
        _ base: [String: String?], _ changes: [String: String?]
    ) -> [String: String?] {
        base.merging(changes) { _, new in new }
    }

    private func sending(_ failure: ServiceFailure? = nil) throws -> World {
        let world = try World()
        world.bus.on(SendCode.self) { request, _ throws(ServiceFailure) in
            if let failure { throw failure }
            return SentCode(
                messageId: Self.messageID, delivery: .sent, resendAtMilliseconds: 1, sendsLeft: 4,
                code: request.returnCode == true ? Secret("4232") : nil)
        }
        return world
    }

    private func checking(
        _ result: CodeResult, failedCheckIsError: Bool = true
    ) throws -> World {
        let world = try World(failedCheckIsError: failedCheckIsError)
        world.bus.on(CheckCode.self) { _, _ throws(ServiceFailure) in CheckedCode(result: result) }
        return world
    }

    // MARK: SendSmsVerifyCode

    @Test("defaults of the original", arguments: World.Signing.allCases)
    func defaults(_ signing: World.Signing) async throws {
        let world = try sending()
        let reply = await world.call("SendSmsVerifyCode", Self.send, signing)
        #expect(reply.status == 200 && reply.code == "OK")
        #expect(reply["Success"] == .flag(true))
        #expect(reply["Model", "VerifyCode"] == nil && reply["Model", "OutId"] == nil)
        #expect(reply["Model", "RequestId"] == reply["RequestId"])
        let asked = try #require(world.bus.requests(SendCode.self).first)
        #expect(asked.schemeCode == World.scheme)
        #expect(asked.purpose == "api:默认方案" && asked.number == "+86 13000000000")
        #expect(asked.text?.templateCode == "100001" && asked.text?.signature == "速通互联验证码")
        #expect(asked.text?.parameters == ["code": "##code##", "min": "5"])
        #expect(asked.codeLength == 4 && asked.codeType == 1)
        #expect(asked.lifetimeSeconds == 300 && asked.cooldownSeconds == 60)
        #expect(asked.duplicatePolicy == .newest && asked.returnCode == nil)
        #expect(asked.origin == nil, "an app server's address is nobody's")
    }

    @Test("everything set; the code comes back only where it was asked for")
    func everything() async throws {
        let world = try sending()
        let reply = await world.call(
            "SendSmsVerifyCode",
            with(
                Self.send,
                [
                    "SchemeName": "测试方案", "CountryCode": "1", "PhoneNumber": "4155552671",
                    "OutId": "o-1", "CodeLength": "8", "ValidTime": "600",
                    "DuplicatePolicy": "2", "Interval": "1", "CodeType": "7",
                    "ReturnVerifyCode": "True", "SmsUpExtendCode": "1213123", "AutoRetry": "0",
                    "TemplateParam": ###"{"code":"##code##","min":5}"###,
                ]))
        #expect(reply["Model", "VerifyCode"] == .text("4232"))
        #expect(reply["Model", "OutId"] == .text("o-1"))
        let asked = try #require(world.bus.requests(SendCode.self).first)
        #expect(asked.purpose == "api:测试方案" && asked.number == "+1 4155552671")
        #expect(asked.codeLength == 8 && asked.codeType == 7)
        #expect(asked.lifetimeSeconds == 600 && asked.cooldownSeconds == 1)
        #expect(asked.duplicatePolicy == .all && asked.returnCode == true)
        #expect(asked.outId == "o-1" && asked.text?.parameters?["min"] == "5")
    }

    @Test("booleans in any case", arguments: ["True", "true", "TRUE", "False", "false", ""])
    func flags(_ text: String) async throws {
        let world = try sending()
        let reply = await world.call(
            "SendSmsVerifyCode", with(Self.send, ["ReturnVerifyCode": text]))
        #expect((reply["Model", "VerifyCode"] != nil) == (text.lowercased() == "true"))
    }

    static let refusals: [(String, String?, Int, String)] = [
        ("PhoneNumber", nil, 400, "MissingPhoneNumber"),
        ("SignName", "", 400, "MissingSignName"),
        ("TemplateCode", nil, 400, "MissingTemplateCode"),
        ("TemplateParam", nil, 400, "MissingTemplateParam"),
        ("CodeLength", "six", 400, "InvalidParameter.CodeLength"),
        ("ReturnVerifyCode", "yes", 400, "InvalidParameter.ReturnVerifyCode"),
        ("CountryCode", "+0", 400, "InvalidParameter.CountryCode"),
        ("CountryCode", "CN", 400, "InvalidParameter.CountryCode"),
        ("CodeLength", "3", 200, "isv.INVALID_PARAMETERS"),
        ("CodeLength", "9", 200, "isv.INVALID_PARAMETERS"),
        ("CodeType", "8", 200, "isv.INVALID_PARAMETERS"),
        ("ValidTime", "601", 200, "isv.INVALID_PARAMETERS"),
        ("ValidTime", "59", 200, "isv.INVALID_PARAMETERS"),
        ("Interval", "0", 200, "isv.INVALID_PARAMETERS"),
        ("Interval", "-1", 200, "isv.INVALID_PARAMETERS"),
        ("DuplicatePolicy", "3", 200, "isv.INVALID_PARAMETERS"),
        ("SchemeName", String(repeating: "方", count: 21), 200, "isv.INVALID_PARAMETERS"),
        ("SchemeName", String(repeating: "😀", count: 20), 200, "isv.INVALID_PARAMETERS"),
        ("TemplateParam", "code", 200, "isv.INVALID_PARAMETERS"),
        ("TemplateParam", "[]", 200, "isv.INVALID_PARAMETERS"),
        ("TemplateParam", #"{"code":"1","code":"2"}"#, 200, "isv.INVALID_PARAMETERS"),
        ("TemplateParam", #"{"code":{"a":1}}"#, 200, "isv.INVALID_PARAMETERS"),
        ("TemplateParam", #"{"code":null}"#, 200, "isv.INVALID_PARAMETERS"),
        ("TemplateParam", #"{"code":"1"} x"#, 200, "isv.INVALID_PARAMETERS"),
    ]

    @Test(
        "parameters of a send that are missing, of a wrong type, out of range", arguments: refusals)
    func refused(_ row: (name: String, value: String?, status: Int, code: String)) async throws {
        let world = try sending()
        let reply = await world.call("SendSmsVerifyCode", with(Self.send, [row.name: row.value]))
        #expect(reply.status == row.status)
        #expect(reply.code == row.code)
        #expect(world.bus.requests(SendCode.self).isEmpty)
        if row.status == 200 {
            #expect(reply["Success"] == .flag(false))
            #expect(reply.message?.contains(row.name) == true)
        }
    }

    @Test("20 characters of Chinese fit a SchemeName")
    func longSchemeName() async throws {
        let world = try sending()
        let name = String(repeating: "方", count: 20)
        _ = await world.call("SendSmsVerifyCode", with(Self.send, ["SchemeName": name]))
        #expect(world.bus.requests(SendCode.self).first?.purpose.utf8.count == 64)
    }

    static let failures: [(ServiceFailure, Int, String, String)] = [
        (
            ServiceFailure(.cooldown, "a moment ago", retryAfterMilliseconds: 41_200), 200,
            "biz.FREQUENCY", "check frequency failed, try again in 42 s"
        ),
        (
            ServiceFailure(
                .numberLimit, "this number takes at most 5 sends per window (hour)", field: "hour",
                retryAfterMilliseconds: 1_000), 200,
            "isv.BUSINESS_LIMIT_CONTROL", "触发小时级流控Permits:5, try again in 1 s"
        ),
        (
            ServiceFailure(
                .numberLimit, "this number takes at most 10 sends per window (day)", field: "day"),
            200, "isv.BUSINESS_LIMIT_CONTROL", "触发天级流控Permits:10"
        ),
        (
            ServiceFailure(
                .numberLimit, "this number takes at most 40 sends per window (day_all_schemes)",
                field: "day_all_schemes"), 200, "isv.BUSINESS_LIMIT_CONTROL",
            "触发天级流控Permits:40"
        ),
        (
            ServiceFailure(.guessesExhausted, "too many", retryAfterMilliseconds: 2_000), 200,
            "isv.BUSINESS_LIMIT_CONTROL",
            "Too many wrong codes were entered for this number, try again in 2 s"
        ),
        (
            ServiceFailure(.numberInvalid, "too short", field: "number"), 200,
            "isv.MOBILE_NUMBER_ILLEGAL", "The mobile number is illegal."
        ),
        (
            ServiceFailure(.invalidParameters, "takes 1 to 64 bytes", field: "number"), 200,
            "isv.MOBILE_NUMBER_ILLEGAL", "The mobile number is illegal."
        ),
        (
            ServiceFailure(.textRefused, "links are not sent", field: "text.parameters.min"), 200,
            "isv.INVALID_PARAMETERS", "TemplateParam: links are not sent"
        ),
        (
            ServiceFailure(.textRefused, "there is no such text", field: "text.templateCode"),
            200, "isv.INVALID_PARAMETERS", "TemplateCode: there is no such text"
        ),
        (
            ServiceFailure(.textRefused, "has no such signature", field: "text.signature"), 200,
            "isv.INVALID_PARAMETERS", "SignName: has no such signature"
        ),
        (
            ServiceFailure(.policyRefused, "too weak", field: "codeLength"), 200,
            "isv.INVALID_PARAMETERS", "CodeLength: too weak"
        ),
        (
            ServiceFailure(.providerRefused, "the provider: inside"), 200, "isv.OUT_OF_SERVICE",
            "No SMS provider took the message."
        ),
        (
            ServiceFailure(.schemeNotFound, "none", field: "schemeCode"), 200,
            "isv.VERIFY_SCHEME_NOT_EXIST", "The scheme does not exist."
        ),
        (
            ServiceFailure(.schemeDisabled, "off"), 400, "FUNCTION_NOT_OPENED",
            "The scheme is switched off."
        ),
        (
            ServiceFailure(.unavailable, "nobody"), 503, "ServiceUnavailable",
            "The request has failed due to a temporary failure of the server."
        ),
    ]

    @Test("F106 F107 F109 what the SMS service refuses", arguments: failures)
    func failure(
        _ row: (failure: ServiceFailure, status: Int, code: String, message: String)
    ) async throws {
        let world = try sending(row.failure)
        let reply = await world.call("SendSmsVerifyCode", Self.send)
        #expect(reply.status == row.status)
        #expect(reply.code == row.code)
        #expect(reply.message == row.message)
        #expect(
            reply.headers["x-acs-retry-after"]
                == row.failure.retryAfterMilliseconds.map { "\($0)" })
        #expect(!reply.text.contains("13000000000"))
    }

    static let numbers: [(String, String?, String)] = [
        ("13000000000", nil, "+86 13000000000"), ("8613000000000", nil, "+8613000000000"),
        ("+8613000000000", nil, "+8613000000000"), ("008613000000000", nil, "+8613000000000"),
        ("130 0000 0000", "86", "+86 130 0000 0000"), ("+14155552671", "86", "+14155552671"),
        ("4155552671", "1", "+1 4155552671"), ("0176 7111638", "+49", "+49 0176 7111638"),
        ("+491767111638", "49", "+491767111638"), ("00491767111638", "49", "+491767111638"),
        ("+85251234567", nil, "+85251234567"), ("＋14155552671", nil, "＋14155552671"),
        ("１３０００００００００", nil, "+86 １３０００００００００"),
    ]

    @Test("F076 F077 F081 a number says its country, or CountryCode does", arguments: numbers)
    func number(_ row: (typed: String, country: String?, asked: String)) async throws {
        let world = try sending()
        _ = await world.call(
            "SendSmsVerifyCode",
            with(Self.send, ["PhoneNumber": row.typed, "CountryCode": row.country]))
        #expect(world.bus.requests(SendCode.self).first?.number == row.asked)
    }

    // MARK: CheckSmsVerifyCode

    @Test("the right code passes", arguments: [true, false])
    func passes(_ failedCheckIsError: Bool) async throws {
        let world = try checking(.accepted, failedCheckIsError: failedCheckIsError)
        let reply = await world.call(
            "CheckSmsVerifyCode",
            with(Self.check, ["SchemeName": "s", "OutId": "o", "CaseAuthPolicy": "2"]))
        #expect(reply.code == "OK" && reply["Model", "VerifyResult"] == .text("PASS"))
        #expect(reply["Model", "OutId"] == .text("o"))
        let asked = try #require(world.bus.requests(CheckCode.self).first)
        #expect(asked.schemeCode == World.scheme && asked.purpose == "api:s")
        #expect(asked.number == "+86 13000000000" && asked.code == "123456")
        #expect(asked.caseSensitive == true && asked.outId == "o")
    }

    @Test("case is ignored unless CaseAuthPolicy is 2", arguments: [nil, "1"])
    func folded(_ policy: String?) async throws {
        let world = try checking(.accepted)
        _ = await world.call("CheckSmsVerifyCode", with(Self.check, ["CaseAuthPolicy": policy]))
        #expect(world.bus.requests(CheckCode.self).first?.caseSensitive == false)
    }

    @Test(
        "F104 a failed check: 400 isv.ValidateFail, or 200 UNKNOWN by the switch; why stands beside",
        arguments: [CodeResult.rejected, .exhausted, .expired, .superseded, .alreadyUsed])
    func fails(_ result: CodeResult) async throws {
        let real = try await checking(result).call("CheckSmsVerifyCode", Self.check, .rpc)
        #expect(real.status == 400 && real.code == "isv.ValidateFail")
        #expect(real.message == "验证失败" && real["Reason"] == .text(result.rawValue))
        let documented = try await checking(result, failedCheckIsError: false)
            .call("CheckSmsVerifyCode", Self.check)
        #expect(documented.status == 200 && documented.code == "OK")
        #expect(documented["Model", "VerifyResult"] == .text("UNKNOWN"))
        #expect(documented["Model", "Reason"] == .text(result.rawValue))
    }

    @Test("F087 what cannot be a code is a failed check, a number that cannot be one is not")
    func typed() async throws {
        let world = try World()
        world.bus.on(CheckCode.self) { request, _ throws(ServiceFailure) in
            guard request.code == "123456" else {
                throw ServiceFailure(.invalidParameters, "letters and digits", field: "code")
            }
            throw ServiceFailure(.numberInvalid, "too short", field: "number")
        }
        let code = await world.call("CheckSmsVerifyCode", with(Self.check, ["VerifyCode": "+1e5"]))
        #expect(code.code == "isv.ValidateFail")
        let number = await world.call("CheckSmsVerifyCode", Self.check)
        #expect(number.status == 200 && number.code == "isv.MOBILE_NUMBER_ILLEGAL")
    }

    // MARK: QuerySendDetails

    private static let query: [String: String?] = [
        "PhoneNumber": "13000000000", "SendDate": "20261130", "PageSize": "10",
        "CurrentPage": "1",
    ]

    @Test("details are told in the original's words and its time zone")
    func details() async throws {
        let world = try World()
        let states: [DeliveryState] = [
            .queued, .sending, .sent, .delivered, .undelivered, .refused, .abandoned, .simulated,
        ]
        let number = try #require(PhoneNumber(e164: "+8613000000000"))
        world.bus.on(GetSendDetails.self) { _, _ throws(ServiceFailure) in
            SendDetails(
                total: 12,
                details: states.map { state in
                    SendDetail(
                        messageId: Self.messageID, content: "code ••••••", number: number,
                        delivery: state, reason: state == .undelivered ? "ABSENT" : nil,
                        templateCode: "100001", outId: "o",
                        sentAtMilliseconds: state == .queued ? nil : 1_796_009_612_000,
                        deliveredAtMilliseconds: state == .delivered ? 1_796_054_400_000 : nil,
                        createdAtMilliseconds: 1_796_009_611_000)
                })
        }
        let reply = await world.call("QuerySendDetails", Self.query)
        #expect(reply["TotalCount"] == .integer(12))
        guard case .array(let items)? = reply["Model"] else {
            Issue.record("Model is a list")
            return
        }
        func values(_ name: String) -> [JSONTree?] {
            items.map { item in
                guard case .object(let members) = item else { return nil }
                return members.first { $0.name == name }?.value
            }
        }
        #expect(values("SendStatus") == [1, 1, 1, 3, 2, 2, 2, 3].map { .integer($0) })
        #expect(
            values("ErrCode")
                == ["", "", "", "DELIVERED", "ABSENT", "REFUSED", "ABANDONED", "SIMULATED"]
                .map { .text($0) })
        #expect(values("SendDate").first == .text("2026-11-30 11:33:31"))
        #expect(values("SendDate").last == .text("2026-11-30 11:33:32"))
        #expect(values("ReceiveDate")[3] == .text("2026-12-01 00:00:00"))
        #expect(values("PhoneNum").first == .text("13000000000"))
        let asked = try #require(world.bus.requests(GetSendDetails.self).first)
        #expect(asked.day == "20261130" && asked.utcOffsetMinutes == 480)
        #expect(asked.page == 1 && asked.pageSize == 10 && asked.messageId == nil)
    }

    @Test("the BizId of a send finds its message; one that is none of ours finds nothing")
    func bizIDs() async throws {
        let world = try sending()
        world.bus.on(GetSendDetails.self) { _, _ throws(ServiceFailure) in
            SendDetails(total: 3, details: [])
        }
        let sent = await world.call("SendSmsVerifyCode", Self.send)
        let bizID = try #require(sent["Model", "BizId"]?.text)
        let parts = bizID.split(separator: "^")
        #expect(parts.count == 2 && parts.last?.count == 1)
        #expect(parts.allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } })
        _ = await world.call("QuerySendDetails", with(Self.query, ["BizId": bizID]))
        #expect(
            world.bus.requests(GetSendDetails.self).map(\.messageId) == [Self.messageID])
        for other in ["112231421412414124123^4", "x", "1^2^3", bizID + "0", "-1^0", "^", "+1^1"] {
            let reply = await world.call("QuerySendDetails", with(Self.query, ["BizId": other]))
            #expect(reply.code == "OK" && reply["TotalCount"] == .integer(0))
        }
    }

    @Test("a BizId is one to one")
    func bizIDRoundTrip() {
        let random = SeededRandom(seed: 3)
        for bytes in [Array(repeating: 0, count: 16), Array(repeating: 255, count: 16)]
            + (0..<100).map({ _ in random.bytes(16) })
        {
            let id = MessageID(random: bytes)
            #expect(DypnsapiBizID.messageID(DypnsapiBizID.text(id)) == id)
        }
    }

    @Test(
        "pages and days out of range",
        arguments: [
            ("PageSize", "0", "isv.INVALID_PARAMETERS"),
            ("PageSize", "101", "isv.INVALID_PARAMETERS"),
            ("CurrentPage", "0", "isv.INVALID_PARAMETERS"),
            ("CurrentPage", "x", "InvalidParameter.CurrentPage"),
            ("SendDate", "20261131", "isv.INVALID_PARAMETERS"),
        ])
    func badQueries(_ row: (name: String, value: String, code: String)) async throws {
        let world = try World()
        world.bus.on(GetSendDetails.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.invalidParameters, "is not a day", field: "day")
        }
        let reply = await world.call("QuerySendDetails", with(Self.query, [row.name: row.value]))
        #expect(reply.code == row.code)
    }

    @Test("no number, code, token or secret in any log line")
    func logs() async throws {
        let world = try sending(ServiceFailure(.internalFault, "13000000000 4232"))
        _ = await world.call(
            "SendSmsVerifyCode", with(Self.send, ["ReturnVerifyCode": "true", "OutId": "out-77"]))
        let lines = world.log.lines.joined(separator: "\n")
        #expect(lines.contains("a dypnsapi call met a fault of ours"))
        for secret in ["13000000000", "4232", "out-77", World.secret, World.keyID] {
            #expect(!lines.contains(secret))
        }
    }
}
