import CZeroMQ
import Majordomo

/// Frames of received messages, in slots that are used again. A slot's `zmq_msg_t` never moves,
/// and a body is passed on without being copied.
struct MessageSlots: ~Copyable {
    /// Slots made at a time.
    private static let chunkCount = 1_024
    private static let chunkShift: Int32 = 10

    private var chunks: [UnsafeMutablePointer<zmq_msg_t>] = []
    /// The slot that holds the same body's next frame, or -1.
    private var next: [Int32] = []
    private var free: [Int32] = []

    deinit {
        for chunk in chunks {
            for index in 0..<Self.chunkCount { zmq_msg_close(chunk + index) }
            chunk.deallocate()
        }
    }

    mutating func take() -> Int32 {
        if let slot = free.popLast() { return slot }
        let first = Int32(chunks.count) << Self.chunkShift
        let chunk = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: Self.chunkCount)
        for index in 0..<Self.chunkCount {
            zmq_msg_init(chunk + index)
            next.append(-1)
        }
        chunks.append(chunk)
        for index in stride(from: Int32(Self.chunkCount) - 1, to: 0, by: -1) {
            free.append(first + index)
        }
        return first
    }

    func message(_ slot: Int32) -> UnsafeMutablePointer<zmq_msg_t> {
        chunks[Int(slot >> Self.chunkShift)] + Int(slot & (Int32(Self.chunkCount) - 1))
    }

    func bytes(_ slot: Int32) -> UnsafeRawBufferPointer {
        let message = message(slot)
        return UnsafeRawBufferPointer(start: zmq_msg_data(message), count: zmq_msg_size(message))
    }

    func mutableBytes(_ slot: Int32) -> UnsafeMutableRawBufferPointer {
        let message = message(slot)
        return UnsafeMutableRawBufferPointer(
            start: zmq_msg_data(message), count: zmq_msg_size(message))
    }

    func following(_ slot: Int32) -> Int32 { next[Int(slot)] }

    mutating func link(_ slot: Int32, to following: Int32) { next[Int(slot)] = following }

    /// Lets go of one frame's bytes and gives the slot back.
    mutating func release(_ slot: Int32) {
        let message = message(slot)
        zmq_msg_close(message)
        zmq_msg_init(message)
        next[Int(slot)] = -1
        free.append(slot)
    }

    mutating func releaseChain(_ head: Int32) {
        var slot = head
        while slot >= 0 {
            let following = next[Int(slot)]
            release(slot)
            slot = following
        }
    }
}
