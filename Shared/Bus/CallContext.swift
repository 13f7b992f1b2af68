package import Effects
package import Messages
public import Primitives

/// On whose behalf the gateway calls, after it authenticated that caller. From anyone else it is
/// refused.
public struct OnBehalfOf: Codable, Sendable, Hashable {
    public let role: String
    public let name: String

    public init(role: String, name: String) {
        self.role = role
        self.name = name
    }

    var principal: Principal? {
        Roles(name: role).flatMap { Principal(roles: $0, name: name) }
    }
}

/// What a caller says beside the request.
public struct CallOptions: Sendable {
    /// Makes the call safe to repeat: same key, same answer, for 24 hours. 1…128 bytes.
    public var requestKey: String?
    /// nil: the method's own.
    public var timeout: Duration?
    public var onBehalfOf: OnBehalfOf?
    /// Sixteen bytes; empty without a trace.
    public var traceID: [UInt8]
    public var spanID: [UInt8]
    /// Asks one instance: `<service>@<instance>`.
    public var instanceID: String?

    public init(
        requestKey: String? = nil, timeout: Duration? = nil, onBehalfOf: OnBehalfOf? = nil,
        traceID: [UInt8] = [], spanID: [UInt8] = [], instanceID: String? = nil
    ) {
        self.requestKey = requestKey
        self.timeout = timeout
        self.onBehalfOf = onBehalfOf
        self.traceID = traceID
        self.spanID = spanID
        self.instanceID = instanceID
    }
}

/// What a handler knows of a call.
public struct CallContext: Sendable {
    public static let requestKeyBytesMax = 128
    /// What a nested call leaves for the answer's way back.
    public static let nestedMargin = Duration.milliseconds(200)

    /// The peer, as the broker authenticated it.
    public let peer: Principal
    /// Who the call is judged as: the peer, or the one the gateway calls for.
    public let principal: Principal
    public let requestID: [UInt8]
    public let requestKey: String?
    public let attempt: Int
    public let traceID: [UInt8]
    public let spanID: [UInt8]
    /// On the steady clock of this process; nil without a deadline.
    package let deadline: Duration?
    package let method: Method

    package init(
        peer: Principal, principal: Principal? = nil, requestID: [UInt8],
        requestKey: String? = nil, attempt: Int = 1, traceID: [UInt8] = [], spanID: [UInt8] = [],
        deadline: Duration? = nil, method: Method
    ) {
        self.peer = peer
        self.principal = principal ?? peer
        self.requestID = requestID
        self.requestKey = requestKey
        self.attempt = attempt
        self.traceID = traceID
        self.spanID = spanID
        self.deadline = deadline
        self.method = method
    }

    /// Names this write for `Answers`. Without a request key the bus request id stands in.
    package func answerKey(
        for request: some BusRequest, scope: String? = nil
    ) throws(ServiceFailure) -> AnswerKey {
        AnswerKey(
            scope: scope ?? principal.description, method: method.name,
            key: requestKey ?? Hex.encode(requestID),
            body: Secret(try BusCoding.encode(request.comparisonBody)),
            isChosenByCaller: requestKey != nil)
    }

    /// What is left until the deadline; nil without one, zero when it has passed.
    package func timeLeft(_ pause: some Pause) -> Duration? {
        deadline.map { max(.zero, $0 - pause.steadyNow()) }
    }

    /// Options for a call to another service in the middle of this one: the time that is left minus
    /// the
    /// margin, the same trace. A nested write adds a request key that names what it is done for (a
    /// run and a
    /// reference in its plan, a verification id), never the outer caller's key: the callee sees one
    /// caller.
    package func nested(_ pause: any Pause) -> CallOptions {
        CallOptions(timeout: nestedTimeout(pause), traceID: traceID, spanID: spanID)
    }

    private func nestedTimeout(_ pause: any Pause) -> Duration? {
        deadline.map { max(.milliseconds(1), $0 - pause.steadyNow() - Self.nestedMargin) }
    }

    /// Whether the principal has one of `roles`.
    public func isAny(of roles: Roles) -> Bool { !principal.roles.isDisjoint(with: roles) }
}
