import Foundation
import FusionAuth
import Testing

@Suite("The auth token")
struct TokenTests {
    @Test("it is asked for when the handler is made, and checked at the gateway")
    func first() {
        var sdk = MachineDriver()
        #expect(sdk.does(.activate) == ["ask token", "wake 60.0 seconds"])
        #expect(sdk.does(.tokenGiven(1, MachineDriver.token())) == ["GET /client/v1/session"])
        #expect(sdk.request?.headers["Authorization"]?.hasPrefix("Bearer e30.") == true)
        // 30 minutes less 5.
        #expect(
            sdk.answers(MachineDriver.session())
                == ["wake 1500.0 seconds", "event 300002", "token good"])
    }

    @Test("an app that has none to add gives the one it made the handler with")
    func given() {
        var sdk = MachineDriver()
        _ = sdk.does(.activate)
        #expect(sdk.does(.tokenGiven(1, nil)) == ["GET /client/v1/session"])
        var none = MachineDriver(token: nil)
        _ = none.does(.activate)
        #expect(
            none.does(.tokenGiven(1, nil))
                == ["event 300003 no_token", "token failed 300003 no_token"])
    }

    @Test("an answer after 60 seconds is too late")
    func timeout() {
        var sdk = MachineDriver()
        _ = sdk.does(.activate)
        #expect(sdk.does(.woke(1)) == ["event 300004", "token failed 300004"])
        #expect(sdk.does(.tokenGiven(1, MachineDriver.token())) == [])
    }

    @Test(
        "what is no token of this scheme fails here",
        arguments: [
            ("nonsense", 300_005), ("a.b", 300_005), ("e30.e30.x", 300_005), ("", 300_005),
            (MachineDriver.token("FA2").authToken, 300_006),
        ])
    func malformed(_ text: String, _ code: Int) {
        var sdk = MachineDriver()
        _ = sdk.does(.activate)
        let reason = code == 300_006 ? " scheme_mismatch" : ""
        #expect(
            sdk.does(.tokenGiven(1, FusionAuthToken(text)))
                == ["event \(code)\(reason)", "token failed \(code)\(reason)"])
    }

    @Test("the gateway's refusals: no token any more, or no right")
    func refused() {
        for (status, code, result) in [
            (401, "token_expired", 300_003), (401, "token_revoked", 300_003),
            (403, "scheme_disabled", 300_006), (404, "not_found", 300_006),
        ] {
            var sdk = MachineDriver()
            _ = sdk.does(.activate)
            _ = sdk.does(.tokenGiven(1, MachineDriver.token()))
            #expect(
                sdk.refuses(status, code)
                    == ["event \(result) \(code)", "token failed \(result) \(code)"])
        }
    }

    @Test("without a network the check is tried three times, then fails")
    func offline() {
        var sdk = MachineDriver()
        _ = sdk.does(.activate)
        _ = sdk.does(.tokenGiven(1, MachineDriver.token()))
        #expect(sdk.failsToSend(.noNetwork) == ["event 800001", "wake 0.3 seconds"])
        #expect(sdk.does(.woke(sdk.wakeID)) == ["GET /client/v1/session"])
        #expect(sdk.failsToSend(.timeout) == ["event 800002", "wake 1.0 seconds"])
        _ = sdk.does(.woke(sdk.wakeID))
        #expect(
            sdk.failsToSend(.noNetwork) == [
                "event 800001", "event 300006 no_network", "token failed 300006 no_network",
            ])
        // The app's three retries are its own affair.
        #expect(sdk.does(.updateToken(MachineDriver.token())) == ["GET /client/v1/session"])
        #expect(
            sdk.answers(MachineDriver.session())
                == ["event 800003", "wake 1500.0 seconds", "event 300002", "token good"])
    }

    @Test("5 minutes before it expires the next one is asked for, and the old one serves meanwhile")
    func refresh() {
        var sdk = MachineDriver()
        sdk.becomeActive()
        #expect(sdk.does(.woke(sdk.wakeID)) == ["ask token", "wake 60.0 seconds"])
        #expect(
            sdk.does(.start(templateId: "100001")).last == "POST /client/v1/scenes")
    }

    @Test("a token that comes nearly expired does not make the SDK ask without end")
    func nearlyExpired() {
        var sdk = MachineDriver()
        _ = sdk.does(.activate)
        _ = sdk.does(.tokenGiven(1, MachineDriver.token()))
        #expect(sdk.answers(MachineDriver.session(secondsLeft: 60)).first == "wake 30.0 seconds")
    }

    @Test("a refusal in the middle of a scene asks for another token and repeats the call with it")
    func inTheMiddle() throws {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.press(.send(number: "13800000000", isChecked: nil))
        let first = try #require(sdk.request)
        #expect(sdk.refuses(401, "token_expired") == ["ask token", "wake 60.0 seconds"])
        let ask = sdk.id { if case .askToken(let id) = $0 { id } else { nil } }
        _ = sdk.does(.tokenGiven(ask, MachineDriver.token(name: "2")))
        #expect(
            sdk.answers(MachineDriver.session()).suffix(3)
                == ["event 300002", "token good", "POST /client/v1/scenes/run_1/input"])
        let again = try #require(sdk.request)
        #expect(again.body == first.body)
        #expect(again.headers["Idempotency-Key"] == first.headers["Idempotency-Key"])
        #expect(again.headers["Authorization"] != first.headers["Authorization"])
        // Once; the second refusal is told.
        #expect(
            sdk.refuses(401, "token_revoked").filter { $0.hasPrefix("interrupt") }
                == ["interrupt 900004", "interrupt 300003 token_revoked"])
    }

    @Test("when no other token comes, the call is given up and the page stays")
    func noneInTheMiddle() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.press(.send(number: "13800000000", isChecked: nil))
        _ = sdk.refuses(401, "token_expired")
        #expect(
            sdk.does(.woke(sdk.wakeID)) == [
                "event 300004", "token failed 300004", "event 900004", "interrupt 900004",
                "update", "event 300003 token_invalid", "interrupt 300003 token_invalid",
            ])
        #expect(sdk.machine.currentTemplateId == "100001")
    }

    @Test("without a scheme code nothing is asked")
    func emptyScheme() {
        var sdk = MachineDriver { $0.schemeCode = "" }
        #expect(sdk.does(.activate) == ["event 900002", "token failed 900002"])
    }

    @Test("it does not print")
    func secret() {
        let token = MachineDriver.token()
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(!text.contains(token.authToken))
        }
        let request = FusionAuthRequest("GET", "/x", headers: ["Authorization": "Bearer secret"])
        dumped = ""
        dump(request, to: &dumped)
        #expect(!"\(request) \(String(reflecting: request)) \(dumped)".contains("secret"))
    }
}
