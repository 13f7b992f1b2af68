public import Foundation

/// Carries requests to the gateway. The real one is `URLSessionTransport`.
public protocol FusionAuthTransport: Sendable {
    /// One try: repeating is the SDK's business.
    func send(
        _ request: FusionAuthRequest
    ) async throws(FusionAuthTransportFailure) -> FusionAuthResponse
}

public enum FusionAuthTransportFailure: Error, Hashable, Sendable {
    /// Not connected, no such host, refused, cut off.
    case noNetwork
    case timeout
}

/// Prints without its headers and body, which hold secrets.
public struct FusionAuthRequest: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public var method: String
    /// Below the endpoint, with a leading slash: `/client/v1/session`.
    public var path: String
    public var headers: [String: String]
    public var body: Data?
    public var timeout: Duration

    public init(
        _ method: String, _ path: String, headers: [String: String] = [:], body: Data? = nil,
        timeout: Duration = .seconds(10)
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }

    public var description: String { "\(method) \(path)" }
    public var customMirror: Mirror { Mirror(reflecting: description) }
}

/// Prints as its status: the body may hold a mask token.
public struct FusionAuthResponse: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public let status: Int
    /// Names in lower case.
    public let headers: [String: String]
    public let body: Data

    public init(status: Int, headers: [String: String] = [:], body: Data) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    public var description: String { "HTTP \(status)" }
    public var customMirror: Mirror { Mirror(reflecting: description) }
}
