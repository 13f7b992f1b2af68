import Foundation
import FusionAuth
import Testing

@Suite("The page of number authentication")
struct NumberAuthPageTests {
    private static let offer = CarrierOffer(maskedNumber: "138****8000", carrierName: "C")

    /// At the node, the carrier not yet asked.
    private func entered() -> MachineDriver {
        var sdk = MachineDriver { $0.hasCarrier = true }
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100001"))
        _ = sdk.answers(
            MachineDriver.view(1, [700_001], node: MachineDriver.numberAuth(), key: "key"),
            status: 201)
        return sdk
    }

    private func carrierID(_ sdk: inout MachineDriver) -> Int {
        sdk.id {
            switch $0 {
            case .prepareCarrier(let id), .fetchCarrierToken(let id): id
            default: nil
            }
        }
    }

    private func shown(_ model: NumberAuthPageModel = NumberAuthPageModel()) -> MachineDriver {
        var sdk = entered()
        let id = carrierID(&sdk)
        _ = sdk.does(.carrierPrepared(id, .success(Self.offer)))
        _ = sdk.does(.customised(sdk.pageID, PageTerms(model)))
        _ = sdk.does(.presented(sdk.pageID, true))
        return sdk
    }

    @Test("the carrier is prepared before the page is shown")
    func shows() {
        var sdk = MachineDriver { $0.hasCarrier = true }
        sdk.becomeActive()
        #expect(
            sdk.does(.start(templateId: "100001"))
                == ["event 900003", "interrupt 900003", "POST /client/v1/scenes"])
        let body = String(decoding: sdk.request?.body ?? Data(), as: UTF8.self)
        #expect(
            body == #"{"capabilities":{"graphic":false,"numberAuth":true,"smsCode":true,"#
                + #""upgoingSMS":true},"deviceId":"device","templateId":"100001"}"#)
        let view = MachineDriver.view(
            2, [700_001], node: MachineDriver.numberAuth(), key: "key")
        #expect(
            sdk.answers(view, status: 201) == [
                "event 900004", "interrupt 900004", "event 700001", "event 200002",
                "event 900003", "interrupt 900003", "prepare carrier", "wake 3.0 seconds",
            ])
        let id = carrierID(&sdk)
        #expect(
            sdk.does(.carrierPrepared(id, .success(Self.offer))) == [
                "event 900004", "interrupt 900004", "event 400001", "present numberAuth",
            ])
        #expect(sdk.machine.currentPage?.maskedNumber == "138****8000")
        #expect(sdk.does(.presented(sdk.pageID, true)) == ["event 400003"])
        // The bound of the preparation says nothing about the page: the person has time.
        #expect(sdk.does(.woke(id)) == [])
    }

    @Test("a device event names the device node")
    func deviceNode() {
        var sdk = MachineDriver { $0.hasCarrier = true }
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100001"))
        let view = MachineDriver.view(2, [700_001], node: MachineDriver.numberAuth(), key: "k")
        _ = sdk.answers(view, status: 201)
        let events = sdk.lastActions.compactMap {
            if case .tell(.event(let event)) = $0 { event } else { nil }
        }
        #expect(
            events.first { $0.resultCode == .deviceSecurityDetectionSafe }?.nodeId
                == "300000100001001")
    }

    @Test("checked and pressed: the carrier's token becomes a mask token")
    func login() {
        var sdk = shown()
        #expect(sdk.press(.setChecked(true)) == ["update", "event 410008/1700003"])
        #expect(
            sdk.press(.login) == [
                "event 410008/1700002", "event 900003", "interrupt 900003", "update",
                "fetch carrier token", "wake 3.0 seconds",
            ])
        // A second press while the first one is under way is only an event.
        let id = carrierID(&sdk)
        #expect(sdk.press(.login) == ["event 410008/1700002"])
        #expect(
            sdk.does(.carrierToken(id, .success(CarrierToken("t"))))
                == ["POST /client/v1/scenes/run_1/input"])
        #expect(
            sdk.request?.body == Data(#"{"input":{"carrierToken":"t"},"step":1}"#.utf8))
        #expect(
            sdk.answers(
                MachineDriver.view(1, [400_006], node: MachineDriver.numberAuth(), mask: "m"))
                == [
                    "event 900004", "interrupt 900004", "update", "event 400006/1600000",
                    "success numberAuth 400006/1600000",
                ])
    }

    @Test("unchecked: the privacy alert, whose agreement logs in")
    func alert() {
        var sdk = shown()
        #expect(
            sdk.press(.login)
                == ["event 410008/1700002", "update", "event 410008/1700006"])
        #expect(sdk.machine.currentPage?.isAlertShown == true)
        let agreement = FusionAuthAgreement("Terms", "https://example.com")
        #expect(
            sdk.press(.protocolClicked(agreement))
                == ["event 410012/1700009", "protocol Terms 410012/1700009"])
        #expect(sdk.does(.closePrivacyAlert) == ["update", "event 410008/1700007"])
        #expect(sdk.press(.alertAgreed) == [])
        _ = sdk.press(.login)
        #expect(sdk.press(.alertAgreed).suffix(2) == ["fetch carrier token", "wake 3.0 seconds"])
        #expect(sdk.machine.currentPage?.isChecked == true)
        #expect(
            sdk.press(.protocolClicked(agreement))
                == ["event 410011/1700004", "protocol Terms 410011/1700004"])
    }

    @Test("unchecked without an alert: an interrupt that says so")
    func interrupt() {
        var model = NumberAuthPageModel()
        model.privacyAlertIsShown = false
        var sdk = shown(model)
        #expect(sdk.press(.login) == ["event 410008/1700002", "interrupt 410008/1700002"])
        guard case .tell(.interrupt(let event)) = sdk.lastActions.last else {
            Issue.record("no interrupt")
            return
        }
        #expect(event.extendData == ["isCheckBoxSelected": "0"])
    }

    @Test("an alert that only checks the box, and a box that is hidden")
    func otherTerms() {
        var model = NumberAuthPageModel()
        model.privacyAlertLogsIn = false
        var sdk = shown(model)
        _ = sdk.press(.login)
        #expect(sdk.press(.alertAgreed) == ["update", "event 410008/1700008"])
        #expect(sdk.press(.login).contains("fetch carrier token"))
        model.checkBoxIsHidden = true
        var hidden = shown(model)
        #expect(hidden.press(.login).contains("fetch carrier token"))
    }

    @Test("the carrier fails before the page: 400002 once, and the service keeps the reason")
    func cannotPrepare() throws {
        var sdk = entered()
        let failure = CarrierFailure(.noSIM, "no SIM", resultData: "{}", requestId: "c-1")
        let id = carrierID(&sdk)
        #expect(
            sdk.does(.carrierPrepared(id, .failure(failure)))
                == ["POST /client/v1/scenes/run_1/input"])
        #expect(sdk.request?.body == Data(#"{"input":{"failed":1600007},"step":1}"#.utf8))
        #expect(
            sdk.answers(MachineDriver.view(1, [400_007], node: MachineDriver.numberAuth())) == [
                "event 900004", "interrupt 900004", "event 400002/1600007",
                "failed numberAuth 400002/1600007", "event 400007/1600007",
            ])
        let event = try #require(
            sdk.lastActions.compactMap {
                if case .tell(.verifyFailed(_, let event)) = $0 { event } else { nil }
            }.first)
        #expect(event.innerMsg == "no SIM" && event.carrierFailedResultData == "{}")
        #expect(event.innerRequestId == "c-1")
        // The app then asks for the failure edge.
        #expect(
            sdk.does(.proceed(templateId: "100001", isSuccess: false)).last
                == "POST /client/v1/scenes/run_1/continue")
    }

    @Test("a carrier that takes longer than 3 seconds has failed")
    func late() {
        var sdk = shown()
        _ = sdk.press(.setChecked(true))
        _ = sdk.press(.login)
        let id = carrierID(&sdk)
        #expect(sdk.does(.woke(id)) == ["POST /client/v1/scenes/run_1/input"])
        #expect(sdk.request?.body == Data(#"{"input":{"failed":1600015},"step":1}"#.utf8))
        #expect(sdk.does(.carrierToken(id, .success(CarrierToken("t")))) == [])
        #expect(
            sdk.answers(MachineDriver.view(1, [400_007], node: MachineDriver.numberAuth()))
                .suffix(2) == ["event 400007/1600015", "failed numberAuth 400007/1600015"])
    }

    @Test("another way to log in: the next page, with the end of this one")
    func otherLogin() {
        var sdk = shown()
        #expect(
            sdk.press(.otherLogin) == [
                "event 410009/1700001", "event 900003", "interrupt 900003", "update",
                "POST /client/v1/scenes/run_1/input",
            ])
        #expect(
            sdk.answers(MachineDriver.view(2, node: MachineDriver.sms())) == [
                "event 900004", "interrupt 900004", "update", "event 400005", "dismiss",
                "event 200002", "event 500001", "present verifyCodeAuth",
            ])
        var model = NumberAuthPageModel()
        model.moreLoginAction = .none
        var alone = shown(model)
        #expect(alone.press(.otherLogin) == ["event 410009/1700001"])
    }

    @Test("back ends the scene at once, and the service is told")
    func back() {
        var sdk = shown()
        #expect(
            sdk.press(.back) == [
                "event 410010/1700000", "last POST /client/v1/scenes/run_1/stop", "event 400005",
                "dismiss", "finish 400005",
            ])
        #expect(sdk.machine.currentTemplateId == nil)
    }

    @Test("back in the middle of a call; its answer comes to nobody")
    func backDuringCall() {
        var sdk = shown()
        _ = sdk.press(.otherLogin)
        #expect(sdk.press(.back).last == "finish 400005")
        #expect(sdk.answers(MachineDriver.view(2, node: MachineDriver.sms())) == [])
    }

    @Test("a page that cannot be shown fails the node")
    func notShown() {
        var sdk = entered()
        let id = carrierID(&sdk)
        _ = sdk.does(.carrierPrepared(id, .success(Self.offer)))
        #expect(
            sdk.does(.presented(sdk.pageID, false))
                == ["event 400004", "failed numberAuth 400004"])
    }

    @Test("a page that is kept is not dismissed by the SDK")
    func kept() {
        var model = NumberAuthPageModel()
        model.keepsPageOnDismissal = true
        var sdk = shown(model)
        #expect(sdk.press(.back).suffix(3) == ["event 400005", "keep", "finish 400005"])
    }
}
