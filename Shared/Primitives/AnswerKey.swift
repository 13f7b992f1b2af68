/// Names one write: who asked, which method, under which key, and with which body.
///
/// Two requests with the same scope, method and key are one request. When their bodies differ, the
/// second is a `conflict`.
public struct AnswerKey: Hashable, Sendable {
    /// The principal, or what the method defines instead (a scene call: the token's id, then the
    /// run).
    public let scope: String
    public let method: String
    public let key: String
    /// The canonical body, without auth token and meta; stored as a keyed digest only.
    public let body: Secret<[UInt8]>
    /// Whether the caller chose the key (kept 24 h), or it is the bus request id (kept 10 min).
    public let isChosenByCaller: Bool

    public init(
        scope: String, method: String, key: String, body: Secret<[UInt8]>, isChosenByCaller: Bool
    ) {
        self.scope = scope
        self.method = method
        self.key = key
        self.body = body
        self.isChosenByCaller = isChosenByCaller
    }

    /// The same request in another scope: a scene call counts by token, then by run.
    public func inScope(_ scope: String) -> Self {
        Self(
            scope: scope, method: method, key: key, body: body, isChosenByCaller: isChosenByCaller)
    }
}
