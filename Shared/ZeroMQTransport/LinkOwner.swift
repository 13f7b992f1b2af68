import Bus
import CZeroMQ
import Majordomo
import Primitives

/// A link's sockets and waiting calls, on the socket thread.
final class LinkOwner: SocketOwner {
    private struct Connection {
        let socket: ZeroMQSocket
        let monitor: SocketMonitor
        var isReady = false
    }

    private let shared: LinkShared
    private var machine: ClientMachine
    private var connections: [Connection] = []
    private var current = 0
    /// By slot of the machine.
    private var calls: [LinkCall?] = []
    /// In order of arrival; entries may have finished meanwhile.
    private var unsent: [ClientMachine.Call] = []
    private var spare: [LinkCommand] = []
    /// Cancelled before the call itself arrived here.
    private var earlyCancels: Set<UInt64> = []
    private var watchAt = SteadyTime(microseconds: 0)
    private var reader = FrameReader()
    private(set) var isEnded = false

    /// Cancellations that may overtake their calls.
    private static let earlyCancelsMax = 4_096
    /// Offset of the time left in the header.
    private static let timeLeftOffset = 24

    init(
        _ brokers: [BrokerEndpoint], _ context: ZeroMQContext, _ shared: LinkShared, callsMax: Int
    ) {
        self.shared = shared
        machine = ClientMachine(callsMax: callsMax, now: .now())
        for broker in brokers {
            // A broker that cannot even be dialled (a bad address) leaves the others.
            if let connection = try? Self.connect(broker, context) {
                connections.append(connection)
            }
        }
    }

    private static func connect(
        _ broker: BrokerEndpoint, _ context: ZeroMQContext
    ) throws(ZeroMQFault) -> Connection {
        let socket = try ZeroMQSocket(context.raw, type: ZMQ_DEALER)
        try socket.setPeerOptions(
            isTCP: broker.isTCP, immediate: true,
            receiveHighWaterMark: Int32(ZeroMQLink.callsMax) + 64)
        try broker.configure(socket)
        let monitor = try SocketMonitor(socket, context)
        try socket.connect(broker.address)
        return Connection(socket: socket, monitor: monitor)
    }

    // MARK: SocketOwner

    func service(_ now: SteadyTime) -> Bool {
        var didWork = false
        if now >= watchAt {
            watchAt = now.advanced(microseconds: Bound.watchMicroseconds)
            didWork = watchConnections()
        }
        if obeyCommands(now) { didWork = true }
        if isEnded { return true }
        sendUnsent(now)
        for index in connections.indices where receive(index) { didWork = true }
        for call in machine.expired(now: now) { finish(call, BusReply(status: .deadlinePassed)) }
        return didWork
    }

    func appendPollItems(_ items: inout [zmq_pollitem_t]) {
        for connection in connections {
            items.append(zmq_pollitem_t(connection.monitor.socket))
            items.append(
                zmq_pollitem_t(
                    connection.socket, writable: !unsent.isEmpty && connection.isReady))
        }
    }

    /// Deadlines have the wheel's resolution.
    var wakeAt: SteadyTime? {
        machine.waitingCount == 0 ? nil : .now().advanced(microseconds: 10_000)
    }

    func end() {
        isEnded = true
        for slot in calls.indices {
            calls[slot]?.continuation.resume(returning: BusReply(status: .cancelled))
            calls[slot] = nil
        }
        shared.take(&spare)
        for case .call(let call) in spare {
            call.continuation.resume(returning: BusReply(status: .cancelled))
        }
        for connection in connections {
            connection.monitor.stop(connection.socket)
            connection.socket.close()
        }
        connections = []
    }

    // MARK: Steps

    private func watchConnections() -> Bool {
        var didWork = false
        for index in connections.indices {
            while let event = connections[index].monitor.next(&reader) {
                didWork = true
                switch event {
                case .ready: connections[index].isReady = true
                case .lost:
                    connections[index].isReady = false
                    for call in machine.lost(connection: index) {
                        finish(call, BusReply(status: .workerLost))
                    }
                case .refused:
                    connections[index].isReady = false
                    refuseUnsent()
                }
            }
        }
        return didWork
    }

    /// The only broker there is does not know our key: no call can ever succeed.
    private func refuseUnsent() {
        guard connections.count == 1 else { return }
        for call in unsent where machine.finish(call) {
            finish(call, BusReply(status: .notAllowed))
        }
        unsent = []
    }

