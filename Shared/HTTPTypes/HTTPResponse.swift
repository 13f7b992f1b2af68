/// An answer. The server adds `Date`, `Connection` and the framing.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Sent piece by piece as they come, flushed each time; for events. The server asks for the
        /// next piece when the last one is on its way; nil ends the answer. The task that waits in it
        /// is cancelled when the client has gone or the server drains.
        case stream(@Sendable () async -> [UInt8]?)
    }

    package var status: Int
    package var headers: HTTPHeaders
    package var body: Body

    package init(status: Int, headers: HTTPHeaders = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package static func text(
        _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": type], body: .bytes(Array(text.utf8)))
    }

    /// The bytes of a body that is not a stream.
    package var bytes: [UInt8]? {
        if case .bytes(let bytes) = body { bytes } else { nil }
    }
}
