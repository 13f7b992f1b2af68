import FusionAuth

/// Callbacks and actions as lines of a transcript.
enum Lines {
    static func of(_ callback: Callback) -> String {
        switch callback {
        case .event(let event): "event \(of(event))"
        case .tokenAuthSuccess: "token good"
        case .tokenAuthFailure(_, let event): "token failed \(of(event))"
        case .verifySuccess(let node, _, let event): "success \(node) \(of(event))"
        case .halfwayVerifySuccess(_, let node, _, let event): "half-way \(node) \(of(event))"
        case .verifyFailed(let node, let event): "failed \(node) \(of(event))"
        case .templateFinish(let event): "finish \(of(event))"
        case .askNumber(_, let event): "number? \(of(event))"
        case .protocolClick(let agreement, let event): "protocol \(agreement.name) \(of(event))"
        case .interrupt(let event): "interrupt \(of(event))"
        case .present(let page): "present \(page.nodeName)"
        case .update: "update"
        case .dismiss(_, let isKept): isKept ? "keep" : "dismiss"
        }
    }

    static func of(_ event: FusionAuthEvent) -> String {
        let inner = event.innerCode.map { "/\($0.rawValue)" } ?? ""
        let reason = event.reason.map { " \($0)" } ?? ""
        return "\(event.resultCode.value)\(inner)\(reason)"
    }

    static func of(_ action: MachineAction) -> String {
        switch action {
        case .tell(let callback): of(callback)
        case .askToken: "ask token"
        case .send(_, let request): "\(request)"
        case .sendLast(let request): "last \(request)"
        case .wake(_, let duration): "wake \(duration)"
        case .prepareCarrier: "prepare carrier"
        case .fetchCarrierToken: "fetch carrier token"
        case .compose(_, let text, let number): "compose \(text) to \(number)"
        case .end: "end"
        }
    }
}
