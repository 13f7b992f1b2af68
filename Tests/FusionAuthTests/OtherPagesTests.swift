import Foundation
import FusionAuth
import Testing

@Suite("The page of SMS codes")
struct SMSCodePageTests {
    @Test("send, the service's limits, and the code")
    func sendAndSubmit() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        #expect(
            sdk.press(.send(number: "+86 138-0000-0000", isChecked: nil)) == [
                "event 510002", "event 900003", "interrupt 900003", "update",
                "POST /client/v1/scenes/run_1/input",
            ])
        #expect(
            sdk.request?.body
                == Data(#"{"input":{"number":"+8613800000000","send":true},"step":1}"#.utf8))
        let sent = MachineDriver.sms {
            $0.resendAtMilliseconds = 60_000
            $0.delivery = "sent"
        }
        #expect(
            sdk.answers(MachineDriver.view(1, [500_007], node: sent))
                == ["event 900004", "interrupt 900004", "update", "event 500007", "update"])
        #expect(sdk.machine.currentPage?.resendAtMilliseconds == 60_000)
        // A resend need not say the number again.
        _ = sdk.press(.send(number: nil, isChecked: nil))
        var early = MachineDriver.view(1, [500_009], node: sent)
        early.reason = "cooldown"
        #expect(
            sdk.answers(early).suffix(2)
                == ["event 500009 cooldown", "failed verifyCodeAuth 500009 cooldown"])
        #expect(sdk.press(.submit(code: "")) == ["event 510003", "interrupt 510003"])
        #expect(
            sdk.press(.submit(code: " 123456 ")).last == "POST /client/v1/scenes/run_1/input")
        #expect(sdk.request?.body == Data(#"{"input":{"code":"123456"},"step":1}"#.utf8))
        #expect(
            sdk.answers(MachineDriver.view(1, [500_013], node: sent, mask: "m")).suffix(2)
                == ["event 500013", "success verifyCodeAuth 500013"])
    }

    @Test("a code that comes before the answer to send is submitted after it")
    func fasterThanTheAnswer() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.press(.send(number: "13800000000", isChecked: nil))
        #expect(sdk.press(.submit(code: "123456")) == ["event 510003"])
        #expect(
            sdk.answers(MachineDriver.view(1, [500_007], node: MachineDriver.sms())) == [
                "event 900004", "interrupt 900004", "update", "event 500007", "event 900003",
                "interrupt 900003", "update", "POST /client/v1/scenes/run_1/input",
            ])
        #expect(sdk.request?.body == Data(#"{"input":{"code":"123456"},"step":1}"#.utf8))
        // A decision of the app goes before it.
        var left = MachineDriver()
        left.stand(at: MachineDriver.sms())
        _ = left.press(.send(number: "13800000000", isChecked: nil))
        _ = left.press(.submit(code: "123456"))
        _ = left.does(.proceed(templateId: "100001", isSuccess: false))
        #expect(
            left.answers(MachineDriver.view(1, [500_007], node: MachineDriver.sms())).last
                == "POST /client/v1/scenes/run_1/continue")
    }

    @Test(
        "what is no phone number goes nowhere",
        arguments: ["", "abc", "12", "1234567890123456", "+", "+86 138 0000 000a", "１３８００００００００"])
    func format(_ number: String) {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        #expect(
            sdk.press(.send(number: number, isChecked: nil))
                == ["event 510002", "interrupt 510002"])
    }

    @Test("the service knows numbers better: its refusal is the same interrupt")
    func numberInvalid() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.press(.send(number: "12345", isChecked: nil))
        #expect(
            sdk.refuses(400, "number_invalid").suffix(2)
                == ["event 510002 number_invalid", "interrupt 510002 number_invalid"])
    }

    @Test("an unchecked privacy box interrupts; box and agreements are events")
    func box() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        #expect(
            sdk.press(.send(number: "13800000000", isChecked: false))
                == ["event 510002", "interrupt 510002"])
        #expect(sdk.press(.setChecked(true)) == ["update", "event 510005"])
        #expect(
            sdk.press(.protocolClicked(FusionAuthAgreement("T", "https://example.com")))
                == ["event 510006", "protocol T 510006"])
    }

    @Test("a pre-filled node asks the app for the number, where the service does not know it")
    func prefilled() {
        let node = MachineDriver.sms { $0.prefilled = true }
        var sdk = MachineDriver()
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100005"))
        #expect(
            sdk.answers(MachineDriver.view(1, node: node, key: "k"), status: 201).suffix(4) == [
                "event 200002", "event 500001", "event 500003", "number? 500003",
            ])
        let ask = sdk.id { if case .tell(.askNumber(let id, _)) = $0 { id } else { nil } }
        #expect(
            sdk.does(.numberGiven(ask, "+86 13800000000")) == ["present verifyCodeAuth"])
        #expect(sdk.machine.currentPage?.takesNumber == false)
        #expect(sdk.machine.currentPage?.maskedNumber == "861******0000")
        _ = sdk.press(.send(number: nil, isChecked: nil))
        #expect(sdk.request?.body?.count ?? 0 > 0)
        let body = String(decoding: sdk.request?.body ?? Data(), as: UTF8.self)
        #expect(body == #"{"input":{"number":"+8613800000000","send":true},"step":1}"#)
    }

    @Test("an app without the number: 500004, and no page", arguments: [nil, "", "none"])
    func notFilledIn(_ number: String?) {
        let node = MachineDriver.sms { $0.prefilled = true }
        var sdk = MachineDriver()
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100005"))
        _ = sdk.answers(MachineDriver.view(1, node: node, key: "k"), status: 201)
        let ask = sdk.id { if case .tell(.askNumber(let id, _)) = $0 { id } else { nil } }
        #expect(
            sdk.does(.numberGiven(ask, number))
                == ["event 500004", "failed verifyCodeAuth 500004"])
        #expect(sdk.press(.submit(code: "1")) == [])
    }

    @Test("where the service knows the number, nobody is asked and none is sent")
    func bound() {
        let node = MachineDriver.sms {
            $0.prefilled = true
            $0.maskedNumber = "138****0000"
            $0.numberInput = "none"
        }
        var sdk = MachineDriver()
        sdk.stand(at: node, template: "100005")
        #expect(
            sdk.press(.send(number: "13911111111", isChecked: nil)).last?.hasPrefix("POST") == true)
        #expect(sdk.request?.body == Data(#"{"input":{"send":true},"step":1}"#.utf8))
    }

    @Test(
        "a typed number is compared with the app's, whatever the country code",
        arguments: [
            ("13800000000", "+8613800000000", true), ("+8613800000000", "13800000000", true),
            ("13800000001", "+8613800000000", false), ("0000000", "13800000000", true),
            ("000000", "13800000000", false), ("13800000001", nil, true),
        ])
    func validityCheck(_ typed: String, _ stored: String?, _ isSent: Bool) {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms { $0.validityCheck = true }, template: "100003")
        #expect(
            sdk.press(.send(number: typed, isChecked: nil))
                == ["event 510002", "event 500003", "number? 500003"])
        let ask = sdk.id { if case .tell(.askNumber(let id, _)) = $0 { id } else { nil } }
        let lines = sdk.does(.numberGiven(ask, stored))
        if isSent {
            #expect(lines.last == "POST /client/v1/scenes/run_1/input")
        } else {
            #expect(
                lines == [
                    "event 500015 number_mismatch",
                    "failed verifyCodeAuth 500015 number_mismatch",
                ])
        }
    }

    @Test("half-way: true goes on, false does nothing, and only the first answer counts")
    func halfway() throws {
        let node = MachineDriver.sms { $0.halfway = true }
        func atHalf() -> MachineDriver {
            var sdk = MachineDriver()
            sdk.stand(at: node, template: "100002")
            _ = sdk.press(.submit(code: "1"))
            #expect(
                sdk.answers(MachineDriver.view(1, [500_013], node: node, mask: "m")).last
                    == "half-way verifyCodeAuth 500013")
            return sdk
        }
        func open(_ sdk: inout MachineDriver) -> Int {
            sdk.id {
                if case .tell(.halfwayVerifySuccess(let id, _, _, _)) = $0 { id } else { nil }
            }
        }
        var yes = atHalf()
        let id = open(&yes)
        #expect(
            yes.does(.halfwayAnswered(id, true)).last
                == "POST /client/v1/scenes/run_1/halfway")
        #expect(yes.does(.halfwayAnswered(id, true)) == [])
        #expect(
            yes.answers(MachineDriver.view(3, node: MachineDriver.sms())).suffix(5) == [
                "event 510001", "dismiss", "event 200002", "event 500001",
                "present verifyCodeAuth",
            ])
        var no = atHalf()
        let other = open(&no)
        #expect(no.does(.halfwayAnswered(other, false)) == [])
        #expect(no.does(.halfwayAnswered(other, true)) == [])
    }

    @Test("refusals of the service, each with its code")
    func refusals() {
        for (input, status, code, line) in [
            (PageInput.send(number: "13800000000", isChecked: nil), 429, "too_many", "500009"),
            (.send(number: "13800000000", isChecked: nil), 409, "input_not_expected", "500008"),
            (.submit(code: "1"), 429, "too_many", "500014"),
        ] {
            var sdk = MachineDriver()
            sdk.stand(at: MachineDriver.sms())
            _ = sdk.press(input)
            #expect(sdk.refuses(status, code).last == "failed verifyCodeAuth \(line) \(code)")
        }
    }

    @Test("without a network the page stays, and the same press works later")
    func offline() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.press(.submit(code: "1"))
        for _ in 1...2 {
            _ = sdk.failsToSend(.noNetwork)
            _ = sdk.does(.woke(sdk.wakeID))
        }
        #expect(
            sdk.failsToSend(.noNetwork) == [
                "event 800001", "event 900004", "interrupt 900004", "update",
                "event 800001 no_network", "interrupt 800001 no_network",
            ])
        _ = sdk.press(.submit(code: "1"))
        #expect(
            sdk.answers(MachineDriver.view(1, [500_013], node: MachineDriver.sms(), mask: "m"))
                .first == "event 800003")
    }

    @Test("a press on a page that is gone does nothing")
    func gone() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        let page = sdk.pageID
        #expect(
            sdk.press(.back) == [
                "event 510004", "last POST /client/v1/scenes/run_1/stop", "event 510001",
                "dismiss", "finish 510001",
            ])
        #expect(sdk.does(.page(page, .submit(code: "1"))) == [])
        #expect(sdk.does(.presented(page, false)) == [])
    }
}

