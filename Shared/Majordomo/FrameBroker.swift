/// A `BrokerMachine` over arrays of frames: what the simulator and the tests talk to. The ZeroMQ
/// broker does the same with message slots.
package struct FrameBroker: Sendable {
    package struct Message: Hashable, Sendable {
        package let peer: RoutingID
        package let frames: [[UInt8]]
    }

    package var machine: BrokerMachine
    private var payloads: [[[UInt8]]?] = []
    private var free: [Int32] = []

    package init(machine: BrokerMachine) { self.machine = machine }

    /// Bodies held now; a test of leaks.
    package var payloadsCount: Int { payloads.count - free.count }

    package mutating func receive(
        _ frames: [[UInt8]], from peer: RoutingID, caller: CallerNumber, now: SteadyTime
    ) -> [Message] {
        let input = withFrameViews(frames) { BrokerInput($0) }
        var handle = PayloadHandle.none
        switch input.kind {
        case .clientRequest, .worker(.final), .worker(.partial):
            handle = store(Array(frames.dropFirst(input.bodyStart)))
        case .worker, .malformed: break
        }
        machine.receive(input, payload: handle, from: peer, caller: caller, now: now)
        return perform()
    }

    package mutating func tick(now: SteadyTime) -> [Message] {
        machine.tick(now: now)
        return perform()
    }

    package mutating func unreachable(_ peer: RoutingID, now: SteadyTime) -> [Message] {
        machine.unreachable(peer, now: now)
        return perform()
    }

    /// Performs what the machine decided, after a call to `machine` itself.
    package mutating func perform() -> [Message] {
        var messages: [Message] = []
        for action in machine.actions {
            if case .release(let payload) = action {
                payloads[Int(payload.rawValue)] = nil
                free.append(payload.rawValue)
                continue
            }
            var sink = ArraySink(payloads: payloads)
            if action.write(to: &sink) {
                messages.append(Message(peer: sink.peer, frames: sink.frames))
            }
        }
        machine.clearActions()
        return messages
    }

    private mutating func store(_ frames: [[UInt8]]) -> PayloadHandle {
        if let slot = free.popLast() {
            payloads[Int(slot)] = frames
            return PayloadHandle(rawValue: slot)
        }
        payloads.append(frames)
        return PayloadHandle(rawValue: Int32(payloads.count - 1))
    }
}

private struct ArraySink: FrameSink {
    let payloads: [[[UInt8]]?]
    var peer = RoutingID([])
    var frames: [[UInt8]] = []

    init(payloads: [[[UInt8]]?]) { self.payloads = payloads }

    mutating func begin(_ peer: RoutingID) -> Bool {
        self.peer = peer
        return true
    }
    mutating func constant(_ text: StaticString, isLast: Bool) {
        frames.append(PeerFrames.bytes(text))
    }
    mutating func byte(_ byte: UInt8, isLast: Bool) { frames.append([byte]) }
    mutating func text(_ text: String, isLast: Bool) { frames.append(Array(text.utf8)) }
    mutating func bytes(_ bytes: [UInt8], isLast: Bool) { frames.append(bytes) }
    mutating func token(_ token: AddressToken) { frames.append(token.bytes) }

    mutating func requestHeader(
        _ header: RequestHeader, _ payload: PayloadHandle, hasHeader: Bool
    ) {
        frames.append(
            headerFrame(payload, hasHeader) { RawHeader.writeRequest(header, from: $0, to: $1) })
    }

    mutating func replyHeader(
        _ header: ReplyHeader, _ payload: PayloadHandle, hasHeader: Bool, isFinal: Bool,
        isLast: Bool
    ) {
        frames.append(
            headerFrame(payload, hasHeader) {
                RawHeader.writeReply(header, from: $0, isFinal: isFinal, to: $1)
            })
    }

    mutating func payload(_ payload: PayloadHandle, hasHeader: Bool, keeps: Bool) {
        let body = (content(payload)).dropFirst(hasHeader ? 1 : 0)
        frames.append(contentsOf: body.isEmpty ? [[]] : Array(body))
    }

    private func content(_ payload: PayloadHandle) -> [[UInt8]] {
        let index = Int(payload.rawValue)
        guard payloads.indices.contains(index) else { return [] }
        return payloads[index] ?? []
    }

    private func headerFrame(
        _ payload: PayloadHandle, _ hasHeader: Bool,
        _ write: (UnsafeRawBufferPointer?, UnsafeMutableRawBufferPointer) -> Void
    ) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: Self.headerBytes)
        let source = hasHeader ? content(payload).first : nil
        target.withUnsafeMutableBytes { target in
            if let source {
                source.withUnsafeBytes { write($0, target) }
            } else {
                write(nil, target)
            }
        }
        return target
    }

    private static let headerBytes = 128
}
