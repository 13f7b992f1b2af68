import HTTPTypes

/// A JSON value of an answer. Only this surface writes names in PascalCase.
enum DypnsapiValue: Encodable, Sendable, Hashable, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral
{
    case text(String)
    case integer(Int64)
    case flag(Bool)
    case object([String: DypnsapiValue])
    case array([DypnsapiValue])

    init(stringLiteral value: String) { self = .text(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(dictionaryLiteral elements: (String, DypnsapiValue)...) {
        self = .object(Dictionary(elements) { first, _ in first })
    }

    /// Members without a value are left out.
    static func object(some members: [String: DypnsapiValue?]) -> Self {
        .object(members.compactMapValues { $0 })
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .object(let members): try container.encode(members)
        case .array(let items): try container.encode(items)
        }
    }
}

/// What an action answers beside `Code`, `Message` and `RequestId`.
typealias DypnsapiAnswer = [String: DypnsapiValue]

/// Answers on the wire.
enum DypnsapiWire {
    /// Without a space: some client libraries compare the whole text.
    static let type = "application/json;charset=utf-8"
    /// Where the caller named no host.
    static let hostDefault = "dypnsapi"
    private static let hostBytesMax = 255

    static func success(_ answer: DypnsapiAnswer, requestID: String) -> HTTPResponse {
        var body = answer
        body["Code"] = "OK"
        body["Message"] = "OK"
        body["RequestId"] = .text(requestID)
        return response(200, body, requestID)
    }

    static func failure(
        _ error: DypnsapiError, host: String?, requestID: String
    ) -> HTTPResponse {
        var body: DypnsapiAnswer = [
            "RequestId": .text(requestID), "Code": .text(error.code),
            "Message": .text(error.message),
        ]
        if error.isBusiness {
            body["Success"] = false
        } else {
            body["HostId"] = .text(Self.host(host))
            body["Recommend"] = .text(error.recommend)
        }
        body["Reason"] = error.reason.map { .text($0) }
        var response = response(error.status, body, requestID)
        guard let wait = error.retryAfterMilliseconds, wait > 0 else { return response }
        response.headers.set("x-acs-retry-after", "\(wait)")
        if error.code.hasPrefix("Throttling.") {
            response.headers.set("x-ratelimit-user", "Remain:0,TimeLeft:\(wait)")
        }
        response.headers.set("Retry-After", "\((wait + 999) / 1000)")
        return response
    }

    private static func host(_ given: String?) -> String {
        guard let given, (1...hostBytesMax).contains(given.utf8.count) else { return hostDefault }
        return given
    }

    private static func response(
        _ status: Int, _ body: DypnsapiAnswer, _ requestID: String
    ) -> HTTPResponse {
        var response = JSONAnswer.make(status, DypnsapiValue.object(body), type: type)
        response.headers.set("x-acs-request-id", requestID)
        return response
    }
}
