package import HTTPTypes

/// Lets web apps of listed origins use an edge from a browser (WHATWG Fetch, CORS). There is no
/// wildcard, and no cookie or certificate of the browser counts: the token is in a field.
package struct CrossOrigin: Sendable, Hashable {
    /// Seconds that a browser may keep the answer to a preflight.
    package static let maxAgeSeconds = 3_600
    package static let methods = "GET, POST"
    package static let requestFields =
        "Authorization, Content-Type, X-Run-Key, Idempotency-Key, Last-Event-ID"
    package static let answerFields = "X-Request-Id, Retry-After"

    private let origins: Set<String>

    package init(origins: [String]) { self.origins = Set(origins) }

    /// As a browser writes it (RFC 6454 §6.2): scheme, host and a port that is not the scheme's
    /// own, lower case, no slash at the end.
    package static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "https:" || parts[0] == "http:", parts[1].isEmpty,
            !parts[2].isEmpty, text == text.lowercased()
        else { return false }
        return parts[2].utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
                UInt8(ascii: "]"):
                true
            default: false
            }
        }
    }

    /// Adds to an answer what a browser needs to show it to the page.
    package func apply(to response: inout HTTPResponse, origin: String?) {
        guard !origins.isEmpty else { return }
        // Also where the origin is not listed: a cache must not give one's answer to the other.
        response.headers.add("Vary", "Origin")
        guard let origin, origins.contains(origin) else { return }
        response.headers.set("Access-Control-Allow-Origin", origin)
        response.headers.set("Access-Control-Expose-Headers", Self.answerFields)
    }

    /// The answer to OPTIONS. A page of another origin learns nothing from it.
    package func preflight(origin: String?) -> HTTPResponse {
        var response = HTTPResponse(status: 204)
        if let origin, origins.contains(origin) {
            response.headers.set("Access-Control-Allow-Methods", Self.methods)
            response.headers.set("Access-Control-Allow-Headers", Self.requestFields)
            response.headers.set("Access-Control-Max-Age", "\(Self.maxAgeSeconds)")
        }
        return response
    }
}
