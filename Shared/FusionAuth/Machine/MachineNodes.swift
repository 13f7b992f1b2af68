import Foundation

/// What the service answers: codes, the next node, the end.
extension FusionAuthMachine {
    mutating func settle(_ call: SceneCall, _ view: Wire.SceneView) {
        scene?.call = nil
        if call.kind == .start {
            guard let runKey = view.runKey else {
                scene?.call = call
                return callFailed(.notUnderstood(200))
            }
            scene?.runId = view.runId
            scene?.runKey = runKey
            if scene?.isStopping == true { return beginStop() }
        }
        endLoading()
        if call.kind == .carrierFailed(atInit: true) { fail(carrierEvent(.numberAuthInitFail)) }
        for value in view.resultCodes where !Self.endCodes.contains(value) {
            note(value, of: call, view)
        }
        guard view.state == .waiting, let node = view.node else { return end(view) }
        if scene?.page == nil || view.step != scene?.step || node.nodeId != scene?.page?.nodeId {
            leavePage()
            enter(node, step: view.step)
        } else {
            scene?.node = node
            changePage { $0.take(node) }
        }
        sendQueued()
        sendHeldCode()
    }

    private static let endCodes = [
        FusionAuthResultCode.templateEndSuccess, .authNextNodeFail, .templateEnd,
    ].map(\.value)

    private mutating func end(_ view: Wire.SceneView) {
        let code: FusionAuthResultCode =
            switch view.state {
            case .passed: .templateEndSuccess
            case .failed: .authNextNodeFail
            case .stopped, .expired, .waiting: .templateEnd
            }
        finish(code, reason: view.reason)
    }

    /// A code of the service, with the callback that goes with it.
    private mutating func note(_ value: Int, of call: SceneCall, _ view: Wire.SceneView) {
        let code = FusionAuthResultCode(value: value, at: scene?.page?.nodeName)
        let isDevice = FusionAuthResultCode.deviceCodes.contains(code)
        let failed = code.companion == .verifyFailed
        var event =
            call.isCarriers
            ? carrierEvent(code) : event(code, nodeId: isDevice ? deviceNodeId : nil)
        event.reason = failed || isDevice ? view.reason ?? event.reason : nil
        switch code.companion {
        case .verifySuccess:
            emit(event)
            won(view, event)
        case .verifyFailed where call.kind == .carrierFailed(atInit: true): emit(event)
        case .verifyFailed: fail(event)
        case .templateFinish, .tokenAuthFailure, nil: emit(event)
        }
    }

    private var deviceNodeId: String {
        let template = templates.first { $0.templateId == scene?.templateId }
        return template?.nodes.first { $0.kind == Wire.Kind.deviceRisk }?.nodeId ?? ""
    }

    private mutating func won(_ view: Wire.SceneView, _ event: FusionAuthEvent) {
        guard let maskToken = view.maskToken, let page = scene?.page else { return }
        scene?.hasEvidence = true
        guard scene?.node?.halfway == true else {
            return tell(.verifySuccess(page.nodeName, maskToken: maskToken, event))
        }
        let id = nextID()
        scene?.halfwayID = id
        tell(.halfwayVerifySuccess(id, page.nodeName, maskToken: maskToken, event))
    }

    // MARK: Entering and leaving

    private mutating func enter(_ node: Wire.NodeView, step: Int) {
        guard let nodeName = FusionAuthNodeName(kind: node.kind) else {
            // A kind that only a newer SDK knows.
            if let request = lastStop() { actions.append(.sendLast(request)) }
            return finish(.authNextNodeFail, reason: "node_not_known")
        }
        let page = PageState(
            id: nextID(), templateId: scene?.templateId ?? "", node: node, nodeName: nodeName)
        scene?.arrive(node, page, step: step)
        emit(.authNextNodeSuccess)
        switch nodeName {
        case .numberAuth: prepareCarrier()
        case .verifyCodeAuth: openSMSCode(node)
        case .upGoingAuth:
            guard node.upgoing != nil else { return fail(event(.upGoingInitFail)) }
            emit(.upGoingInitSuccess)
            show()
        case .graphAuth:
            guard settings.showsGraphic else { return fail(event(.graphAuthInitFail)) }
            emit(.graphAuthInitSuccess)
            show()
        case .deviceSecurity: break
        }
    }

