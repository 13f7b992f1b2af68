import Foundation

/// What a person does on a page. Every press is an event; one that would start a second thing beside
/// a first is only that.
extension FusionAuthMachine {
    mutating func press(_ input: PageInput) {
        guard let page = scene?.page, page.isPresented, scene?.isStopping == false else { return }
        if input == .back { return goBack(page) }
        switch page.nodeName {
        case .numberAuth: pressNumberAuth(input, page)
        case .verifyCodeAuth: pressSMSCode(input, page)
        case .upGoingAuth: pressUpGoing(input, page)
        case .graphAuth: pressGraphic(input)
        case .deviceSecurity: break
        }
    }

    /// The scene ends at once; the service is told without waiting for it.
    private mutating func goBack(_ page: PageState) {
        var click = event(page.codes.back)
        if page.nodeName == .numberAuth { click.innerCode = .clickCancel }
        emit(click)
        if let request = lastStop() { actions.append(.sendLast(request)) }
        scene?.call = nil
        scene?.carrierWork = nil
        endLoading()
        guard let gone = leavePage() else { return }
        scene = nil
        tell(.templateFinish(gone))
    }

    // MARK: Number authentication

    private mutating func pressNumberAuth(_ input: PageInput, _ page: PageState) {
        switch input {
        case .login: pressLogin(page)
        case .alertAgreed:
            guard page.isAlertShown else { return }
            changePage {
                $0.isAlertShown = false
                $0.isChecked = true
            }
            emit(click(.numberAuthGetTokenEvent, .alertAgreed, isChecked: true))
            if scene?.terms.alertLogsIn == true, scene?.isBusy == false { fetchCarrierToken() }
        case .alertClosed:
            guard page.isAlertShown else { return }
            changePage { $0.isAlertShown = false }
            emit(click(.numberAuthGetTokenEvent, .alertClosed, isChecked: page.isChecked))
        case .otherLogin:
            emit(
                click(
                    .numberAuthOtherPhoneLoginClickEvent, .clickOtherMethod,
                    isChecked: page.isChecked))
            guard scene?.terms.leadsOn == true, scene?.isBusy == false else { return }
            startLoading()
            beginInput(.otherLogin, Wire.NodeInput(otherLogin: true))
        case .setChecked(let isChecked):
            changePage { $0.isChecked = isChecked }
            emit(click(.numberAuthGetTokenEvent, .clickCheckBox, isChecked: isChecked))
        case .protocolClicked(let agreement):
            let click =
                page.isAlertShown
                ? click(
                    .numberAuthAlertProtocolClickEvent, .alertClickProtocol,
                    isChecked: page.isChecked)
                : click(.numberAuthProtocolClickEvent, .clickProtocol, isChecked: page.isChecked)
            emit(click)
            tell(.protocolClick(agreement, click))
        case .back, .send, .submit, .openComposer, .alreadySent, .proof, .localProofFailed: break
        }
    }

    private mutating func pressLogin(_ page: PageState) {
        guard let scene else { return }
        let isAgreed = page.isChecked || !scene.terms.needsCheck
        let click = click(.numberAuthGetTokenEvent, .clickLogin, isChecked: page.isChecked)
        guard isAgreed else {
            guard scene.terms.showsAlert else { return interrupt(click) }
            emit(click)
            changePage { $0.isAlertShown = true }
            return emit(
                self.click(.numberAuthGetTokenEvent, .alertShown, isChecked: page.isChecked))
        }
        emit(click)
        if !scene.isBusy { fetchCarrierToken() }
    }

    mutating func closeAlert() {
        guard scene?.page?.isAlertShown == true else { return }
        press(.alertClosed)
    }

    private func click(
        _ code: FusionAuthResultCode, _ inner: FusionAuthInnerCode? = nil, isChecked: Bool
    ) -> FusionAuthEvent {
        var click = event(code)
        click.innerCode = inner
        click.extendData["isCheckBoxSelected"] = isChecked ? "1" : "0"
        return click
    }

    // MARK: SMS code

