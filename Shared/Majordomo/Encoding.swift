package import Primitives

/// Where the frames of one outgoing message go. The ZeroMQ broker writes them to its ROUTER without
/// copying bodies; the simulator collects arrays.
package protocol FrameSink: ~Copyable {
    /// Begins a message; false when the peer cannot be reached, then no frame follows.
    mutating func begin(_ peer: RoutingID) -> Bool
    mutating func constant(_ text: StaticString, isLast: Bool)
    mutating func byte(_ byte: UInt8, isLast: Bool)
    mutating func text(_ text: String, isLast: Bool)
    mutating func bytes(_ bytes: [UInt8], isLast: Bool)
    mutating func token(_ token: AddressToken)
    mutating func requestHeader(_ header: RequestHeader, _ payload: PayloadHandle, hasHeader: Bool)
    mutating func replyHeader(
        _ header: ReplyHeader, _ payload: PayloadHandle, hasHeader: Bool, isFinal: Bool,
        isLast: Bool)
    /// The body's frames, without its header, the last frame ending the message; one empty frame
    /// where there are none. With `keeps` the payload stays usable.
    mutating func payload(_ payload: PayloadHandle, hasHeader: Bool, keeps: Bool)
}

/// What a broker does. A shell performs the actions in order; `undeliverable` tells it what to
/// report.
package enum BrokerAction: Sendable, Hashable {
    case request(
        to: RoutingID, Dialect, AddressToken, RequestHeader?, PayloadHandle, hasHeader: Bool,
        keeps: Bool)
    case reply(
        to: RoutingID, Dialect, service: String, ReplyHeader?, PayloadHandle, hasHeader: Bool,
        isFinal: Bool)
    /// A reply made by the broker itself: MMI, or one of the constant errors.
    case answer(to: RoutingID, Dialect, service: String, ReplyHeader?, body: [UInt8])
    case heartbeat(to: RoutingID, Dialect, grant: String?)
    case disconnect(to: RoutingID, Dialect)
    case release(PayloadHandle)
}

extension BrokerAction {
    /// Writes this action's message, if it has one.
    ///
    /// - Returns: false when its peer cannot be reached.
    @inlinable
    package func write(to sink: inout some FrameSink & ~Copyable) -> Bool {
        switch self {
        case .request(let peer, let dialect, let token, let header, let payload, let has, let keeps):
            guard Self.beginWorker(peer, dialect, .request, false, &sink) else { return false }
            sink.token(token)
            sink.constant("", isLast: false)
            if let header { sink.requestHeader(header, payload, hasHeader: has) }
            sink.payload(payload, hasHeader: has, keeps: keeps)
        case .reply(let peer, let dialect, let service, let header, let payload, let has, let final):
            guard Self.beginClient(peer, dialect, service, isFinal: final, &sink) else {
                return false
            }
            if let header {
                sink.replyHeader(header, payload, hasHeader: has, isFinal: final, isLast: false)
            }
            sink.payload(payload, hasHeader: has, keeps: false)
        case .answer(let peer, let dialect, let service, let header, let body):
            guard Self.beginClient(peer, dialect, service, isFinal: true, &sink) else {
                return false
            }
            if let header {
                sink.replyHeader(header, .none, hasHeader: false, isFinal: true, isLast: false)
            }
            sink.bytes(body, isLast: true)
        case .heartbeat(let peer, let dialect, let grant):
            guard Self.beginWorker(peer, dialect, .heartbeat, grant == nil, &sink) else {
                return false
            }
            if let grant { sink.text(grant, isLast: true) }
        case .disconnect(let peer, let dialect):
            return Self.beginWorker(peer, dialect, .disconnect, true, &sink)
        case .release: break
        }
        return true
    }

    @inlinable
    package static func beginClient(
        _ peer: RoutingID, _ dialect: Dialect, _ service: String, isFinal: Bool,
        _ sink: inout some FrameSink & ~Copyable
    ) -> Bool {
        guard sink.begin(peer) else { return false }
        if dialect.isDelimited { sink.constant("", isLast: false) }
        if dialect.is01 {
            sink.constant(Wire.client01, isLast: false)
        } else {
            sink.constant(Wire.client02, isLast: false)
            sink.byte(isFinal ? Wire.clientFinal02 : Wire.clientPartial02, isLast: false)
        }
        sink.text(service, isLast: false)
        return true
    }

    @inlinable
    package static func beginWorker(
        _ peer: RoutingID, _ dialect: Dialect, _ command: WorkerCommand, _ isLast: Bool,
        _ sink: inout some FrameSink & ~Copyable
    ) -> Bool {
        guard sink.begin(peer) else { return false }
        if dialect.isDelimited { sink.constant("", isLast: false) }
        sink.constant(dialect.is01 ? Wire.worker01 : Wire.worker02, isLast: false)
        sink.byte(command.byte(dialect), isLast: isLast)
        return true
    }
}

/// Frames that clients and workers send, for shells that hold arrays.
package enum PeerFrames {
    package static func request(
        _ dialect: Dialect, service: String, header: BusHeader?, body: [UInt8]
    ) -> [[UInt8]] {
        var frames = start(dialect, Wire.client01, Wire.client02)
        if !dialect.is01 { frames.append([Wire.clientRequest02]) }
        frames.append(Array(service.utf8))
        if let header { frames.append(header.encoded()) }
        frames.append(body)
        return frames
    }

    package static func ready(
        _ dialect: Dialect, service: String, capabilities: WorkerCapabilities?
    ) -> [[UInt8]] {
        var frames = worker(dialect, .ready)
        frames.append(Array(service.utf8))
        if let capabilities { frames.append(Array(capabilities.text.utf8)) }
        return frames
    }

    package static func reply(
        _ dialect: Dialect, _ command: WorkerCommand, address: [UInt8], header: BusHeader?,
        body: [UInt8]
    ) -> [[UInt8]] {
        var frames = worker(dialect, command)
        frames.append(address)
        frames.append([])
        if let header { frames.append(header.encoded()) }
        frames.append(body)
        return frames
    }

    package static func heartbeat(_ dialect: Dialect, window: String?) -> [[UInt8]] {
        worker(dialect, .heartbeat) + (window.map { [Array($0.utf8)] } ?? [])
    }

    package static func disconnect(_ dialect: Dialect) -> [[UInt8]] { worker(dialect, .disconnect) }

    private static func worker(_ dialect: Dialect, _ command: WorkerCommand) -> [[UInt8]] {
        start(dialect, Wire.worker01, Wire.worker02) + [[command.byte(dialect)]]
    }

    private static func start(
        _ dialect: Dialect, _ v01: StaticString, _ v02: StaticString
    ) -> [[UInt8]] {
        (dialect.isDelimited ? [[]] : []) + [bytes(dialect.is01 ? v01 : v02)]
    }

    static func bytes(_ text: StaticString) -> [UInt8] {
        Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
