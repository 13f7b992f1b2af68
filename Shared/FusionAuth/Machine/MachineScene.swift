import Foundation

/// What the app calls: start, continue, stop, the half-way answer.
extension FusionAuthMachine {
    mutating func start(_ templateId: String) {
        if let refusal = startRefusal(templateId) { return refuse(refusal, templateId: templateId) }
        scene = Scene(templateId)
        startLoading()
        begin(
            .start, "/client/v1/scenes",
            Wire.Start(
                templateId: templateId, deviceId: settings.deviceId,
                capabilities: Wire.Capabilities(
                    numberAuth: settings.hasCarrier, smsCode: true, upgoingSMS: true,
                    graphic: settings.showsGraphic),
                locale: settings.locale))
    }

    private func startRefusal(_ templateId: String) -> FusionAuthResultCode? {
        guard scene == nil else { return .templateNotEnd }
        guard isTokenGood else { return tokenWork != nil ? .tokenIsVerifying : .tokenInvalid }
        guard templates.isEmpty || templates.contains(where: { $0.templateId == templateId })
        else { return .templateNotExist }
        return nil
    }

    /// Success only where a mask token was won at this node; whether it was a PASS the service knows.
    mutating func proceed(_ templateId: String, _ isSuccess: Bool) {
        guard let scene, scene.templateId == templateId else {
            return refuse(.templateNotStart, templateId: templateId)
        }
        guard scene.page != nil, !scene.isStopping, scene.queuedVerdict == nil,
            scene.hasEvidence || !isSuccess
        else { return refuse(.authCurrentNodeNotComplete, templateId: templateId) }
        self.scene?.carrierWork = nil
        self.scene?.numberAsk = nil
        self.scene?.queuedVerdict = Wire.Verdict(step: scene.step, isSuccess: isSuccess)
        sendQueued()
    }

    /// As soon as no call is under way.
    mutating func sendQueued() {
        guard let scene, scene.call == nil, !scene.isStopping, let verdict = scene.queuedVerdict
        else { return }
        self.scene?.queuedVerdict = nil
        guard verdict.step == scene.step else {
            // The run moved before the app's decision could be told.
            return refuse(.authCurrentNodeNotComplete, templateId: scene.templateId)
        }
        startLoading()
        begin(.proceed, runPath("/continue"), verdict)
    }

    mutating func halfwayAnswered(_ id: Int, _ isSuccess: Bool) {
        guard let scene, scene.halfwayID == id else { return }
        self.scene?.halfwayID = nil
        guard isSuccess, !scene.isStopping else { return }
        guard scene.call == nil else {
            return refuse(.authCurrentNodeNotComplete, templateId: scene.templateId)
        }
        startLoading()
        begin(
            .halfway, runPath("/halfway"), Wire.Verdict(step: scene.step, isSuccess: true))
    }

    /// Allowed at any time; without such a scene nothing happens.
    mutating func stop(_ templateId: String) {
        guard let scene, scene.templateId == templateId, !scene.isStopping else { return }
        let id = nextID()
        self.scene?.isStopping = true
        self.scene?.stopID = id
        self.scene?.carrierWork = nil
        self.scene?.numberAsk = nil
        self.scene?.queuedVerdict = nil
        self.scene?.halfwayID = nil
        actions.append(.wake(id, after: Bounds.stop))
        // A start has to be answered first: without it there is no run to stop.
        if scene.runId != nil { beginStop() }
    }

    mutating func beginStop() { begin(.stop, runPath("/stop"), Nothing()) }

    /// Ends the scene here, whatever becomes of the run.
    mutating func finish(
        _ code: FusionAuthResultCode, reason: String? = nil, error: FusionAuthError? = nil
    ) {
        guard scene != nil else { return }
        scene?.call = nil
        endLoading()
        leavePage()
        let end = event(code, nodeId: "", reason: reason, error: error)
        emit(end)
        scene = nil
        tell(.templateFinish(end))
    }
}