@Suite("The pages of up-going SMS and of human checks")
struct OtherPagesTests {
    @Test("the text, the composer, and \"I have sent it\"")
    func upgoing() {
        var sdk = MachineDriver { $0.hasComposer = true }
        sdk.stand(at: MachineDriver.upgoing())
        #expect(sdk.machine.currentPage?.smsContent == "V 1")
        #expect(sdk.press(.openComposer) == ["event 610002", "compose V 1 to 10690"])
        let id = sdk.id { if case .compose(let id, _, _) = $0 { id } else { nil } }
        #expect(sdk.press(.openComposer) == ["event 610002"])
        #expect(sdk.does(.composed(id, .sent)) == ["event 600005"])
        #expect(
            sdk.press(.alreadySent) == [
                "event 610003", "event 900003", "interrupt 900003", "update",
                "POST /client/v1/scenes/run_1/input",
            ])
        #expect(sdk.request?.body == Data(#"{"input":{"sent":true},"step":1}"#.utf8))
        #expect(
            sdk.answers(
                MachineDriver.view(1, [600_007], node: MachineDriver.upgoing(), mask: "m")
            )
            .suffix(2) == ["event 600007", "success upGoingAuth 600007"])
    }

    @Test("a composer that fails fails the node, one that is closed does not")
    func composer() {
        for (result, lines) in [
            (ComposeResult.failed, ["event 600006", "failed upGoingAuth 600006"]),
            (.cancelled, []),
        ] {
            var sdk = MachineDriver { $0.hasComposer = true }
            sdk.stand(at: MachineDriver.upgoing())
            _ = sdk.press(.openComposer)
            let id = sdk.id { if case .compose(let id, _, _) = $0 { id } else { nil } }
            #expect(sdk.does(.composed(id, result)) == lines)
        }
        var without = MachineDriver()
        without.stand(at: MachineDriver.upgoing())
        #expect(without.press(.openComposer) == ["event 610002"])
    }

    @Test("a text that has expired, and the way back")
    func upgoingFails() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.upgoing())
        _ = sdk.press(.alreadySent)
        var expired = MachineDriver.view(1, [600_008], node: MachineDriver.upgoing())
        expired.reason = "upgoing_expired"
        #expect(sdk.answers(expired).last == "failed upGoingAuth 600008 upgoing_expired")
        #expect(
            sdk.press(.back) == [
                "event 610004", "last POST /client/v1/scenes/run_1/stop", "event 610001",
                "dismiss", "finish 610001",
            ])
    }

    @Test("a proof is checked here, then there; a good one moves on at once")
    func graphic() {
        let node = Wire.NodeView(
            nodeId: "300000100001008", kind: 2_000_009, nodeName: "graphAuth")
        var sdk = MachineDriver { $0.showsGraphic = true }
        sdk.stand(at: node)
        #expect(sdk.press(.localProofFailed) == ["event 110006"])
        #expect(sdk.press(.proof("p")).first == "event 110005")
        guard case .tell(.event(let local)) = sdk.lastActions.first else {
            Issue.record("no event")
            return
        }
        #expect(local.resultCode == .graphAuthLocalVerifySuccess)
        var refused = MachineDriver.view(1, [110_008], node: node)
        refused.reason = "proof_refused"
        #expect(sdk.answers(refused).last == "failed graphAuth 110008 proof_refused")
        _ = sdk.press(.proof("p"))
        #expect(
            sdk.answers(MachineDriver.view(2, [110_007], node: MachineDriver.sms())).suffix(6)
                == [
                    "event 110007", "event 110009", "dismiss", "event 200002", "event 500001",
                    "present verifyCodeAuth",
                ])
    }

    @Test("an app that cannot show a check fails the node")
    func noGraphic() {
        let node = Wire.NodeView(nodeId: "n", kind: 2_000_009, nodeName: "graphAuth")
        var sdk = MachineDriver()
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100001"))
        #expect(
            sdk.answers(MachineDriver.view(1, node: node, key: "k"), status: 201).last
                == "failed graphAuth 110002")
    }
}
