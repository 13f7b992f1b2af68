import Bus
import CZeroMQ
import Majordomo
import Primitives

/// A listener's sockets and worker machines, on the socket thread: one lane per registration and
/// broker.
final class ListenerOwner: SocketOwner {
    private struct Lane {
        let broker: BrokerEndpoint
        let registration: ServiceRegistration
        var machine: WorkerMachine
        var socket: ZeroMQSocket?
        var monitor: SocketMonitor?
    }

    private let context: ZeroMQContext
    private let shared: ListenerShared
    private var lanes: [Lane] = []
    private var watchAt = SteadyTime(microseconds: 0)
    private var mayWatch = false
    private var reader = FrameReader()
    private var spare: [ListenerCommand] = []
    private var incoming: [IncomingRequest] = []
    private var jitter = systemRandom(8).reduce(UInt64(1)) { $0 << 8 | UInt64($1) }
    private(set) var isEnded = false

    private static let heartbeatMilliseconds = 250

    init(
        _ brokers: [BrokerEndpoint], _ registrations: [ServiceRegistration],
        _ context: ZeroMQContext, _ shared: ListenerShared, _ times: WorkerMachine.Times
    ) {
        self.context = context
        self.shared = shared
        for broker in brokers {
            for registration in registrations {
                let capabilities = WorkerCapabilities(
                    credit: registration.credit,
                    heartbeatMilliseconds: Self.heartbeatMilliseconds, wantsPrincipal: true,
                    instanceID: registration.instanceID, version: registration.version,
                    isRetrySafe: registration.isRetrySafe)
                lanes.append(
                    Lane(
                        broker: broker, registration: registration,
                        machine: WorkerMachine(
                            capabilities: capabilities, times: times, now: .now())))
            }
        }
    }

    // MARK: SocketOwner

    func service(_ now: SteadyTime) -> Bool {
        var didWork = obeyCommands(now)
        mayWatch = now >= watchAt
        if mayWatch { watchAt = now.advanced(microseconds: Bound.watchMicroseconds) }
        for index in lanes.indices {
            if receive(index, now) { didWork = true }
            perform(lanes[index].machine.tick(now: now, jitter: nextJitter()), index)
        }
        shared.deliver(&incoming)
        if !isEnded, lanes.allSatisfy({ $0.machine.isEnded }) { end() }
        return didWork
    }

    func appendPollItems(_ items: inout [zmq_pollitem_t]) {
        for lane in lanes {
            if let socket = lane.socket { items.append(zmq_pollitem_t(socket)) }
            if let monitor = lane.monitor { items.append(zmq_pollitem_t(monitor.socket)) }
        }
    }

