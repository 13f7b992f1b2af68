import Foundation

/// What is being done about the token.
enum TokenWork: Sendable, Hashable {
    case asking(Int)
    case checking(Int, FusionAuthToken, tries: Int)
    /// Until the next try.
    case pausing(Int, FusionAuthToken, tries: Int)

    var id: Int {
        switch self {
        case .asking(let id), .checking(let id, _, _), .pausing(let id, _, _): id
        }
    }
}

/// The auth token: asked for at the start, 5 minutes before it expires and when it is refused;
/// read here, judged by the gateway.
extension FusionAuthMachine {
    mutating func activate() {
        guard !settings.schemeCode.isEmpty else {
            return failToken(.errorSchemeCodeEmpty, token)
        }
        ask()
    }

    mutating func ask() {
        let id = nextID()
        tokenWork = .asking(id)
        actions.append(.askToken(id))
        actions.append(.wake(id, after: Bounds.tokenUpdate))
    }

    mutating func tokenGiven(_ id: Int, _ given: FusionAuthToken?) {
        guard tokenWork == .asking(id) else { return }
        tokenWork = nil
        // A handler may be made with a token by an app that has none to add to it.
        let unused = templates.isEmpty ? firstToken : nil
        guard let given = given ?? unused else {
            return failToken(.tokenInvalid, nil, reason: "no_token")
        }
        check(given)
    }

    mutating func tokenWorkWoke() {
        switch tokenWork {
        case .asking: failToken(.tokenUpdateTimeout, token)
        case .pausing(_, let token, let tries): check(token, tries: tries + 1)
        case .checking, nil: break
        }
    }

    mutating func check(_ token: FusionAuthToken, tries: Int = 1) {
        guard let claims = token.claims else { return failToken(.tokenAnalyseFail, token) }
        guard claims.sub == settings.schemeCode else {
            return failToken(.tokenVerifyFail, token, reason: "scheme_mismatch")
        }
        let id = nextID()
        tokenWork = .checking(id, token, tries: tries)
        actions.append(
            .send(
                id,
                FusionAuthRequest(
                    "GET", "/client/v1/session", headers: Self.headers(token),
                    timeout: Bounds.request)))
    }

    mutating func checked(
        _ token: FusionAuthToken, _ tries: Int,
        _ outcome: Result<FusionAuthResponse, FusionAuthTransportFailure>
    ) {
        do throws(FusionAuthError) {
            let session: Wire.Session = try Self.read(outcome)
            guard session.schemeCode == settings.schemeCode else {
                return failToken(.tokenVerifyFail, token, reason: "scheme_mismatch")
            }
            tokenWork = nil
            accept(token, session)
        } catch {
            guard !error.concernsToken else { return failToken(.tokenInvalid, token, error: error) }
            guard let pause = Self.pause(after: error, tries: tries) else {
                return failToken(.tokenVerifyFail, token, error: error)
            }
            let id = nextID()
            tokenWork = .pausing(id, token, tries: tries)
            actions.append(.wake(id, after: pause))
        }
    }

    private mutating func accept(_ token: FusionAuthToken, _ session: Wire.Session) {
        self.token = token
        isTokenGood = true
        templates = session.templates
        // By the service's clock: the handset's may be wrong.
        let left = Duration.milliseconds(
            max(0, session.expiresAtMilliseconds - session.serverTimeMilliseconds))
        let id = nextID()
        refreshID = id
        actions.append(
            .wake(id, after: max(left - Bounds.refreshBefore, Bounds.refreshGapMin)))
        emit(.tokenValid)
        tell(.tokenAuthSuccess)
        if scene?.call?.isParked == true { sendCall() }
    }

    mutating func failToken(
        _ code: FusionAuthResultCode, _ token: FusionAuthToken?, reason: String? = nil,
        error: FusionAuthError? = nil
    ) {
        tokenWork = nil
        // A refresh that failed says nothing about the token in use.
        if token == self.token, code != .tokenUpdateTimeout { isTokenGood = false }
        let failure = event(code, nodeId: "", reason: reason, error: error)
        emit(failure)
        tell(.tokenAuthFailure(token, failure))
        if scene?.call?.isParked == true {
            callFailed(
                FusionAuthError("token_invalid", "there is no good auth token", status: 401))
        }
    }

    /// A token was refused in the middle of a scene; the call waits for another one.
    mutating func parkCall() {
        scene?.call?.isParked = true
        scene?.call?.hasNewToken = true
        isTokenGood = false
        if tokenWork == nil { ask() }
    }

    static func headers(_ token: FusionAuthToken?) -> [String: String] {
        ["Authorization": "Bearer \(token?.authToken ?? "")", "Accept": "application/json"]
    }

    static func read<Value: Decodable>(
        _ outcome: Result<FusionAuthResponse, FusionAuthTransportFailure>
    ) throws(FusionAuthError) -> Value {
        switch outcome {
        case .success(let response): return try response.decoded()
        case .failure(.noNetwork): throw .noNetwork
        case .failure(.timeout): throw .timeout
        }
    }

    /// How long to wait before the same request is sent again; nil: it is not.
    static func pause(after error: FusionAuthError, tries: Int) -> Duration? {
        guard tries < Bounds.triesMax else { return nil }
        let asked = error.retryAfterMilliseconds.map { Duration.milliseconds($0) }
        let own = Bounds.pauses[min(tries, Bounds.pauses.count) - 1]
        guard error.isPassing || (error.status == 429 && asked != nil) else { return nil }
        guard let asked else { return own }
        return asked <= Bounds.retryAfterMax ? max(asked, own) : nil
    }
}