    private func obeyCommands(_ now: SteadyTime) -> Bool {
        shared.take(&spare)
        guard !spare.isEmpty else { return false }
        for index in spare.indices {
            switch spare[index] {
            case .call(let call): begin(call, now)
            case .cancel(let ticket): cancel(ticket)
            case .close: end()
            }
        }
        spare.removeAll(keepingCapacity: true)
        return true
    }

    private func begin(_ call: LinkCall, _ now: SteadyTime) {
        if !earlyCancels.isEmpty, earlyCancels.remove(call.ticket) != nil {
            call.continuation.resume(returning: BusReply(status: .cancelled))
            return
        }
        guard
            let waiting = machine.begin(
                call.requestID, millisecondsLeft: call.millisecondsLeft, now: now)
        else {
            call.continuation.resume(returning: BusReply(status: .overloaded))
            return
        }
        let slot = Int(waiting.slot)
        while calls.count <= slot { calls.append(nil) }
        calls[slot] = call
        if !unsent.isEmpty || !send(waiting, now) { unsent.append(waiting) }
    }

    private func cancel(_ ticket: UInt64) {
        guard let slot = calls.firstIndex(where: { $0?.ticket == ticket }) else {
            if earlyCancels.count < Self.earlyCancelsMax { earlyCancels.insert(ticket) }
            return
        }
        guard let call = machine.waiting(inSlot: Int32(slot)), machine.finish(call) else { return }
        finish(call, BusReply(status: .cancelled))
    }

    private func sendUnsent(_ now: SteadyTime) {
        guard !unsent.isEmpty else { return }
        var sent = 0
        while sent < unsent.count, send(unsent[sent], now) { sent += 1 }
        unsent.removeFirst(sent)
    }

    /// True when the call needs no further sending: it went out, or it is finished.
    private func send(_ waiting: ClientMachine.Call, _ now: SteadyTime) -> Bool {
        guard let left = machine.millisecondsLeft(waiting, now: now),
            let call = calls[Int(waiting.slot)]
        else { return true }
        for step in connections.indices {
            let index = (current + step) % connections.count
            guard connections[index].isReady else { continue }
            let socket = connections[index].socket
            guard socket.send(Wire.client02, more: true) else { continue }
            let header = Self.header(call, millisecondsLeft: left)
            // A message whose first frame was taken is taken whole.
            _ = socket.send([Wire.clientRequest02], more: true)
            var service = call.service
            _ = service.withUTF8 { socket.send(UnsafeRawBufferPointer($0), more: true) }
            _ = socket.send(header, more: true)
            _ = socket.send(call.body, more: false)
            machine.sent(waiting, on: index)
            current = index
            return true
        }
        return false
    }

    /// The call's header, its time counted down where it had to wait.
    private static func header(_ call: LinkCall, millisecondsLeft left: Int64) -> [UInt8] {
        guard left + 1 < call.millisecondsLeft else { return call.header }
        var header = call.header
        let milliseconds = UInt32(clamping: left)
        for byte in 0..<4 {
            header[timeLeftOffset + byte] = UInt8(
                truncatingIfNeeded: milliseconds >> UInt32(24 - 8 * byte))
        }
        return header
    }

    private func receive(_ index: Int) -> Bool {
        var received = 0
        while received < Bound.receivesMax, reader.receive(connections[index].socket) {
            received += 1
            guard let input = ClientInput(reader.frames, .v02), let call = machine.reply(input)
            else { continue }
            finish(
                call,
                BusReply(
                    status: BusStatus(rawValue: input.status) ?? Self.unknownStatus(input.status),
                    retryAfterMilliseconds: input.retryAfterMilliseconds,
                    body: reader.body(from: input.bodyStart)))
        }
        return received > 0
    }

    /// A newer broker's word: 100 and above come from a handler.
    private static func unknownStatus(_ status: UInt16) -> BusStatus {
        status >= BusStatus.refused.rawValue ? .refused : .internalFault
    }

    private func finish(_ call: ClientMachine.Call, _ reply: BusReply) {
        let slot = Int(call.slot)
        guard let waiting = calls[slot] else { return }
        calls[slot] = nil
        waiting.continuation.resume(returning: reply)
    }
}
