package import Effects
import FoundationEssentials
public import Messages
public import Primitives

/// Typed calls. A refusal, of the service or of the bus, is a `ServiceFailure`.
public protocol BusCaller: Sendable {
    func call<Request: BusRequest>(
        _ request: Request, _ options: CallOptions
    ) async throws(ServiceFailure) -> Request.Reply
}

extension BusCaller {
    public func call<Request: BusRequest>(
        _ request: Request
    ) async throws(ServiceFailure) -> Request.Reply {
        try await call(request, CallOptions())
    }
}

/// When a call that the bus lost or refused is sent again. The request id stays, so a write is not
/// done twice.
package struct RetryPolicy: Sendable {
    package let attemptsMax: Int
    package let backoffFirst: Duration
    package let backoffMax: Duration

    package init(
        attemptsMax: Int = 4, backoffFirst: Duration = .milliseconds(20),
        backoffMax: Duration = .milliseconds(500)
    ) {
        precondition(attemptsMax > 0, "a call is tried at least once")
        self.attemptsMax = attemptsMax
        self.backoffFirst = backoffFirst
        self.backoffMax = backoffMax
    }
}

/// Typed calls over any link, with deadlines and retries.
package struct LinkCaller: BusCaller {
    private let link: any BusLink
    private let pause: any Pause
    private let random: any RandomSource
    private let retry: RetryPolicy

    package init(
        link: any BusLink, pause: any Pause, random: any RandomSource,
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.link = link
        self.pause = pause
        self.random = random
        self.retry = retry
    }

    package func call<Request: BusRequest>(
        _ request: Request, _ options: CallOptions
    ) async throws(ServiceFailure) -> Request.Reply {
        let method = Request.method
        let requestID = random.bytes(16)
        let meta = EnvelopeMeta(requestKey: options.requestKey, onBehalfOf: options.onBehalfOf)
        let needsMeta = options.requestKey != nil || options.onBehalfOf != nil
        let body = try BusCoding.encode(
            RequestEnvelope(
                id: .text(Hex.encode(requestID)), method: method.name, params: request,
                meta: needsMeta ? meta : nil))
        let reply = await exchange(
            service: options.instanceID.map { "\(method.service)@\($0)" } ?? method.service,
            requestID: requestID, body: body, timeout: options.timeout ?? method.timeout,
            options)
        return try Self.read(Request.Reply.self, reply)
    }

    /// The same for a body that is JSON already, for tools.
    package func callRaw(
        method: String, service: String, body: [UInt8], _ options: CallOptions
    ) async -> BusReply {
        await exchange(
            service: service, requestID: random.bytes(16), body: body,
            timeout: options.timeout ?? Method.timeoutDefault, options)
    }

    private func exchange(
        service: String, requestID: [UInt8], body: [UInt8], timeout: Duration,
        _ options: CallOptions
    ) async -> BusReply {
        let deadline = pause.steadyNow() + timeout
        var backoff = retry.backoffFirst
        var attempt = 1
        while true {
            let left = (deadline - pause.steadyNow()).wholeMilliseconds
            guard left > 0 else { return BusReply(status: .deadlinePassed) }
            let header = BusHeader(
                kind: .request, requestID: requestID,
                timeLeftMilliseconds: UInt32(clamping: left), traceID: options.traceID,
                spanID: options.spanID)
            let reply = await link.exchange(service, header, body)
            guard reply.status == .workerLost || reply.status == .overloaded,
                attempt < retry.attemptsMax
            else { return reply }
            attempt += 1
            let jitter = Duration.microseconds(Int64(random.uniform(below: 10_000)))
            let wait = max(backoff, .milliseconds(Int64(reply.retryAfterMilliseconds))) + jitter
            guard pause.steadyNow() + wait < deadline else { return reply }
            do { try await pause.wait(wait) } catch { return BusReply(status: .cancelled) }
            backoff = min(backoff * 2, retry.backoffMax)
        }
    }

    private static func read<Reply: Decodable>(
        _ type: Reply.Type, _ reply: BusReply
    ) throws(ServiceFailure) -> Reply {
        guard reply.status == .ok || reply.status == .refused else {
            throw busFailure(reply)
        }
        let envelope: ReplyEnvelope<Reply>
        do {
            envelope = try JSONDecoder().decode(
                ReplyEnvelope<Reply>.self, from: Data(reply.body))
        } catch {
            throw ServiceFailure(.internalFault, "the reply could not be read")
        }
        if let error = envelope.error { throw error.failure }
        guard let result = envelope.result else {
            throw ServiceFailure(.internalFault, "the reply holds neither result nor error")
        }
        return result
    }

    /// What a status made by the bus means to a caller.
    package static func busFailure(_ reply: BusReply) -> ServiceFailure {
        let retryAfter =
            reply.retryAfterMilliseconds > 0 ? Int64(reply.retryAfterMilliseconds) : nil
        return switch reply.status {
        case .cancelled: ServiceFailure(.unavailable, "the call was cancelled")
        case .malformed: ServiceFailure(.invalidParameters, "the bus could not read the request")
        case .deadlinePassed: ServiceFailure(.deadlinePassed, "no answer within the time")
        case .noSuchService: ServiceFailure(.unavailable, "nobody serves this at the moment")
        case .notAllowed: ServiceFailure(.notAllowed, "the bus does not let this peer call it")
        case .overloaded:
            ServiceFailure(
                .overloaded, "the service has too much to do", retryAfterMilliseconds: retryAfter)
        case .workerLost: ServiceFailure(.workerLost, "the worker died with the request in hand")
        case .ok, .internalFault, .refused:
            ServiceFailure(.internalFault, "a fault of the bus or the service")
        }
    }
}