    private mutating func openSMSCode(_ node: Wire.NodeView) {
        guard node.numberInput != nil else { return fail(event(.verifyCodeInitFail)) }
        emit(.verifyCodeInitSuccess)
        guard node.prefilled == true, node.maskedNumber == nil else { return show() }
        askNumber(.fillIn)
    }

    mutating func askNumber(_ purpose: NumberAsk.Purpose) {
        let id = nextID()
        scene?.numberAsk = NumberAsk(id: id, purpose: purpose)
        let question = event(.verifyCodeVerifyGetPhoneNumber)
        emit(question)
        tell(.askNumber(id, question))
    }

    mutating func show() {
        scene?.page?.isPresented = true
        if let page = scene?.page { tell(.present(page)) }
    }

    mutating func customised(_ id: Int, _ terms: PageTerms) {
        guard scene?.page?.id == id else { return }
        scene?.terms = terms
        scene?.page?.isChecked = terms.isChecked
    }

    mutating func presented(_ id: Int, _ isShown: Bool) {
        guard let page = scene?.page, page.id == id else { return }
        if isShown {
            emit(page.codes.shown)
        } else {
            scene?.page?.isPresented = false
            fail(event(page.codes.notShown))
        }
    }

    /// - Returns: the event of its going, nil where no page was shown.
    @discardableResult
    mutating func leavePage() -> FusionAuthEvent? {
        guard let scene, let page = scene.page, page.isPresented else { return nil }
        let gone = event(page.codes.dismissed)
        self.scene?.page?.isPresented = false
        emit(gone)
        let isKept = page.nodeName == .numberAuth && scene.terms.keepsPage
        tell(.dismiss(page.id, isKept: isKept))
        return gone
    }
}

extension FusionAuthNodeName {
    init?(kind: Int) {
        switch kind {
        case Wire.Kind.numberAuth: self = .numberAuth
        case Wire.Kind.smsCode: self = .verifyCodeAuth
        case Wire.Kind.upgoingSMS: self = .upGoingAuth
        case Wire.Kind.graphic: self = .graphAuth
        default: return nil
        }
    }
}

extension SceneCall {
    /// Its codes carry what the carrier said.
    fileprivate var isCarriers: Bool {
        switch kind {
        case .carrierToken, .carrierFailed: true
        case .start, .proceed, .halfway, .stop, .read, .send, .code, .sent, .otherLogin, .proof:
            false
        }
    }
}

extension FusionAuthResultCode {
    fileprivate static let deviceCodes: [Self] = [
        .deviceSecurityDetectionSafe, .deviceSecurityDetectionFrequency,
        .deviceSecurityDetectionRisk, .deviceSecurityDetectionGetFail,
    ]
}

extension PageState {
    /// The codes of its life, by kind.
    struct Codes {
        let shown: FusionAuthResultCode
        let notShown: FusionAuthResultCode
        let back: FusionAuthResultCode
        let dismissed: FusionAuthResultCode
    }

    var codes: Codes {
        switch nodeName {
        case .numberAuth:
            Codes(
                shown: .numberAuthPresentSuccess, notShown: .numberAuthPresentFail,
                back: .numberAuthBackButtonClickEvent, dismissed: .numberAuthDismiss)
        case .upGoingAuth:
            Codes(
                shown: .upGoingShowSuccess, notShown: .upGoingShowFail,
                back: .upGoingBackClickEvent, dismissed: .upGoingDismiss)
        case .graphAuth:
            Codes(
                shown: .graphAuthShowSuccess, notShown: .graphAuthShowFail,
                back: .graphAuthBackClickEvent, dismissed: .graphAuthDismiss)
        case .verifyCodeAuth, .deviceSecurity:
            Codes(
                shown: .verifyCodeShowSuccess, notShown: .verifyCodeShowFail,
                back: .verifyCodeBackClickEvent, dismissed: .verifyCodeDismiss)
        }
    }
}
