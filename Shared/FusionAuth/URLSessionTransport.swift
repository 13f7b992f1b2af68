public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The transport over URLSession: no cookies, no cache, no redirects.
///
/// One session for the life of the transport: on Linux, ending sessions is where Foundation crashes.
public final class URLSessionTransport: FusionAuthTransport {
    /// Of an answer: the client API's are a few kilobytes. Looked at once the answer is whole, since
    /// Foundation on Linux has no `bytes(for:)`; until then the request's timeout alone bounds it.
    public static let bodyBytesMax = 1 << 20

    private let endpoint: URL
    private let session: URLSession

    /// - Parameter endpoint: `https://fusion.example.com`, or with a path below which the gateway
    ///   answers.
    public init(endpoint: URL) {
        self.endpoint = endpoint
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        session = URLSession(
            configuration: configuration, delegate: StaysWhereItIs(), delegateQueue: nil)
    }

    public func send(
        _ request: FusionAuthRequest
    ) async throws(FusionAuthTransportFailure) -> FusionAuthResponse {
        let base = endpoint.absoluteString
        guard
            let url = URL(
                string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + request.path)
        else { throw .noNetwork }
        var carried = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: request.timeout / .seconds(1))
        carried.httpMethod = request.method
        carried.httpBody = request.body
        for (name, value) in request.headers {
            carried.setValue(value, forHTTPHeaderField: name)
        }
        do {
            let (body, answer) = try await session.data(for: carried)
            guard let answer = answer as? HTTPURLResponse, body.count <= Self.bodyBytesMax else {
                throw FusionAuthTransportFailure.noNetwork
            }
            var headers: [String: String] = [:]
            for (name, value) in answer.allHeaderFields {
                headers["\(name)".lowercased()] = "\(value)"
            }
            return FusionAuthResponse(status: answer.statusCode, headers: headers, body: body)
        } catch {
            throw (error as? URLError)?.code == .timedOut ? .timeout : .noNetwork
        }
    }
}

/// A redirect would carry the auth token to wherever it points.
private final class StaysWhereItIs: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
