import Messages
import Primitives

/// Refusals of scene calls, each in one place.
enum SceneFailure {
    /// Also for a wrong key and for another scheme's or app's token, so that runs cannot be probed.
    static let runNotFound = ServiceFailure(.runNotFound, "there is no such run", field: "runId")
    static let runEnded = ServiceFailure(.runEnded, "the run has ended")
    static let passNotOnRecord = ServiceFailure(
        .passNotOnRecord, "no PASS is on record for this step", field: "isSuccess")
    static let maskTokensUsedUp = ServiceFailure(
        .tooMany, "this run has had all its mask tokens", field: "input")
    static let templateNotFound = ServiceFailure(
        .templateNotFound, "the scheme has no such template", field: "templateId")
    static let addressNotAllowed = ServiceFailure(
        .notAllowed, "only the gateway states an address", field: "address")

    static func notExpected(_ what: String) -> ServiceFailure {
        ServiceFailure(.inputNotExpected, what, field: "input")
    }

    /// Ends a decision whose walk needs a text first. Passing, so that nobody remembers it.
    static let needsUpgoing = ServiceFailure(
        .unavailable, "the text of an up-going node is still to be opened")

    /// Says nothing about the request: the callee could not be asked, or its answer was lost.
    static func isPassing(_ failure: ServiceFailure) -> Bool {
        switch failure.code {
        case .internalFault, .unavailable, .overloaded, .workerLost, .deadlinePassed: true
        default: false
        }
    }

    /// What an inactive token means to a scene call.
    static func inactive(_ reason: TokenInactivity?) -> ServiceFailure {
        let field = "authToken"
        return switch reason {
        case .expired: ServiceFailure(.tokenExpired, "the auth token has expired", field: field)
        case .revoked: ServiceFailure(.tokenRevoked, "the auth token was revoked", field: field)
        case .schemeDisabled: ServiceFailure(.schemeDisabled, "the scheme is switched off")
        case .malformed, .unknown, nil:
            ServiceFailure(.tokenInvalid, "this is not an auth token of ours", field: field)
        }
    }
}
