import FoundationEssentials
package import Messages
package import Primitives

/// The methods of one daemon: type → function. It turns bytes into a typed call and its outcome
/// into bytes,
/// judges who may call what, and answers every malformed body with a JSON-RPC error.
package struct HandlerTable: Sendable {
    typealias Run = @Sendable (CallContext) async throws(ServiceFailure) -> [UInt8]

    struct Entry: Sendable {
        let method: Method
        /// Reads the parameters and gives the call that is ready to run, its result encoded.
        let prepare: @Sendable (IncomingEnvelope.Parameters, EnvelopeID) throws -> Run
    }

    private(set) var entries: [Entry] = []
    private var indexByName: [String: Int] = [:]

    package init() {}

    /// The MDP services that these methods make up, in order of first mention.
    package var services: [String] {
        var seen: Set<String> = []
        return entries.map(\.method.service).filter { seen.insert($0).inserted }
    }

    package var methods: [Method] { entries.map(\.method) }

    package mutating func on<Request: BusRequest>(
        _ type: Request.Type,
        _ body:
            @escaping @Sendable (Request, CallContext) async throws(ServiceFailure) ->
            Request.Reply
    ) {
        add(Request.method) { parameters, id in
            let request = try parameters.decode(Request.self)
            return { context throws(ServiceFailure) in
                try request.validate()
                let reply = try await body(request, context)
                return try BusCoding.encode(ResultEnvelope(id: id, result: reply))
            }
        }
    }

    /// A method without parameters of its own, such as `token.ping`.
    mutating func on(
        _ method: Method, _ body: @escaping @Sendable () -> any Encodable & Sendable
    ) {
        add(method) { _, id in
            { _ throws(ServiceFailure) in try Self.encode(body(), id) }
        }
    }

    private static func encode(
        _ reply: some Encodable, _ id: EnvelopeID
    ) throws(ServiceFailure) -> [UInt8] {
        try BusCoding.encode(ResultEnvelope(id: id, result: reply))
    }

    private mutating func add(
        _ method: Method,
        prepare: @escaping @Sendable (IncomingEnvelope.Parameters, EnvelopeID) throws -> Run
    ) {
        precondition(indexByName[method.name] == nil, "a method has one handler")
        indexByName[method.name] = entries.count
        entries.append(Entry(method: method, prepare: prepare))
    }

    func index(of name: String) -> Int? { indexByName[name] }

    /// The whole way of one request: bytes in, bytes out. Never throws: what goes wrong is the
    /// reply.
    ///
    /// - Parameter service: the MDP service that the request came under.
    /// - Parameter arrivedAt: on the steady clock.
    /// - Returns: the reply, and the method's name where one was recognised.
    package func answer(
        service: String, header: BusHeader, body: [UInt8], arrivedAt: Duration
    ) async -> (reply: BusReply, method: String?) {
        let decoder = JSONDecoder()
        let probe = EnvelopeProbe()
        decoder.userInfo[.handlers] = self
        decoder.userInfo[.probe] = probe
        let envelope: IncomingEnvelope
        do {
            envelope = try decoder.decode(IncomingEnvelope.self, from: Data(body))
        } catch {
            return (Self.unreadable(error, probe), nil)
        }
        guard let index = indexByName[envelope.method], let run = envelope.run else {
            let failure = ServiceFailure(.methodNotFound, "there is no such method here")
            return (Self.refusal(failure, envelope.id), nil)
        }
        let method = entries[index].method
        do throws(ServiceFailure) {
            try Self.judgeService(method, service)
            let context = try Self.context(method, envelope, header, arrivedAt)
            return (BusReply(status: .ok, body: try await run(context)), method.name)
        } catch {
            return (Self.refusal(error, envelope.id), method.name)
        }
    }

    private static func judgeService(
        _ method: Method, _ service: String
    ) throws(ServiceFailure) {
        let named = service.prefix { $0 != "@" }
        guard named == method.service else {
            throw ServiceFailure(
                .methodNotFound, "this method belongs to another service name", field: "method")
        }
    }

    private static func context(
        _ method: Method, _ envelope: IncomingEnvelope, _ header: BusHeader, _ arrivedAt: Duration
    ) throws(ServiceFailure) -> CallContext {
        guard let peer = header.principal else {
            throw ServiceFailure(.notAllowed, "the broker did not say who calls")
        }
        var principal: Principal?
        if let onBehalfOf = envelope.meta?.onBehalfOf {
            guard peer.roles.contains(.gateway), let named = onBehalfOf.principal else {
                throw ServiceFailure(
                    .notAllowed, "only the gateway calls for others", field: "meta.onBehalfOf")
            }
            principal = named
        }
        guard
            !(principal ?? peer).roles.union(principal == nil ? [] : .gateway)
                .isDisjoint(with: method.callers)
        else { throw ServiceFailure(.notAllowed, "this role may not call \(method.name)") }
        if let key = envelope.meta?.requestKey {
            try Check.length(key, in: 1...CallContext.requestKeyBytesMax, "meta.requestKey")
        }
        let bodyTimeout = envelope.meta?.timeoutMilliseconds.map { max(0, $0) }
        let headerTimeout =
            header.timeLeftMilliseconds == BusHeader.noDeadline
            ? nil : Int64(header.timeLeftMilliseconds)
        // A plain peer names its deadline in the body, our libraries in the header; the smaller counts.
        let timeLeft =
            [headerTimeout, bodyTimeout].compactMap(\.self).min()
            ?? method.timeout.wholeMilliseconds
        guard timeLeft > 0 else {
            throw ServiceFailure(.deadlinePassed, "the deadline passed before the call began")
        }
        let trace = envelope.meta?.traceparent.flatMap(TraceParent.init)
        let hasTrace = header.traceID.contains { $0 != 0 }
        return CallContext(
            peer: peer, principal: principal, requestID: header.requestID,
            requestKey: envelope.meta?.requestKey, attempt: Int(header.attempt),
            traceID: hasTrace ? header.traceID : trace?.traceID ?? [],
            spanID: hasTrace ? header.spanID : trace?.spanID ?? [],
            deadline: arrivedAt + .milliseconds(timeLeft), method: method)
    }

    static func refusal(_ failure: ServiceFailure, _ id: EnvelopeID) -> BusReply {
        reply(EnvelopeError(failure), id, retryAfter: failure.retryAfterMilliseconds)
    }

    private static func unreadable(_ error: any Error, _ probe: EnvelopeProbe) -> BusReply {
        guard probe.wasEntered else {
            return reply(
                EnvelopeError(code: EnvelopeError.notJSON, message: "not JSON text", data: nil),
                .null)
        }
        if probe.reachedParameters, let error = error as? DecodingError {
            return refusal(error.asFailure(root: "params"), probe.id)
        }
        return reply(
            EnvelopeError(
                code: EnvelopeError.notARequest,
                message: "not a JSON-RPC 2.0 request object (batches are not taken)", data: nil),
            probe.id)
    }

    private static func reply(
        _ error: EnvelopeError, _ id: EnvelopeID, retryAfter: Int64? = nil
    ) -> BusReply {
        let body = try? BusCoding.encode(ErrorEnvelope(id: id, error: error))
        return BusReply(
            status: .refused,
            retryAfterMilliseconds: UInt32(clamping: max(0, retryAfter ?? 0)), body: body ?? [])
    }
}
