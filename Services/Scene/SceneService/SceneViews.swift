import Messages
import Primitives

/// What the client is shown.
extension SceneDesk {
    /// - Parameters:
    ///   - applied: false when the call changed nothing.
    ///   - runKey: in the answer of start only.
    func view(applied: Bool = true, runKey: Secret<String>? = nil) -> SceneView {
        SceneView(
            runId: facts.runId, templateId: facts.templateId, step: run.step, state: run.state,
            endCode: run.endCode, resultCodes: run.notes.compactMap(\.resultCode),
            node: node.map(nodeView), maskToken: maskToken, applied: applied, runKey: runKey,
            reason: run.reason)
    }

    /// The same with events, for `scene.get`.
    func view(events: [SceneEvent]?) -> SceneView {
        SceneView(
            runId: facts.runId, templateId: facts.templateId, step: run.step, state: run.state,
            endCode: run.endCode, resultCodes: run.notes.compactMap(\.resultCode),
            node: node.map(nodeView), events: events, reason: run.reason)
    }

    private func nodeView(_ node: SceneNode) -> NodeView {
        let numbers = run.numbers
        let isSMS = node.kind == .smsCode
        let shown = node.isPrefilled ? numbers.bound ?? numbers.account : nil
        let typed: NumberInput = node.isPrefilled && numbers.bound != nil ? .none : .typed
        return NodeView(
            nodeId: node.nodeId, kind: node.kind, nodeName: node.nodeName,
            halfway: node.isHalfway, maskedNumber: shown?.masked,
            numberInput: isSMS ? typed : nil,
            codeLength: isSMS ? run.sms?.codeLength ?? map.codeLength(node) : nil,
            codeType: isSMS ? run.sms?.codeType ?? map.policy.codeType ?? 1 : nil,
            expiresAtMilliseconds: expiry(of: node), resendAtMilliseconds: resendAt(isSMS),
            sendsLeft: run.sms?.sendsLeft, delivery: run.sms?.delivery, upgoing: upgoingView,
            passed: run.passed ? true : nil, prefilled: node.isPrefilled ? true : nil,
            validityCheck: node.checksNumber ? true : nil)
    }

    private func expiry(of node: SceneNode) -> Int64? {
        switch node.kind {
        case .smsCode: run.sms?.expiresAtMilliseconds
        case .upgoingSMS: run.upgoing?.expiresAtMilliseconds
        case .numberAuth:
            node.settings?.timeoutSeconds.map {
                (run.enteredAt + .seconds($0)).millisecondsSince1970
            }
        case .deviceRisk, .numberRisk, .splitter, .phoneScore, .graphic: nil
        }
    }

    private func resendAt(_ isSMS: Bool) -> Int64? {
        guard isSMS else { return nil }
        return [run.sms?.resendAtMilliseconds, run.resendAt?.millisecondsSince1970]
            .compactMap(\.self).max()
    }

    private var upgoingView: UpgoingView? {
        guard let upgoing = run.upgoing, let text = run.numbers.upgoingText else { return nil }
        return UpgoingView(text: text, receivingNumber: upgoing.receivingNumber)
    }
}