    private mutating func pressSMSCode(_ input: PageInput, _ page: PageState) {
        switch input {
        case .send(let number, let isChecked): pressSend(number, isChecked, page)
        case .submit(let code):
            let code = code.trimmingCharacters(in: .whitespaces)
            guard !code.isEmpty else {
                return interrupt(event(.verifyCodeSubmitClickEvent, "the code is missing"))
            }
            emit(.verifyCodeSubmitClickEvent)
            if scene?.call?.kind == .send { scene?.heldCode = code }
            if scene?.isBusy == false { submit(code) }
        case .setChecked(let isChecked):
            changePage { $0.isChecked = isChecked }
            emit(click(.verifyCodeCheckBoxClickEvent, isChecked: isChecked))
        case .protocolClicked(let agreement):
            let click = click(.verifyCodeProtocolClickEvent, isChecked: page.isChecked)
            emit(click)
            tell(.protocolClick(agreement, click))
        case .login, .alertAgreed, .alertClosed, .otherLogin, .back, .openComposer, .alreadySent,
            .proof, .localProofFailed:
            break
        }
    }

    private mutating func submit(_ code: String) {
        startLoading()
        beginInput(.code, Wire.NodeInput(code: code))
    }

    /// After a call that left the person where she was.
    mutating func sendHeldCode() {
        guard let code = scene?.heldCode else { return }
        scene?.heldCode = nil
        if scene?.isBusy == false { submit(code) }
    }

    private mutating func pressSend(_ typed: String?, _ isChecked: Bool?, _ page: PageState) {
        var press = click(.verifyCodeSendClickEvent, isChecked: isChecked ?? page.isChecked)
        guard isChecked != false else { return interrupt(press) }
        guard page.takesNumber else {
            emit(press)
            if scene?.isBusy == false { sendCode(to: scene?.givenNumber) }
            return
        }
        guard let number = (typed ?? scene?.typedNumber).flatMap(PhoneText.cleaned) else {
            press.resultMsg = "this is not a phone number"
            press.extendData["isNumberValid"] = "0"
            return interrupt(press)
        }
        emit(press)
        guard scene?.isBusy == false else { return }
        if scene?.node?.validityCheck == true {
            askNumber(.compare(typed: number))
        } else {
            sendCode(to: number)
        }
    }

    private mutating func sendCode(to number: String?) {
        if scene?.page?.takesNumber == true { scene?.typedNumber = number }
        startLoading()
        beginInput(.send, Wire.NodeInput(send: true, number: number))
    }

    mutating func numberGiven(_ id: Int, _ given: String?) {
        guard let ask = scene?.numberAsk, ask.id == id else { return }
        scene?.numberAsk = nil
        switch ask.purpose {
        case .fillIn:
            guard let number = given.flatMap(PhoneText.cleaned) else {
                return fail(event(.verifyCodeAutoNumberShowFail))
            }
            scene?.givenNumber = number
            scene?.page?.fillIn(number)
            show()
        case .compare(let typed):
            // An app that has none to compare with leaves it to the service.
            if let given, !PhoneText.isSame(given, typed) {
                return fail(event(.verifyCodeAccuracyFail, reason: "number_mismatch"))
            }
            sendCode(to: typed)
        }
    }

    // MARK: Up-going SMS, graphic

    private mutating func pressUpGoing(_ input: PageInput, _ page: PageState) {
        switch input {
        case .openComposer:
            emit(.upGoingSendClickEvent)
            guard settings.hasComposer, scene?.isBusy == false, let text = page.smsContent,
                let number = page.receivingNumber
            else { return }
            let id = nextID()
            scene?.composeID = id
            actions.append(.compose(id, text: text, to: number))
        case .alreadySent:
            emit(.upGoingAlreadySendClickEvent)
            guard scene?.isBusy == false else { return }
            startLoading()
            beginInput(.sent, Wire.NodeInput(sent: true))
        case .login, .alertAgreed, .alertClosed, .otherLogin, .setChecked, .protocolClicked, .back,
            .send, .submit, .proof, .localProofFailed:
            break
        }
    }

    mutating func composed(_ id: Int, _ result: ComposeResult) {
        guard scene?.composeID == id else { return }
        scene?.composeID = nil
        switch result {
        case .sent: emit(.upGoingSendSuccess)
        case .failed: fail(event(.upGoingSendFail))
        case .cancelled: break
        }
    }

    private mutating func pressGraphic(_ input: PageInput) {
        switch input {
        case .proof(let proof):
            emit(.graphAuthLocalVerifySuccess)
            guard scene?.isBusy == false else { return }
            startLoading()
            beginInput(.proof, Wire.NodeInput(proof: proof))
        case .localProofFailed: emit(.graphAuthLocalVerifyFail)
        case .login, .alertAgreed, .alertClosed, .otherLogin, .setChecked, .protocolClicked, .back,
            .send, .submit, .openComposer, .alreadySent:
            break
        }
    }
}
