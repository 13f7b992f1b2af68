/// Why a call to the gateway gave nothing, with what a program may act on.
public struct FusionAuthError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Stable, snake case. The service's own word (RFC 9457 problem, property `code`), or one of
    /// those below.
    public let code: String
    /// A sentence for a person; holds no secret and no full number.
    public let message: String
    /// HTTP; nil where no answer came.
    public let status: Int?
    public let field: String?
    public let retryAfterMilliseconds: Int64?
    public let requestId: String?

    public init(
        _ code: String, _ message: String, status: Int? = nil, field: String? = nil,
        retryAfterMilliseconds: Int64? = nil, requestId: String? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.field = field
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.requestId = requestId
    }

    /// The handset has no way to the gateway.
    public static let noNetwork = Self("no_network", "there is no network")
    /// No answer within the time of a request.
    public static let timeout = Self("timeout", "no answer came in time")
    /// What answered is no gateway of this version. Its operator looks.
    public static func notUnderstood(_ status: Int) -> Self {
        Self("not_understood", "the answer could not be read", status: status)
    }

    public var description: String { "\(code)\(field.map { " (\($0))" } ?? ""): \(message)" }

    /// The auth token is of no use any more; another one mends it.
    var concernsToken: Bool { status == 401 }
    /// Nothing was decided: the same request under the same key may be sent again.
    var isPassing: Bool {
        guard let status else { return true }
        return status >= 500 || status == 408
    }
}
