package import HTTPTypes

/// One family of HTTP paths. It answers in its own words, also where it refuses.
package protocol Edge: Sendable {
    /// `/client/v1`: where no route answers, the edge of the longest prefix that fits speaks. A prefix
    /// fits whole segments; `/` fits everything.
    var prefixes: [String] { get }
    var routes: [Route] { get }
    func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse
}

/// Why no route answers.
package enum EdgeRefusal: Sendable, Hashable {
    /// 404: no such path.
    case notFound
    /// 405: the path takes these methods, which the gateway puts into `Allow`.
    case methodNotAllowed([String])
    /// 400: see `HTTPRefusal.badFraming`.
    case badRequest
    /// 413.
    case bodyTooLarge(bytesMax: Int)
    /// 503.
    case unavailable
}

/// One method of one path.
package struct Route: Sendable {
    package typealias Answer = @Sendable (HTTPRequest, RequestScope) async -> HTTPResponse

    /// Names it in metrics and the access log: `scenes.input`. Never the path as sent.
    package let name: String
    package let method: String
    package let pattern: PathPattern
    package let bodyBytesMax: Int
    /// Asked all day by programs that only look whether we live: counted, and
    /// logged at info only when the answer is bad.
    package let isProbe: Bool
    /// HEAD is answered as GET (RFC 9110 §9.3.2); false where a GET uses something up.
    package let answersHead: Bool
    package let answer: Answer

    /// - Parameter path: whole: `/client/v1/scenes/{runId}/events`.
    package init(
        _ name: String, _ method: String, _ path: String,
        bodyBytesMax: Int = Route.bodyBytesMaxDefault, isProbe: Bool = false,
        answersHead: Bool = true, _ answer: @escaping Answer
    ) {
        self.name = name
        self.method = method
        self.pattern = PathPattern(path)
        self.bodyBytesMax = bodyBytesMax
        self.isProbe = isProbe
        self.answersHead = answersHead && method == "GET"
        self.answer = answer
    }

    func takes(_ method: String) -> Bool {
        method == self.method || (method == "HEAD" && answersHead)
    }

    /// The largest text of our APIs, an SMS with its parameters, is far below.
    package static let bodyBytesMaxDefault = 64 * 1024
}

/// A path with names for some of its segments.
package struct PathPattern: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case literal(String)
        case value(String)
    }

    private let parts: [Part]

    package init(_ text: String) {
        parts = Self.segments(text).map { segment in
            segment.hasPrefix("{") && segment.hasSuffix("}")
                ? .value(String(segment.dropFirst().dropLast())) : .literal(String(segment))
        }
    }

    /// The values by name, decoded; nil when the path does not fit.
    /// A slash inside a value must be escaped; an empty segment fits nothing.
    package func match(_ path: String) -> [String: String]? { match(Self.segments(path)) }

    func match(_ segments: [Substring]) -> [String: String]? {
        guard segments.count == parts.count else { return nil }
        var values: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            switch part {
            case .literal(let text):
                guard segment == text else { return nil }
            case .value(let name):
                guard !segment.isEmpty,
                    let value = PercentCoding.decode(segment, plusIsSpace: false)
                else { return nil }
                values[name] = value
            }
        }
        return values
    }

    var segmentsCount: Int { parts.count }

    /// The whole path where no part of it is a name.
    var literal: String? {
        var text = ""
        for part in parts {
            guard case .literal(let segment) = part else { return nil }
            text += "/\(segment)"
        }
        return text.isEmpty ? "/" : text
    }

    /// `/` and the empty path have none; `/a/` has an empty one at its end.
    static func segments(_ path: String) -> [Substring] {
        let bytes = path.utf8.first == slash ? path.utf8.dropFirst() : path.utf8[...]
        guard !bytes.isEmpty else { return [] }
        return bytes.split(separator: slash, omittingEmptySubsequences: false).map {
            Substring($0)
        }
    }

    /// How many `segments` has, of a path that begins with a slash.
    static func segmentsCount(_ path: String) -> Int {
        path.utf8.count < 2 ? 0 : path.utf8.count { $0 == slash }
    }

    private static let slash = UInt8(ascii: "/")
}
