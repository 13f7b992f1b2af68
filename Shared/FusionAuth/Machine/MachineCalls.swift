import Foundation

/// Requests of a scene: sent one at a time, repeated under the same key, given up after a bound.
extension FusionAuthMachine {
    mutating func begin(
        _ kind: SceneCall.Kind, _ path: String, _ body: (some Encodable)?, method: String = "POST"
    ) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let call = SceneCall(
            kind: kind, method: method, path: path, body: body.flatMap { try? encoder.encode($0) },
            key: method == "POST" ? nextKey() : nil)
        scene?.call = call
        sendCall()
    }

    mutating func beginInput(_ kind: SceneCall.Kind, _ input: Wire.NodeInput) {
        guard let scene else { return }
        begin(kind, runPath("/input"), Wire.Input(step: scene.step, input: input))
    }

    func runPath(_ rest: String) -> String { "/client/v1/scenes/\(scene?.runId ?? "")\(rest)" }

    /// The first time, or again as it was.
    mutating func sendCall() {
        guard var call = scene?.call else { return }
        call.id = nextID()
        call.tries += 1
        call.pauseID = nil
        call.isParked = false
        scene?.call = call
        let timeout = call.kind == .stop ? Bounds.stop : Bounds.request
        actions.append(
            .send(
                call.id,
                FusionAuthRequest(
                    call.method, call.path, headers: headers(call.key, hasBody: call.body != nil),
                    body: call.body, timeout: timeout)))
    }

    private func headers(_ key: String?, hasBody: Bool) -> [String: String] {
        var headers = Self.headers(token)
        headers["Idempotency-Key"] = key
        headers["X-Run-Key"] = scene?.runKey
        if hasBody { headers["Content-Type"] = "application/json" }
        return headers
    }

    /// A stop whose answer nobody waits for; nil without a run.
    mutating func lastStop() -> FusionAuthRequest? {
        guard scene?.runId != nil else { return nil }
        return FusionAuthRequest(
            "POST", runPath("/stop"), headers: headers(nextKey(), hasBody: true),
            body: Data("{}".utf8), timeout: Bounds.stop)
    }

    // MARK: Answers

    mutating func callAnswered(
        _ call: SceneCall, _ outcome: Result<FusionAuthResponse, FusionAuthTransportFailure>
    ) {
        do throws(FusionAuthError) {
            settle(call, try Self.read(outcome))
        } catch {
            if error.concernsToken, !call.hasNewToken { return parkCall() }
            let mayRepeat = call.kind != .stop
            if mayRepeat, let pause = Self.pause(after: error, tries: call.tries) {
                let id = nextID()
                scene?.call?.pauseID = id
                actions.append(.wake(id, after: pause))
                return
            }
            callFailed(error)
        }
    }

    /// The call gave nothing, for good.
    mutating func callFailed(_ error: FusionAuthError) {
        guard let call = scene?.call else { return }
        scene?.call = nil
        endLoading()
        switch (call.kind, error.code) {
        case (.stop, _): return finish(.templateEnd, reason: "stopped", error: error)
        case (.start, "template_not_found"):
            interrupt(event(.templateNotExist, error: error))
            return finish(.authNextNodeFail, error: error)
        case (.start, _):
            if scene?.isStopping == true { return finish(.templateEnd, reason: "stopped") }
            if error.isPassing || error.concernsToken {
                interrupt(event(Self.code(of: error), error: error))
            }
            return finish(.authNextNodeFail, error: error)
        case (_, "run_not_found"), (.read, _): return finish(.templateEnd, error: error)
        case (_, "run_ended"): return begin(.read, runPath(""), Nothing?.none, method: "GET")
        default: break
        }
        if error.isPassing || error.concernsToken {
            // The page stays: the person or the app does it again.
            interrupt(event(Self.code(of: error), error: error))
        } else {
            refused(call.kind, error)
        }
        sendQueued()
        sendHeldCode()
    }

    struct Nothing: Codable {}

    private static func code(of error: FusionAuthError) -> FusionAuthResultCode {
        switch error {
        case .noNetwork: .errorNoNetwork
        case .timeout: .errorNetworkTimeout
        default: error.concernsToken ? .tokenInvalid : .errorSDKInnerTimeout
        }
    }

    /// The service would not have it.
    private mutating func refused(_ kind: SceneCall.Kind, _ error: FusionAuthError) {
        let isChecked = scene?.node?.validityCheck == true
        switch kind {
        case .send where error.code == "number_invalid":
            var wrong = event(.verifyCodeSendClickEvent, error: error)
            wrong.extendData["isNumberValid"] = "0"
            interrupt(wrong)
        case .send:
            let isLimit = error.status == 429
            fail(event(isLimit ? .verifyCodeFrequency : .verifyCodeGetFail, error: error))
        case .code:
            fail(
                event(
                    isChecked ? .verifyCodeVerifyPhoneGetTokenFail : .verifyCodeGetTokenFail,
                    error: error))
        case .sent: fail(event(.upGoingGetTokenFail, error: error))
        case .proof: fail(event(.graphAuthServerVerifyFail, error: error))
        case .carrierFailed(atInit: true): fail(carrierEvent(.numberAuthInitFail, error: error))
        case .carrierToken, .carrierFailed, .otherLogin:
            fail(carrierEvent(.numberAuthGetTokenFail, error: error))
        case .proceed, .halfway: interrupt(event(.authCurrentNodeNotComplete, error: error))
        case .start, .stop, .read: break
        }
    }

    // MARK: Loading

    mutating func startLoading() {
        guard scene?.isLoading == false else { return }
        scene?.isLoading = true
        interrupt(event(.startLoading))
        changePage { $0.isLoading = true }
    }

    mutating func endLoading() {
        guard scene?.isLoading == true else { return }
        scene?.isLoading = false
        interrupt(event(.endLoading))
        changePage { $0.isLoading = false }
    }

    mutating func changePage(_ change: (inout PageState) -> Void) {
        guard var page = scene?.page else { return }
        change(&page)
        guard page != scene?.page else { return }
        scene?.page = page
        if page.isPresented { tell(.update(page)) }
    }
}