    var wakeAt: SteadyTime? { lanes.compactMap { $0.machine.wakeAt }.min() }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        for index in lanes.indices { closeSocket(index, flush: Bound.flushSpan) }
        shared.close()
    }

    // MARK: Steps

    private func obeyCommands(_ now: SteadyTime) -> Bool {
        shared.take(&spare)
        guard !spare.isEmpty else { return false }
        for command in spare {
            switch command {
            case .answered(let origin, let reply): answer(origin, reply, now)
            case .drain:
                for index in lanes.indices { perform(lanes[index].machine.drain(now: now), index) }
            case .stop: end()
            }
        }
        spare.removeAll(keepingCapacity: true)
        return true
    }

    private func answer(_ origin: RequestOrigin, _ reply: BusReply, _ now: SteadyTime) {
        for action in lanes[origin.lane].machine.finished(origin.ticket, now: now) {
            if case .sendReply = action {
                send(origin, reply)
            } else {
                perform([action], origin.lane)
            }
        }
    }

    private func receive(_ index: Int, _ now: SteadyTime) -> Bool {
        if mayWatch { watch(index, now) }
        var received = 0
        while received < Bound.receivesMax, let socket = lanes[index].socket,
            reader.receive(socket)
        {
            received += 1
            let input = WorkerInput(reader.frames, .v02)
            let actions = lanes[index].machine.receive(input, now: now, jitter: nextJitter())
            for action in actions {
                switch action {
                case .handle(let ticket): accept(input, ticket, index)
                case .refuse(let ticket): refuse(input, ticket, index, now)
                default: perform([action], index)
                }
            }
            closeIfLost(index)
        }
        return received > 0
    }

    /// A broken connection is a lost broker: registering anew at once beats waiting for its
    /// silence.
    private func watch(_ index: Int, _ now: SteadyTime) {
        while let monitor = lanes[index].monitor, let event = monitor.next(&reader) {
            guard case .lost = event else { continue }
            lanes[index].machine.connectionLost(now: now, jitter: nextJitter())
            closeIfLost(index)
        }
    }

    private func closeIfLost(_ index: Int) {
        if !lanes[index].machine.isOpen { closeSocket(index, flush: .zero) }
    }

    private func accept(_ input: WorkerInput, _ ticket: WorkerMachine.Ticket, _ index: Int) {
        guard case .request(_, let header, let bodyStart) = input else { return }
        let given = header ?? BusHeader(kind: .request, requestID: systemRandom(16))
        incoming.append(
            IncomingRequest(
                origin: RequestOrigin(
                    lane: index, ticket: ticket, requestID: given.requestID,
                    wantsHeader: header != nil),
                service: lanes[index].registration.service, header: given,
                body: reader.body(from: bodyStart)))
    }

    private func refuse(
        _ input: WorkerInput, _ ticket: WorkerMachine.Ticket, _ index: Int, _ now: SteadyTime
    ) {
        guard case .request(_, let header, _) = input else { return }
        let origin = RequestOrigin(
            lane: index, ticket: ticket, requestID: header?.requestID ?? systemRandom(16),
            wantsHeader: header != nil)
        let body = FailureBody.json(.overloaded, retryAfterMilliseconds: 0)
        answer(origin, BusReply(status: .overloaded, body: body), now)
    }

    // MARK: Sending

    private func perform(_ actions: [WorkerMachine.Action], _ index: Int) {
        for action in actions {
            switch action {
            case .open: open(index)
            case .sendReady:
                send(
                    PeerFrames.ready(
                        .v02, service: lanes[index].registration.service,
                        capabilities: lanes[index].machine.capabilities), index)
            case .sendHeartbeat(let window):
                send(PeerFrames.heartbeat(.v02, window: window), index)
            case .sendDisconnect: send(PeerFrames.disconnect(.v02), index)
            case .end: closeSocket(index, flush: Bound.flushSpan)
            case .handle, .sendReply, .refuse: break
            }
        }
        if !actions.isEmpty { return }
        closeIfLost(index)
    }

    private func send(_ frames: [[UInt8]], _ index: Int) {
        // A full pipe means that no broker reads: its silence is judged by the machine.
        _ = lanes[index].socket?.send(frames)
    }

    private func send(_ origin: RequestOrigin, _ reply: BusReply) {
        guard let socket = lanes[origin.lane].socket,
            socket.send(Wire.worker02, more: true)
        else { return }
        _ = socket.send([WorkerCommand.final.byte(.v02)], more: true)
        _ = socket.send(origin.ticket.address, more: true)
        _ = socket.send("", more: true)
        if origin.wantsHeader {
            let header = BusHeader(
                kind: .final, requestID: origin.requestID, status: reply.status.rawValue,
                retryAfterMilliseconds: reply.retryAfterMilliseconds)
            _ = socket.send(header.encoded(), more: true)
        }
        _ = socket.send(reply.body, more: false)
    }

    private func open(_ index: Int) {
        closeSocket(index, flush: .zero)
        let lane = lanes[index]
        do throws(ZeroMQFault) {
            let socket = try ZeroMQSocket(context.raw, type: ZMQ_DEALER)
            lanes[index].socket = socket
            try socket.setPeerOptions(
                isTCP: lane.broker.isTCP, immediate: false,
                receiveHighWaterMark: Int32(lane.registration.credit) + 64)
            try lane.broker.configure(socket)
            lanes[index].monitor = try SocketMonitor(socket, context)
            try socket.connect(lane.broker.address)
        } catch {
            // No socket left, or an address that cannot be dialled: the machine tries again after
            // its silence.
            closeSocket(index, flush: .zero)
        }
    }

    private func closeSocket(_ index: Int, flush: Duration) {
        guard let socket = lanes[index].socket else { return }
        lanes[index].monitor?.stop(socket)
        socket.close(flush: flush)
        lanes[index].socket = nil
        lanes[index].monitor = nil
    }

    /// xorshift64: spreads reconnections, needs no better.
    private func nextJitter() -> Double {
        jitter ^= jitter << 13
        jitter ^= jitter >> 7
        jitter ^= jitter << 17
        return Double(jitter >> 11) / Double(1 << 53 as UInt64)
    }
}
