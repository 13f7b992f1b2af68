import CZeroMQ
import Majordomo

/// Writes a broker's messages to its ROUTER; bodies go as they came.
///
/// A ROUTER that is told to report lost peers fails on a message's first frame or not at all, so
/// only `begin` can fail.
struct RouterSink: FrameSink, ~Copyable {
    let socket: ZeroMQSocket
    var slots = MessageSlots()
    /// The peer and errno of the last `begin` that failed.
    private(set) var problem: Int32 = 0
    private var scratch = zmq_msg_t()

    init(_ socket: ZeroMQSocket) { self.socket = socket }

    mutating func begin(_ peer: RoutingID) -> Bool {
        let socket = socket
        if peer.withBytes({ socket.send($0, more: true) }) { return true }
        problem = zmq_errno()
        return false
    }

    mutating func constant(_ text: StaticString, isLast: Bool) {
        zmq_send_const(socket.raw, text.utf8Start, text.utf8CodeUnitCount, flags(isLast))
    }

    mutating func byte(_ byte: UInt8, isLast: Bool) {
        withUnsafeBytes(of: byte) { _ = zmq_send(socket.raw, $0.baseAddress, 1, flags(isLast)) }
    }

    mutating func text(_ text: String, isLast: Bool) {
        var text = text
        text.withUTF8 { _ = zmq_send(socket.raw, $0.baseAddress, $0.count, flags(isLast)) }
    }

    mutating func bytes(_ bytes: [UInt8], isLast: Bool) {
        bytes.withUnsafeBytes { _ = zmq_send(socket.raw, $0.baseAddress, $0.count, flags(isLast)) }
    }

    mutating func token(_ token: AddressToken) {
        withUnsafeTemporaryAllocation(byteCount: AddressToken.bytesCount, alignment: 8) {
            token.write($0)
            _ = zmq_send(socket.raw, $0.baseAddress, $0.count, flags(false))
        }
    }

    mutating func requestHeader(
        _ header: RequestHeader, _ payload: PayloadHandle, hasHeader: Bool
    ) {
        zmq_msg_init_size(&scratch, Self.headerBytes)
        let target = UnsafeMutableRawBufferPointer(
            start: zmq_msg_data(&scratch), count: Self.headerBytes)
        RawHeader.writeRequest(
            header, from: hasHeader ? slots.bytes(payload.rawValue) : nil, to: target)
        zmq_msg_send(&scratch, socket.raw, flags(false))
    }

    mutating func replyHeader(
        _ header: ReplyHeader, _ payload: PayloadHandle, hasHeader: Bool, isFinal: Bool,
        isLast: Bool
    ) {
        if hasHeader {
            // A reply goes out once: its own header is mended where it lies.
            RawHeader.writeReply(
                header, from: slots.bytes(payload.rawValue), isFinal: isFinal,
                to: slots.mutableBytes(payload.rawValue))
            zmq_msg_send(slots.message(payload.rawValue), socket.raw, flags(isLast))
            return
        }
        zmq_msg_init_size(&scratch, Self.headerBytes)
        let target = UnsafeMutableRawBufferPointer(
            start: zmq_msg_data(&scratch), count: Self.headerBytes)
        RawHeader.writeReply(header, from: nil, isFinal: isFinal, to: target)
        zmq_msg_send(&scratch, socket.raw, flags(isLast))
    }

    mutating func payload(_ payload: PayloadHandle, hasHeader: Bool, keeps: Bool) {
        var slot = payload.rawValue
        if slot >= 0, hasHeader { slot = slots.following(slot) }
        guard slot >= 0 else {
            zmq_send_const(socket.raw, "", 0, flags(true))
            return
        }
        while slot >= 0 {
            let following = slots.following(slot)
            if keeps {
                zmq_msg_init(&scratch)
                zmq_msg_copy(&scratch, slots.message(slot))
                zmq_msg_send(&scratch, socket.raw, flags(following < 0))
            } else {
                zmq_msg_send(slots.message(slot), socket.raw, flags(following < 0))
            }
            slot = following
        }
    }

    private static let headerBytes = 128

    private func flags(_ isLast: Bool) -> Int32 {
        isLast ? ZMQ_DONTWAIT : ZMQ_DONTWAIT | ZMQ_SNDMORE
    }
}
