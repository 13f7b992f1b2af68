public import Bus
public import Messages
public import Primitives
import ZeroMQTransport

/// The bus for backend teams in Swift: typed calls with deadlines and retries.
///
///     let bus = try BusClient(peerFile: "acme.toml")
///     let issued = try await bus.call(IssueAuthToken(schemeCode: "FA…", platform: .ios, …))
///
/// One client serves a whole process: calls run side by side, at most 1,024 at once. A call that the
/// bus lost is sent again under its request id, so that a write is not done twice; give
/// `CallOptions.requestKey` to repeat a write yourself. Every failure is a `ServiceFailure`.
public final class BusClient: BusCaller {
    private let context: ZeroMQContext
    private let thread: SocketThread
    private let caller: LinkCaller

    /// - Parameter brokers: the first one that is connected is used; the others stand by.
    /// - Throws: when libzmq is missing or too old.
    public init(_ brokers: [BrokerAddress]) throws {
        context = try ZeroMQContext()
        thread = try SocketThread(context)
        caller = LinkCaller(
            link: ZeroMQLink(brokers.map(\.endpoint), thread: thread), pause: ClientPause(),
            random: ClientRandom())
    }

    /// The broker and the keys that `fusionctl peer add --out FILE` wrote down.
    public convenience init(peerFile: String) throws {
        try self.init([try BrokerAddress(peerFile: peerFile)])
    }

    /// Calls that wait are cancelled.
    deinit {
        thread.stop()
        context.end()
    }

    public func call<Request: BusRequest>(
        _ request: Request, _ options: CallOptions
    ) async throws(ServiceFailure) -> Request.Reply {
        try request.validate()
        return try await caller.call(request, options)
    }

    /// A method that has no type here: JSON in, JSON out.
    /// - Parameter parameters: the `params` object as JSON text.
    /// - Returns: the whole JSON-RPC reply, a result or a service's error.
    public func call(
        _ method: String, parameters: String, _ options: CallOptions = CallOptions()
    ) async throws(ServiceFailure) -> String {
        guard let dot = method.lastIndex(of: "."), dot != method.startIndex else {
            throw ServiceFailure(
                .invalidParameters, "a method is service.verb", field: "method")
        }
        let body = try RawRequest.body(method, parameters, options)
        let service = String(method[..<dot])
        let reply = await caller.callRaw(
            method: method,
            service: options.instanceID.map { "\(service)@\($0)" } ?? service,
            body: body, options)
        guard reply.status == .ok || reply.status == .refused else {
            throw LinkCaller.busFailure(reply)
        }
        return String(decoding: reply.body, as: UTF8.self)
    }
}
