import Foundation

/// Everything that the SDK decides, as a value: inputs in, actions out. It knows no clock, no
/// transport and no delegate.
///
/// Token: none → asking → checking → good; refused, it is asked for again or fails.
/// Scene: none → starting → at a node → … → none. There is one at most; each that was begun is
/// finished exactly once. A call that is answered after its scene ended changes nothing.
package struct FusionAuthMachine: Sendable {
    package struct Settings: Sendable, Hashable {
        package var schemeCode: String
        package var deviceId: String?
        package var locale: String?
        package var hasCarrier = false
        package var hasComposer = false
        package var showsGraphic = false
        /// Random: idempotency keys begin with it.
        package var keyPrefix: String

        package init(schemeCode: String, keyPrefix: String) {
            self.schemeCode = schemeCode
            self.keyPrefix = keyPrefix
        }
    }

    package enum Bounds {
        /// `onSDKTokenUpdate`.
        package static let tokenUpdate = Duration.seconds(60)
        /// Before a token expires, the next one is asked for.
        package static let refreshBefore = Duration.seconds(300)
        /// A token that comes nearly expired is not asked for again at once.
        package static let refreshGapMin = Duration.seconds(30)
        /// The carrier's preparation and its token, each.
        package static let carrier = Duration.seconds(3)
        package static let request = Duration.seconds(10)
        package static let triesMax = 3
        /// Before the second and the third try.
        package static let pauses = [Duration.milliseconds(300), .milliseconds(1_000)]
        /// The service may ask for more patience than that, within this.
        package static let retryAfterMax = Duration.seconds(3)
        /// From `stopScene` to the end of the template, whatever the network does.
        package static let stop = Duration.seconds(5)
    }

    let settings: Settings
    var actions: [MachineAction] = []
    private var isDestroyed = false
    private var idsCount = 0
    private var keysCount = 0

    // Token
    let firstToken: FusionAuthToken?
    var token: FusionAuthToken?
    var isTokenGood = false
    var tokenWork: TokenWork?
    var refreshID: Int?
    var templates: [Wire.Template] = []
    /// The last try found no network.
    var isOffline = false

    var scene: Scene?

    package init(token: FusionAuthToken?, _ settings: Settings) {
        self.settings = settings
        firstToken = token
        self.token = token
    }

    package var currentTemplateId: String? { scene?.templateId }
    package var currentPage: PageState? { scene?.page }

    /// After `destroy` there are no more actions.
    package mutating func handle(_ input: MachineInput) -> [MachineAction] {
        guard !isDestroyed else { return [] }
        take(input)
        defer { actions = [] }
        return actions
    }

    private mutating func take(_ input: MachineInput) {
        switch input {
        case .activate: activate()
        case .updateToken(let token): check(token)
        case .start(let templateId): start(templateId)
        case .proceed(let templateId, let isSuccess): proceed(templateId, isSuccess)
        case .stop(let templateId): stop(templateId)
        case .closePrivacyAlert: closeAlert()
        case .destroy: destroy()
        case .page(let id, let input):
            if scene?.page?.id == id { press(input) }
        case .customised(let id, let terms): customised(id, terms)
        case .presented(let id, let isShown): presented(id, isShown)
        case .tokenGiven(let id, let token): tokenGiven(id, token)
        case .numberGiven(let id, let number): numberGiven(id, number)
        case .halfwayAnswered(let id, let isSuccess): halfwayAnswered(id, isSuccess)
        case .answered(let id, let outcome): answered(id, outcome)
        case .carrierPrepared(let id, let result): carrierPrepared(id, result)
        case .carrierToken(let id, let result): carrierFetched(id, result)
        case .composed(let id, let result): composed(id, result)
        case .woke(let id): woke(id)
        }
    }

    private mutating func destroy() {
        if let request = lastStop() { actions.append(.sendLast(request)) }
        scene = nil
        isDestroyed = true
        actions.append(.end)
    }

    private mutating func woke(_ id: Int) {
        if id == refreshID {
            refreshID = nil
            ask()
        } else if tokenWork?.id == id {
            tokenWorkWoke()
        } else if id == scene?.call?.pauseID {
            sendCall()
        } else if id == scene?.carrierWork?.id {
            carrierLate()
        } else if id == scene?.stopID {
            finish(.templateEnd, reason: "stopped")
        }
    }

    private mutating func answered(
        _ id: Int, _ outcome: Result<FusionAuthResponse, FusionAuthTransportFailure>
    ) {
        if case .checking(id, let token, let tries) = tokenWork {
            noteNetwork(outcome)
            checked(token, tries, outcome)
        } else if let call = scene?.call, call.id == id {
            noteNetwork(outcome)
            callAnswered(call, outcome)
        }
    }

    // MARK: Ids and events

    mutating func nextID() -> Int {
        idsCount += 1
        return idsCount
    }

    mutating func nextKey() -> String {
        keysCount += 1
        return "\(settings.keyPrefix)-\(keysCount)"
    }

    func event(
        _ code: FusionAuthResultCode, _ message: String? = nil, nodeId: String? = nil,
        reason: String? = nil, error: FusionAuthError? = nil
    ) -> FusionAuthEvent {
        FusionAuthEvent(
            code, message, templateId: scene?.templateId ?? "",
            nodeId: nodeId ?? scene?.page?.nodeId ?? "", reason: reason, error: error)
    }

    mutating func tell(_ callback: Callback) { actions.append(.tell(callback)) }

    mutating func emit(_ event: FusionAuthEvent) { tell(.event(event)) }
    mutating func emit(_ code: FusionAuthResultCode) { emit(event(code)) }

    mutating func interrupt(_ event: FusionAuthEvent) {
        emit(event)
        tell(.interrupt(event))
    }

    /// The current node failed; it is the app's turn.
    mutating func fail(_ event: FusionAuthEvent) {
        emit(event)
        guard let page = scene?.page else { return }
        tell(.verifyFailed(page.nodeName, event))
    }

    /// A call of the app that cannot be done now.
    mutating func refuse(_ code: FusionAuthResultCode, templateId: String) {
        var refusal = event(code)
        refusal.templateId = templateId
        interrupt(refusal)
    }

    /// Says so when the network goes, and when it is back.
    private mutating func noteNetwork(
        _ outcome: Result<FusionAuthResponse, FusionAuthTransportFailure>
    ) {
        switch outcome {
        case .success:
            if isOffline { emit(.networkConnected) }
            isOffline = false
        case .failure(let failure):
            emit(failure == .timeout ? .errorNetworkTimeout : .errorNoNetwork)
            isOffline = true
        }
    }
}
