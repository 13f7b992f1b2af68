import CZeroMQ

/// Options by the type of their value, so that none can be set with the wrong one.
enum IntegerOption: Sendable {
    case linger
    case routerMandatory
    case sendHighWaterMark
    case receiveHighWaterMark
    case handshakeInterval
    case backlog
    case heartbeatInterval
    case heartbeatTimeout
    case heartbeatTimeToLive
    case keepAlive
    case keepAliveIdle
    case keepAliveInterval
    case keepAliveCount
    case immediate
    case reconnectInterval
    case reconnectIntervalMax
    case connectTimeout
    case sendTimeout
    case receiveTimeout
    case curveServer

    var number: Int32 {
        switch self {
        case .linger: ZMQ_LINGER
        case .routerMandatory: ZMQ_ROUTER_MANDATORY
        case .sendHighWaterMark: ZMQ_SNDHWM
        case .receiveHighWaterMark: ZMQ_RCVHWM
        case .handshakeInterval: ZMQ_HANDSHAKE_IVL
        case .backlog: ZMQ_BACKLOG
        case .heartbeatInterval: ZMQ_HEARTBEAT_IVL
        case .heartbeatTimeout: ZMQ_HEARTBEAT_TIMEOUT
        case .heartbeatTimeToLive: ZMQ_HEARTBEAT_TTL
        case .keepAlive: ZMQ_TCP_KEEPALIVE
        case .keepAliveIdle: ZMQ_TCP_KEEPALIVE_IDLE
        case .keepAliveInterval: ZMQ_TCP_KEEPALIVE_INTVL
        case .keepAliveCount: ZMQ_TCP_KEEPALIVE_CNT
        case .immediate: ZMQ_IMMEDIATE
        case .reconnectInterval: ZMQ_RECONNECT_IVL
        case .reconnectIntervalMax: ZMQ_RECONNECT_IVL_MAX
        case .connectTimeout: ZMQ_CONNECT_TIMEOUT
        case .sendTimeout: ZMQ_SNDTIMEO
        case .receiveTimeout: ZMQ_RCVTIMEO
        case .curveServer: ZMQ_CURVE_SERVER
        }
    }
}

enum BytesOption: Sendable {
    case curveServerKey
    case curvePublicKey
    case curveSecretKey
    case zapDomain

    var number: Int32 {
        switch self {
        case .curveServerKey: ZMQ_CURVE_SERVERKEY
        case .curvePublicKey: ZMQ_CURVE_PUBLICKEY
        case .curveSecretKey: ZMQ_CURVE_SECRETKEY
        case .zapDomain: ZMQ_ZAP_DOMAIN
        }
    }
}

/// One socket. It is made, used and closed on one thread: the type is not Sendable.
struct ZeroMQSocket {
    let raw: UnsafeMutableRawPointer

    init(_ context: UnsafeMutableRawPointer, type: Int32) throws(ZeroMQFault) {
        guard let raw = zmq_socket(context, type) else { throw ZeroMQFault("zmq_socket") }
        self.raw = raw
        // First of all, so that no way out of here can hang on unsent messages.
        try set(.linger, 0)
        try set(.sendTimeout, 0)
        try set(.receiveTimeout, 0)
    }

    /// Takes over a socket that another thread made and no longer touches.
    init(adopting raw: UnsafeMutableRawPointer) { self.raw = raw }

    func set(_ option: IntegerOption, _ value: Int32) throws(ZeroMQFault) {
        var value = value
        let size = MemoryLayout<Int32>.size
        guard zmq_setsockopt(raw, option.number, &value, size) == 0 else {
            throw ZeroMQFault("zmq_setsockopt(\(option))")
        }
    }

    func value(_ option: IntegerOption) throws(ZeroMQFault) -> Int32 {
        var value: Int32 = 0
        var size = MemoryLayout<Int32>.size
        guard zmq_getsockopt(raw, option.number, &value, &size) == 0 else {
            throw ZeroMQFault("zmq_getsockopt(\(option))")
        }
        return value
    }

    func set(_ option: BytesOption, _ bytes: [UInt8]) throws(ZeroMQFault) {
        let status = bytes.withUnsafeBytes {
            zmq_setsockopt(raw, option.number, $0.baseAddress, $0.count)
        }
        guard status == 0 else { throw ZeroMQFault("zmq_setsockopt(\(option))") }
    }

    /// Bytes of one frame; a peer that sends more is cut off.
    func setMessageBytesMax(_ bytes: Int64) throws(ZeroMQFault) {
        var value = bytes
        guard zmq_setsockopt(raw, ZMQ_MAXMSGSIZE, &value, MemoryLayout<Int64>.size) == 0 else {
            throw ZeroMQFault("zmq_setsockopt(maxMessageSize)")
        }
    }

