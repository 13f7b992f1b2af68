package import HTTPTypes
package import Primitives

/// What went wrong, for a program and for a person (RFC 9457). `type` is left out: the code says it.
package struct Problem: Codable, Sendable, Hashable {
    package static let type = "application/problem+json"

    package let status: Int
    package let title: String
    /// For a person who debugs; never to be parsed.
    package let detail: String
    /// To act on: a stable reason in snake case.
    package let code: String
    /// Property of the body as a dotted path, header field, or name of the path.
    package let field: String?
    package let retryAfterMilliseconds: Int64?
    package let requestId: String

    package init(_ failure: ServiceFailure, requestID: String) {
        status = HTTPStatus.of(failure.code)
        title = HTTPStatus.title(status)
        // What is ours to mend is told in words of ours: a message speaks to the operator, and a
        // field is none of the caller's.
        let publicText = Self.text(ofFault: status)
        let field = publicText == nil ? failure.field : nil
        let text = publicText ?? failure.message
        detail = field.map { "\($0): \(text)" } ?? text
        code = failure.code.rawValue
        self.field = field
        retryAfterMilliseconds = failure.retryAfterMilliseconds.flatMap { $0 > 0 ? $0 : nil }
        requestId = requestID
    }

    /// The log has what happened; a stranger gets the id to ask with.
    /// - Returns: nil for what the caller can mend.
    private static func text(ofFault status: Int) -> String? {
        switch status {
        case ..<500: nil
        case 502: "a carrier or provider behind this system did not do its part"
        case 503: "not at the moment; try again"
        case 504: "no answer within the time; try again with the same Idempotency-Key"
        default: "a fault of ours; the request id leads to it in the log"
        }
    }

    /// Seconds, where nobody knows better: most of what is away is back soon.
    private static let absentSeconds = 1

    package var response: HTTPResponse {
        var response = JSONAnswer.make(status, self, type: Self.type)
        if let wait = retryAfterMilliseconds {
            // Whole seconds, rounded up (RFC 9110 §10.2.3).
            response.headers.set("Retry-After", "\(wait / 1000 + (wait % 1000 > 0 ? 1 : 0))")
        } else if status == 503 || status == 504 {
            response.headers.set("Retry-After", "\(Self.absentSeconds)")
        }
        return response
    }

    /// What an edge says when no route answers.
    package static func failure(_ refusal: EdgeRefusal) -> ServiceFailure {
        switch refusal {
        case .notFound: ServiceFailure(.pathNotFound, "there is no such path")
        case .methodNotAllowed(let allowed):
            ServiceFailure(
                .methodNotAllowed, "this path takes \(allowed.joined(separator: ", "))")
        case .badRequest:
            ServiceFailure(.invalidParameters, "the head of the request cannot be read")
        case .bodyTooLarge(let bytesMax):
            ServiceFailure(.bodyTooLarge, "takes at most \(bytesMax) bytes", field: "body")
        case .unavailable:
            ServiceFailure(.unavailable, "the gateway takes no requests at the moment")
        }
    }
}
