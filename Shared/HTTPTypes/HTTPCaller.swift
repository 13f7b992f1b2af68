/// A request to a server of others.
package struct HTTPCall: Sendable, Hashable {
    /// Upper case by the standard.
    package var method: String
    /// Absolute, `http` or `https`, everything that needs it percent-encoded, no name or password.
    package var url: String
    /// The caller's own; the client adds `Host` and the framing.
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// From the call to the last byte of the answer.
    package var timeout: Duration

    package static let timeoutDefault = Duration.seconds(10)

    package init(
        _ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = [],
        timeout: Duration = HTTPCall.timeoutDefault
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// What a server answered: any status is an answer.
package struct HTTPAnswer: Sendable, Hashable {
    package let status: Int
    /// Those of the final answer; trailers are left out.
    package let headers: HTTPHeaders
    package let body: [UInt8]

    package init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package var isSuccess: Bool { (200...299).contains(status) }
}

/// Why there is no answer.
package enum HTTPCallFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The caller: not absolute, another scheme, or unreadable.
    case badURL
    /// The caller: a method, or a header of this name, that would break the framing.
    case badHead(String)
    /// No such name, or nobody listens there. Nothing was sent.
    case couldNotConnect
    /// What was sent may have had its effect.
    case timedOut
    /// No TLS, or a certificate that is not trusted. Nothing was sent.
    case insecure
    /// The answer is longer than the client takes.
    case bodyTooLarge(bytesMax: Int)
    /// The connection broke before the answer was whole; what was sent may have had its effect.
    case connectionLost
    /// What came is no HTTP.
    case badAnswer
    /// The client has as many calls under way as it takes. Nothing was sent.
    case tooManyCalls(callsMax: Int)
    /// The task that called was cancelled.
    case cancelled
    /// A fault of the client itself.
    case clientFault

    package var description: String {
        switch self {
        case .badURL: "not an absolute http or https address"
        case .badHead(let name): "\(name) holds what no head of a request may hold"
        case .couldNotConnect: "nobody could be reached there"
        case .timedOut: "no whole answer within the time"
        case .insecure: "no trusted TLS connection"
        case .bodyTooLarge(let bytesMax): "the answer is longer than \(bytesMax) bytes"
        case .connectionLost: "the connection broke before the answer was whole"
        case .badAnswer: "the answer is no HTTP"
        case .tooManyCalls(let callsMax): "\(callsMax) calls are under way already"
        case .cancelled: "the call was cancelled"
        case .clientFault: "a fault of the HTTP client"
        }
    }
}

/// Calls servers of others. Follows no redirect.
package protocol HTTPCaller: Sendable {
    func call(_ call: HTTPCall) async throws(HTTPCallFailure) -> HTTPAnswer
}
