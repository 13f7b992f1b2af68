/// Metric names and log keys of the gateway, declared once.
enum GatewaySignals {
    /// Labels: route, status.
    static let requests = "http_requests"
    /// Label: route.
    static let seconds = "http_request_seconds"
    /// A path that no route has.
    static let noRoute = "none"

    static let requestID = "http.request.id"
    static let route = "http.route"
    static let method = "http.method"
    static let status = "http.status"
    static let milliseconds = "http.milliseconds"
    static let trace = "trace.id"
    /// Why the answer is a fault of ours: an `ErrorCode`.
    static let code = "error.code"
    /// The method of the bus that refused; `none` where the gateway itself did.
    static let busMethod = "bus.method"
    static let noMethod = "none"

    /// Label: result, `ok` or an `AccessTokenProblem`.
    static let accessTokens = "camara_access_tokens"
    static let file = "file"
    static let reason = "reason"
}
