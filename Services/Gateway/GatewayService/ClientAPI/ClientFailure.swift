import HTTPTypes
import Messages
import Primitives

/// Failures of the client API, in the names that an HTTP client knows.
enum ClientFailure {
    static let runNotFound = ServiceFailure(.runNotFound, "there is no such run", field: "runId")
    static let incompleteState = ServiceFailure(
        .internalFault, "an active token has facts that are missing")

    /// What an inactive token means to its holder.
    static func inactive(_ reason: TokenInactivity?) -> ServiceFailure {
        switch reason {
        case .expired: ServiceFailure(.tokenExpired, "the auth token has expired", field: field)
        case .revoked: ServiceFailure(.tokenRevoked, "the auth token was revoked", field: field)
        case .schemeDisabled: ServiceFailure(.schemeDisabled, "the scheme is switched off")
        case .malformed, .unknown, nil:
            ServiceFailure(.tokenInvalid, "this is not an auth token of ours", field: field)
        }
    }

    private static let field = BearerToken.field

    /// Fields of the bus that are elsewhere in HTTP.
    private static let names = [
        "authToken": BearerToken.field, "runKey": ClientRequest.runKeyField,
        "meta.requestKey": ClientRequest.requestKeyField,
    ]

    static func response(_ failure: ServiceFailure, _ scope: RequestScope) -> HTTPResponse {
        let renamed = failure.field.flatMap { names[$0] }
        let shown = ServiceFailure(
            failure.code, failure.message, field: renamed ?? failure.field,
            retryAfterMilliseconds: failure.retryAfterMilliseconds)
        var response = Problem(shown, requestID: scope.requestID).response
        if response.status == 401 {
            response.headers.set("WWW-Authenticate", BearerToken.challenge(shown))
        }
        return response
    }
}
