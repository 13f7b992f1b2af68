/// Why the server itself refuses a request, before anyone looks at what it wants.
package enum HTTPRefusal: Sendable, Hashable {
    /// The head breaks a rule of RFC 9112 that decides where a message ends, or of RFC 9110 §5 on
    /// fields. 400, and the connection is closed.
    case badFraming
    /// 413, by the declared length; the connection is closed.
    case bodyTooLarge(bytesMax: Int)
    /// 503: the server drains or has no room; the connection is closed.
    case unavailable

    package var status: Int {
        switch self {
        case .badFraming: 400
        case .bodyTooLarge: 413
        case .unavailable: 503
        }
    }
}

/// What an HTTP server serves.
package protocol HTTPHandler: Sendable {
    /// The largest body that a request with this head may have.
    func bodyBytesMax(_ head: HTTPRequestHead) -> Int
    /// Answers; never throws: every fault has an answer. Cancelled when the client has gone.
    func answer(_ request: HTTPRequest) async -> HTTPResponse
    /// The words of a refusal that the server made.
    func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead) -> HTTPResponse
}
