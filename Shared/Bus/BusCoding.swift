import FoundationEssentials
package import Primitives

/// The one JSON form of the bus: keys sorted, slashes plain, so that equal values have equal bytes.
package enum BusCoding {
    package static func encode(_ value: some Encodable) throws(ServiceFailure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            throw ServiceFailure(.internalFault, "a message could not be encoded")
        }
    }
}

/// The id of a JSON-RPC request, given back as it came.
package enum EnvelopeID: Codable, Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case null

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .null: try container.encodeNil()
        }
    }
}

/// What travels in the body beside the parameters.
package struct EnvelopeMeta: Codable, Sendable {
    package var requestKey: String?
    package var timeoutMilliseconds: Int64?
    package var traceparent: String?
    package var onBehalfOf: OnBehalfOf?
}

package struct RequestEnvelope<Parameters: Encodable>: Encodable {
    package let jsonrpc = "2.0"
    package let id: EnvelopeID
    package let method: String
    package let params: Parameters
    package let meta: EnvelopeMeta?

    package init(id: EnvelopeID, method: String, params: Parameters, meta: EnvelopeMeta?) {
        self.id = id
        self.method = method
        self.params = params
        self.meta = meta
    }

    private enum CodingKeys: CodingKey { case jsonrpc, id, method, params, meta }
}

struct ResultEnvelope<Reply: Encodable>: Encodable {
    let jsonrpc = "2.0"
    let id: EnvelopeID
    let result: Reply

    private enum CodingKeys: CodingKey { case jsonrpc, id, result }
}

/// JSON-RPC 2.0 §5.1: −32700 not JSON, −32600 not a request, −32601 no such method, −32602
/// parameters,
/// −32603 a fault of ours, −32000 every other reason.
struct EnvelopeError: Codable, Sendable {
    struct Detail: Codable, Sendable {
        var reason: ErrorCode?
        var field: String?
        var retryAfterMilliseconds: Int64?
    }
    let code: Int
    let message: String
    let data: Detail?

    static let notJSON = -32700
    static let notARequest = -32600

    init(code: Int, message: String, data: Detail?) {
        self.code = code
        self.message = message
        self.data = data
    }

    init(_ failure: ServiceFailure) {
        code =
            switch failure.code {
            case .methodNotFound: -32601
            case .invalidParameters: -32602
            case .internalFault: -32603
            default: -32000
            }
        message = failure.message
        data = Detail(
            reason: failure.code, field: failure.field,
            retryAfterMilliseconds: failure.retryAfterMilliseconds)
    }

    var failure: ServiceFailure {
        let byCode: ErrorCode =
            switch code {
            case -32601: .methodNotFound
            case -32700, -32600, -32602: .invalidParameters
            case -32603: .internalFault
            default: .unavailable
            }
        return ServiceFailure(
            data?.reason ?? byCode, message, field: data?.field,
            retryAfterMilliseconds: data?.retryAfterMilliseconds)
    }
}

struct ErrorEnvelope: Encodable {
    let jsonrpc = "2.0"
    let id: EnvelopeID
    let error: EnvelopeError

    private enum CodingKeys: CodingKey { case jsonrpc, id, error }
}

struct ReplyEnvelope<Reply: Decodable>: Decodable {
    let result: Reply?
    let error: EnvelopeError?
}

extension DecodingError {
    /// The field at fault as a dotted path below `params`, and what is wrong with it, without its
    /// value.
    func asFailure(root: String) -> ServiceFailure {
        let (path, text): ([any CodingKey], String) =
            switch self {
            case .keyNotFound(let key, let context): (context.codingPath + [key], "is missing")
            case .typeMismatch(let type, let context):
                (context.codingPath, "has another type than \(Self.word(for: type))")
            case .valueNotFound(_, let context): (context.codingPath, "must not be null")
            case .dataCorrupted(let context):
                (
                    context.codingPath,
                    context.codingPath.isEmpty ? "is not valid" : context.debugDescription
                )
            @unknown default: ([], "is not valid")
            }
        let names = path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        let field = names.drop { $0 == root }.joined(separator: ".")
        return ServiceFailure(.invalidParameters, text, field: field.isEmpty ? root : field)
    }

    private static func word(for type: Any.Type) -> String {
        switch type {
        case is String.Type: "text"
        case is Bool.Type: "true or false"
        case is Int.Type, is Int64.Type, is Int32.Type, is UInt32.Type: "a whole number"
        default: "expected"
        }
    }
}