    func bind(_ endpoint: String) throws(ZeroMQFault) {
        guard zmq_bind(raw, endpoint) == 0 else { throw ZeroMQFault("zmq_bind \(endpoint)") }
    }

    func connect(_ endpoint: String) throws(ZeroMQFault) {
        guard zmq_connect(raw, endpoint) == 0 else { throw ZeroMQFault("zmq_connect \(endpoint)") }
    }

    /// The endpoint bound last, with its real port.
    func lastEndpoint() throws(ZeroMQFault) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        var size = buffer.count
        guard zmq_getsockopt(raw, ZMQ_LAST_ENDPOINT, &buffer, &size) == 0 else {
            throw ZeroMQFault("zmq_getsockopt(lastEndpoint)")
        }
        return String(decoding: buffer.prefix(max(size - 1, 0)), as: UTF8.self)
    }

    /// - Parameter flush: how long unsent messages may still go out.
    func close(flush: Duration = .zero) {
        var linger =
            Int32(clamping: flush.components.seconds * 1000)
            + Int32(clamping: flush.components.attoseconds / 1_000_000_000_000_000)
        zmq_setsockopt(raw, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        zmq_close(raw)
    }

    /// False when it cannot be taken now (`zmq_errno` tells why).
    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> Bool {
        let flags = more ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
        while zmq_send(raw, bytes.baseAddress, bytes.count, flags) < 0 {
            if zmq_errno() != EINTR { return false }
        }
        return true
    }

    func send(_ bytes: [UInt8], more: Bool) -> Bool {
        bytes.withUnsafeBytes { send($0, more: more) }
    }

    func send(_ text: StaticString, more: Bool) -> Bool {
        send(
            UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), more: more
        )
    }

    func send(_ frames: [[UInt8]]) -> Bool {
        for (index, frame) in frames.enumerated() {
            guard send(frame, more: index + 1 < frames.count) else { return false }
        }
        return true
    }
}

extension ZeroMQSocket {
    /// Options of every DEALER of ours (bus.md's table): the connecting end.
    func setPeerOptions(
        isTCP: Bool, immediate: Bool, receiveHighWaterMark: Int32
    ) throws(ZeroMQFault) {
        try set(.sendHighWaterMark, Bound.dealerSendHighWaterMark)
        try set(.receiveHighWaterMark, receiveHighWaterMark)
        try setMessageBytesMax(Bound.frameBytesMax)
        try set(.handshakeInterval, Bound.handshakeMilliseconds)
        try set(.immediate, immediate ? 1 : 0)
        try set(.reconnectInterval, Bound.reconnectMilliseconds)
        try set(.reconnectIntervalMax, Bound.reconnectMillisecondsMax)
        if isTCP {
            try set(.connectTimeout, Bound.connectMilliseconds)
            try setTCPLiveness()
        }
    }

    func setTCPLiveness() throws(ZeroMQFault) {
        try set(.heartbeatInterval, 2_000)
        try set(.heartbeatTimeout, 6_000)
        try set(.heartbeatTimeToLive, 6_000)
        try set(.keepAlive, 1)
        try set(.keepAliveIdle, 30)
        try set(.keepAliveInterval, 10)
        try set(.keepAliveCount, 3)
    }
}

/// Bounds of the transport.
package enum Bound {
    /// Bytes of one frame.
    package static let frameBytesMax: Int64 = 1 << 20
    /// Messages per peer; above every in-flight bound, so that a full pipe means a sick peer.
    static let routerSendHighWaterMark: Int32 = 4_096
    static let routerReceiveHighWaterMark: Int32 = 1_000
    static let dealerSendHighWaterMark: Int32 = 1_024
    static let handshakeMilliseconds: Int32 = 3_000
    static let backlog: Int32 = 1_024
    static let reconnectMilliseconds: Int32 = 100
    /// A restarted broker is found again within this, plus the handshake.
    static let reconnectMillisecondsMax: Int32 = 1_000
    /// Connections are looked after this often while there is traffic.
    static let watchMicroseconds: Int64 = 1_000
    static let connectMilliseconds: Int32 = 3_000
    static let socketsMax: Int32 = 1_023
    /// Receives in one go, before timers and control get their turn.
    static let receivesMax = 256
    /// Bytes of a Unix socket's path.
    package static let socketPathBytesMax = 107
    /// How long closing sockets may flush after a drain.
    static let flushSpan = Duration.milliseconds(500)
}
