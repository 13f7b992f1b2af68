public import Primitives

/// A reply as it crosses a link. `status` tells who speaks: `ok` and `refused` carry a handler's
/// JSON-RPC
/// answer; every other one was made by the bus, and the body is its constant JSON-RPC error, or
/// empty.
public struct BusReply: Sendable, Hashable {
    public let status: BusStatus
    public let retryAfterMilliseconds: UInt32
    public let body: [UInt8]

    public init(status: BusStatus, retryAfterMilliseconds: UInt32 = 0, body: [UInt8] = []) {
        self.status = status
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.body = body
    }
}

/// The calling end of a transport: bytes out, bytes back. ZeroMQ and in-process implement it alike.
public protocol BusLink: Sendable {
    /// Sends one request and returns its one final reply, no later than the header's time left plus
    /// the
    /// poll interval (then `deadlinePassed`); cancelling the task gives `cancelled`. Never repeats
    /// by itself.
    ///
    /// - Parameter service: an MDP service name (`smscode.internal`, `mmi.service`).
    /// - Parameter header: kind `request`; its principal is ignored by the broker.
    func exchange(_ service: String, _ header: BusHeader, _ body: [UInt8]) async -> BusReply
}

/// What a worker says of itself in READY.
public struct ServiceRegistration: Sendable, Hashable {
    public static let creditDefault = 64
    public static let creditMax = 1024

    public let service: String
    public let instanceID: String
    public let version: String
    /// Unanswered requests that this worker takes at once.
    public let credit: Int
    /// Whether the broker may hand a request to another worker when this one dies with it in hand.
    public let isRetrySafe: Bool

    public init(
        service: String, instanceID: String, version: String,
        credit: Int = ServiceRegistration.creditDefault, isRetrySafe: Bool = true
    ) {
        precondition(credit > 0 && credit <= Self.creditMax, "credit lies in 1…1024")
        self.service = service
        self.instanceID = instanceID
        self.version = version
        self.credit = credit
        self.isRetrySafe = isRetrySafe
    }
}

/// - Parameter service: the registered name that the request came under.
public typealias BusHandler =
    @Sendable (_ service: String, _ header: BusHeader, _ body: [UInt8]) async -> BusReply

/// The serving end of a transport.
public protocol BusListener: Sendable {
    /// Registers and serves until `drain` or cancellation. Each request runs in a task of its own,
    /// at most
    /// `credit` at once. The header's principal was written by the broker; its time left was
    /// counted down.
    /// Reconnects and registers again by itself after a loss of the broker.
    func serve(
        _ registrations: [ServiceRegistration], _ handler: @escaping BusHandler
    ) async throws

    /// Says credit 0, waits for what is in hand (bounded), disconnects, and lets `serve` return.
    func drain() async
}
