import Bus
import HTTPTypes
import Messages
import Primitives

/// What every call of a client brings in its head.
struct ClientRequest: Sendable {
    let token: Secret<String>
    private let http: HTTPRequest
    private let scope: RequestScope

    /// - Throws: see `BearerToken.read`.
    init(_ http: HTTPRequest, _ scope: RequestScope) throws(ServiceFailure) {
        token = try BearerToken.read(http.headers)
        self.http = http
        self.scope = scope
    }

    static let runKeyField = "X-Run-Key"
    static let requestKeyField = "Idempotency-Key"
    static let lastEventField = "Last-Event-ID"
    /// Characters; ours have 43.
    static let runKeyCharactersMax = 128

    typealias Run = (id: RunID, key: Secret<String>)

    /// The run that a call is about, and the key to it. A name or key that cannot be one of ours is
    /// as unknown as one that is not.
    func run() throws(ServiceFailure) -> Run {
        let keys = http.headers.values(Self.runKeyField)
        guard let key = keys.first, keys.count == 1 else {
            throw ServiceFailure(
                .invalidParameters, keys.isEmpty ? "is missing" : "is there twice",
                field: Self.runKeyField)
        }
        guard let id = scope.path["runId"].flatMap({ RunID($0) }),
            Self.isVisible(key, charactersMax: Self.runKeyCharactersMax)
        else { throw ClientFailure.runNotFound }
        return (id, Secret(key))
    }

    /// - Throws: `invalid_parameters` for a key that is not 1…128 visible ASCII characters.
    func requestKey() throws(ServiceFailure) -> String? {
        let keys = http.headers.values(Self.requestKeyField)
        guard let key = keys.first else { return nil }
        guard keys.count == 1, Self.isVisible(key, charactersMax: CallContext.requestKeyBytesMax)
        else {
            throw ServiceFailure(
                .invalidParameters,
                "takes 1 to \(CallContext.requestKeyBytesMax) visible ASCII characters",
                field: Self.requestKeyField)
        }
        return key
    }

    /// The last event that a client has seen; 0 for one that has seen none.
    func lastEvent() throws(ServiceFailure) -> Int64 {
        let given = http.headers.values(Self.lastEventField)
        guard let text = given.first, !text.isEmpty else { return 0 }
        guard given.count == 1, let sequence = Int64(text), sequence >= 0 else {
            throw ServiceFailure(
                .invalidParameters, "is the id of an event of this stream",
                field: Self.lastEventField)
        }
        return sequence
    }

    /// A call as the gateway itself and nothing more: on a machine where one account has every role,
    /// it would else be told what only services may know, such as the bound number.
    func options(_ requestKey: String? = nil) -> CallOptions {
        scope.options(for: Self.itself, requestKey: requestKey)
    }

    private static let itself = OnBehalfOf(role: Roles.gateway.description, name: "client-api")

    private static func isVisible(_ text: String, charactersMax: Int) -> Bool {
        (1...charactersMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
