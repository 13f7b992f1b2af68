import Foundation

/// Number authentication: the carrier's SDK is asked twice, each time for 3 s at most. The person on
/// the page has all the time.
extension FusionAuthMachine {
    mutating func prepareCarrier() {
        startLoading()
        workCarrier(CarrierWork.preparing, MachineAction.prepareCarrier)
    }

    mutating func fetchCarrierToken() {
        startLoading()
        workCarrier(CarrierWork.fetching, MachineAction.fetchCarrierToken)
    }

    private mutating func workCarrier(
        _ work: (Int) -> CarrierWork, _ action: (Int) -> MachineAction
    ) {
        let id = nextID()
        scene?.carrierWork = work(id)
        scene?.carrierFailure = nil
        actions.append(action(id))
        actions.append(.wake(id, after: Bounds.carrier))
    }

    mutating func carrierPrepared(_ id: Int, _ result: Result<CarrierOffer, CarrierFailure>) {
        guard scene?.carrierWork == .preparing(id) else { return }
        switch result {
        case .success(let offer):
            scene?.carrierWork = nil
            endLoading()
            emit(.numberAuthInitSuccess)
            scene?.page?.carrier = offer
            scene?.page?.maskedNumber = offer.maskedNumber
            show()
        case .failure(let failure): report(failure, atInit: true)
        }
    }

    mutating func carrierFetched(_ id: Int, _ result: Result<CarrierToken, CarrierFailure>) {
        guard scene?.carrierWork == .fetching(id) else { return }
        switch result {
        case .success(let token):
            scene?.carrierWork = nil
            beginInput(.carrierToken, Wire.NodeInput(carrierToken: token.token))
        case .failure(let failure): report(failure, atInit: false)
        }
    }

    mutating func carrierLate() {
        guard let work = scene?.carrierWork else { return }
        switch work {
        case .preparing: report(.timeout, atInit: true)
        case .fetching: report(.timeout, atInit: false)
        }
    }

    /// The service keeps the reason for whoever asks later why the run went this way.
    private mutating func report(_ failure: CarrierFailure, atInit: Bool) {
        scene?.carrierWork = nil
        scene?.carrierFailure = failure
        beginInput(
            .carrierFailed(atInit: atInit), Wire.NodeInput(failed: failure.innerCode.rawValue))
    }

    func carrierEvent(
        _ code: FusionAuthResultCode, error: FusionAuthError? = nil
    ) -> FusionAuthEvent {
        var event = event(code, scene?.carrierFailure?.innerMsg, error: error)
        guard let failure = scene?.carrierFailure else {
            if code == .numberAuthGetTokenSuccess { event.innerCode = .success }
            return event
        }
        event.innerCode = failure.innerCode
        event.innerMsg = failure.innerMsg
        event.carrierFailedResultData = failure.resultData
        event.innerRequestId = failure.requestId
        return event
    }
}
