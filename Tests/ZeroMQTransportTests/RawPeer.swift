import CZeroMQ
import Glibc

@testable import ZeroMQTransport

/// A peer of another make: frames written and read by hand on a raw DEALER, waiting at most five
/// seconds.
final class RawPeer {
    let socket: ZeroMQSocket
    private var reader = FrameReader()

    init(_ broker: BrokerEndpoint, _ context: ZeroMQContext) throws {
        socket = try ZeroMQSocket(context.raw, type: ZMQ_DEALER)
        try socket.set(.handshakeInterval, 5_000)
        try broker.configure(socket)
        try socket.connect(broker.address)
    }

    /// Closes at once, as the kernel does when a process is killed.
    func kill() { socket.close() }

    func send(_ frames: [String]) { _ = socket.send(frames.map { Array($0.utf8) }) }

    /// nil when nothing comes within `milliseconds`.
    func receive(milliseconds: Int = 5_000) -> [String]? {
        var items = [zmq_pollitem_t(socket)]
        guard zmq_poll(&items, 1, milliseconds) > 0, reader.receive(socket) else { return nil }
        return reader.frames.map { String(decoding: $0, as: UTF8.self) }
    }
}
