import CZeroMQ

/// Tells when a connection of a socket is ready, and when it is lost. Read on the socket's own
/// thread; one that is made and not read would stall the socket.
struct SocketMonitor {
    enum Event: Sendable {
        case ready
        case lost
        /// The broker does not know this peer.
        case refused
    }

    private static let events =
        ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED
        | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
        | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL

    let socket: ZeroMQSocket

    init(_ watched: ZeroMQSocket, _ context: ZeroMQContext) throws(ZeroMQFault) {
        let name = context.uniqueName("inproc://fusion.monitor.")
        guard zmq_socket_monitor(watched.raw, name, Self.events) == 0 else {
            throw ZeroMQFault("zmq_socket_monitor")
        }
        socket = try ZeroMQSocket(context.raw, type: ZMQ_PAIR)
        try socket.connect(name)
    }

    /// The next event of interest; nil when there is none now.
    func next(_ reader: inout FrameReader) -> Event? {
        while reader.receive(socket) {
            guard let frame = reader.frames.first, frame.count >= 2 else { continue }
            switch Int32(frame.loadUnaligned(as: UInt16.self)) {
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .ready
            case ZMQ_EVENT_DISCONNECTED: return .lost
            case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .refused
            default: continue
            }
        }
        return nil
    }

    /// Before the watched socket is closed.
    func stop(_ watched: ZeroMQSocket) {
        zmq_socket_monitor(watched.raw, nil, 0)
        socket.close()
    }
}
