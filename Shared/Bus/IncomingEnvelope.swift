import FoundationEssentials
import Primitives

/// How far reading got, for the right error code and id when it fails.
final class EnvelopeProbe: Sendable {
    private let state = Lock((entered: false, parameters: false, id: EnvelopeID.null))

    var wasEntered: Bool { state.withLock { $0.entered } }
    var reachedParameters: Bool { state.withLock { $0.parameters } }
    var id: EnvelopeID { state.withLock { $0.id } }

    func enter() { state.withLock { $0.entered = true } }
    func reachParameters() { state.withLock { $0.parameters = true } }
    func note(_ id: EnvelopeID) { state.withLock { $0.id = id } }
}

extension CodingUserInfoKey {
    static var handlers: Self { key("handlers") }
    static var probe: Self { key("probe") }

    private static func key(_ name: String) -> Self {
        guard let key = Self(rawValue: "fusionbus.\(name)") else {
            preconditionFailure("every name makes a key")
        }
        return key
    }
}

/// A request read in one pass: the parameters are decoded by the method's own type while the
/// envelope is.
struct IncomingEnvelope: Decodable {
    enum Keys: String, CodingKey { case jsonrpc, id, method, params, meta }

    /// The parameters of this body, still to be read as some type.
    struct Parameters {
        let container: KeyedDecodingContainer<Keys>

        /// Absent parameters read as an empty object.
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            if container.contains(.params) { return try container.decode(type, forKey: .params) }
            do {
                return try JSONDecoder().decode(type, from: Data("{}".utf8))
            }
        }
    }

    let id: EnvelopeID
    let method: String
    let meta: EnvelopeMeta?
    /// nil: no such method.
    let run: HandlerTable.Run?

    init(from decoder: any Decoder) throws {
        let probe = decoder.userInfo[.probe] as? EnvelopeProbe
        let table = decoder.userInfo[.handlers] as? HandlerTable
        probe?.enter()
        let container = try decoder.container(keyedBy: Keys.self)
        id = try container.decodeIfPresent(EnvelopeID.self, forKey: .id) ?? .null
        probe?.note(id)
        guard try container.decode(String.self, forKey: .jsonrpc) == "2.0" else {
            throw DecodingError.dataCorruptedError(
                forKey: .jsonrpc, in: container, debugDescription: "must be 2.0")
        }
        method = try container.decode(String.self, forKey: .method)
        probe?.reachParameters()
        meta = try container.decodeIfPresent(EnvelopeMeta.self, forKey: .meta)
        if let table, let index = table.index(of: method) {
            run = try table.entries[index].prepare(Parameters(container: container), id)
        } else {
            run = nil
        }
    }
}
