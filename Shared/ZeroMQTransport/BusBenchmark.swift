import Bus
import CZeroMQ
package import Majordomo
import Primitives

/// Round trips over a real bus, with opaque bodies. Each part runs in a process of its own: a
/// broker, a worker, a client. What it prints belongs to its caller.
package enum BusBenchmark {
    package static let service = "bench.echo"
    package static let bodyBytes = 200

    package struct Result: Sendable {
        package let outstanding: Int
        package let count: Int
        package let failedCount: Int
        package let elapsed: Duration
        /// Microseconds, ascending.
        package let latencies: [Int64]

        package var perSecond: Double {
            let (seconds, attoseconds) = elapsed.components
            return Double(count) / (Double(seconds) + Double(attoseconds) / 1e18)
        }

        /// - Parameter share: 0…1.
        package func latencyMicroseconds(_ share: Double) -> Int64 {
            guard !latencies.isEmpty else { return 0 }
            let index = Int((Double(latencies.count - 1) * share).rounded())
            return latencies[min(max(index, 0), latencies.count - 1)]
        }
    }

    /// A broker whose tcp endpoint is in the clear, on loopback only, so that it can be compared
    /// with programs that do not encrypt. Only the caller's own uid is in its policy.
    package static func startBroker(
        ipcPath: String, policy: BrokerPolicy, spinMicroseconds: Int64, context: ZeroMQContext
    ) throws -> BrokerServer {
        var settings = BrokerServer.Settings(
            ipcPath: ipcPath, tcpAddress: "tcp://127.0.0.1:0", curve: CurveKeyPair.generate(),
            policy: policy)
        settings.isTCPInTheClear = true
        settings.spinMicroseconds = spinMicroseconds
        return try BrokerServer.start(settings, context: context)
    }

    /// Serves echoes through the whole library, one task per request, until cancelled.
    package static func serveWithTasks(
        _ brokers: [BrokerEndpoint], thread: SocketThread,
        credit: Int = ServiceRegistration.creditMax
    ) async throws {
        let listener = ZeroMQListener(brokers, thread: thread)
        let registration = ServiceRegistration(
            service: service, instanceID: "bench", version: "1.0.0", credit: credit)
        try await listener.serve([registration]) { _, _, body in
            BusReply(status: .ok, body: body)
        }
    }

    /// Serves echoes on the socket thread itself: what the bus costs without any task.
    package static func serveInline(
        _ broker: BrokerEndpoint, thread: SocketThread,
        credit: Int = ServiceRegistration.creditMax
    ) {
        let context = thread.context
        thread.add { EchoOwner(broker, context, credit: credit) }
    }

    /// Calls through the async library, `outstanding` tasks at once.
    package static func callWithTasks(
        _ brokers: [BrokerEndpoint], thread: SocketThread, outstanding: Int, count: Int
    ) async -> Result {
        let link = ZeroMQLink(brokers, thread: thread)
        _ = await call(link, outstanding: outstanding, count: min(count, warmUpCount))
        return await call(link, outstanding: outstanding, count: count)
    }

    /// Calls from the socket thread itself, `outstanding` at once.
    package static func callInline(
        _ broker: BrokerEndpoint, thread: SocketThread, outstanding: Int, count: Int
    ) async -> Result {
        let context = thread.context
        return await withCheckedContinuation { continuation in
            thread.add {
                WindowOwner(
                    broker, context, outstanding: outstanding,
                    warmUp: min(count, warmUpCount), count: count
                ) { continuation.resume(returning: $0) }
            }
        }
    }

    static let warmUpCount = 2_000

    @concurrent
    private static func call(
        _ link: ZeroMQLink, outstanding: Int, count: Int
    ) async -> Result {
        let body = [UInt8](repeating: 120, count: bodyBytes)
        let began = SteadyTime.now()
        let parts = await withTaskGroup(of: ([Int64], Int).self) { group in
            for task in 0..<outstanding {
                let share = count / outstanding + (task < count % outstanding ? 1 : 0)
                group.addTask { await calls(link, task, share, body) }
            }
            return await group.reduce(into: ([Int64](), 0)) { sum, part in
                sum.0.append(contentsOf: part.0)
                sum.1 += part.1
            }
        }
        return Result(
            outstanding: outstanding, count: count, failedCount: parts.1,
            elapsed: SteadyTime.now() - began, latencies: parts.0.sorted())
    }

    private static func calls(
        _ link: ZeroMQLink, _ task: Int, _ count: Int, _ body: [UInt8]
    ) async -> ([Int64], Int) {
        var latencies: [Int64] = []
        var failed = 0
        var requestID = systemRandom(16)
        for number in 0..<count {
            requestID[0] = UInt8(truncatingIfNeeded: number)
            requestID[1] = UInt8(truncatingIfNeeded: number >> 8)
            let header = BusHeader(
                kind: .request, requestID: requestID, timeLeftMilliseconds: 30_000)
            let began = SteadyTime.now()
            let reply = await link.exchange(service, header, body)
            latencies.append(SteadyTime.now().microseconds - began.microseconds)
            if reply.status != .ok { failed += 1 }
        }
        return (latencies, failed)
    }
}

/// A worker without tasks: every request is answered in the round that received it.
private final class EchoOwner: SocketOwner {
    private let socket: ZeroMQSocket?
    private var reader = FrameReader()
    private var beatAt = SteadyTime.now()
    let isEnded = false

    init(_ broker: BrokerEndpoint, _ context: ZeroMQContext, credit: Int) {
        socket = try? connectedDealer(broker, context)
        var capabilities = WorkerCapabilities()
        capabilities.credit = credit
        _ = socket?.send(
            PeerFrames.ready(
                .v02, service: BusBenchmark.service, capabilities: capabilities))
    }

    func service(_ now: SteadyTime) -> Bool {
        guard let socket else { return false }
        var received = 0
        while received < Bound.receivesMax, reader.receive(socket) {
            received += 1
            guard
                case .request(let address, let header, let start) = WorkerInput(
                    reader.frames, .v02)
            else { continue }
            _ = socket.send(Wire.worker02, more: true)
            _ = socket.send([WorkerCommand.final.byte(.v02)], more: true)
            _ = socket.send(address, more: true)
            _ = socket.send("", more: true)
            if let header {
                let reply = BusHeader(kind: .final, requestID: header.requestID)
                _ = socket.send(reply.encoded(), more: true)
            }
            _ = socket.send(reader.frames[start], more: false)
        }
        if now >= beatAt {
            beatAt = now + .milliseconds(250)
            _ = socket.send(PeerFrames.heartbeat(.v02, window: nil))
        }
        return received > 0
    }

    func appendPollItems(_ items: inout [zmq_pollitem_t]) {
        if let socket { items.append(zmq_pollitem_t(socket)) }
    }

    var wakeAt: SteadyTime? { beatAt }
    func end() { socket?.close() }
}

/// A client without tasks: a new request goes out in the round that received a reply.
private final class WindowOwner: SocketOwner {
    private let socket: ZeroMQSocket?
    private let outstanding: Int
    private let warmUp: Int
    private let count: Int
    private let done: @Sendable (BusBenchmark.Result) -> Void
    private let body = [UInt8](repeating: 120, count: BusBenchmark.bodyBytes)
    private var reader = FrameReader()
    private var header = BusHeader(
        kind: .request, requestID: systemRandom(16), timeLeftMilliseconds: 30_000
    ).encoded()
    private var sentAt: [Int64] = []
    private var latencies: [Int64] = []
    private var answered = 0
    private var failed = 0
    private var beganAt: SteadyTime?
    private(set) var isEnded = false

    init(
        _ broker: BrokerEndpoint, _ context: ZeroMQContext, outstanding: Int, warmUp: Int,
        count: Int, _ done: @escaping @Sendable (BusBenchmark.Result) -> Void
    ) {
        self.outstanding = outstanding
        self.warmUp = warmUp
        self.count = count
        self.done = done
        socket = try? connectedDealer(broker, context)
        for _ in 0..<min(outstanding, warmUp + count) { send() }
    }

    private func send() {
        guard let socket, sentAt.count < warmUp + count else { return }
        withUnsafeBytes(of: UInt64(sentAt.count).bigEndian) {
            for index in 0..<8 { header[8 + index] = $0[index] }
        }
        sentAt.append(SteadyTime.now().microseconds)
        _ = socket.send(Wire.client02, more: true)
        _ = socket.send([Wire.clientRequest02], more: true)
        var name = BusBenchmark.service
        _ = name.withUTF8 { socket.send(UnsafeRawBufferPointer($0), more: true) }
        _ = socket.send(header, more: true)
        _ = socket.send(body, more: false)
    }

    func service(_ now: SteadyTime) -> Bool {
        guard let socket, !isEnded else { return false }
        var received = 0
        while received < Bound.receivesMax, reader.receive(socket) {
            received += 1
            guard let input = ClientInput(reader.frames, .v02), let id = input.requestID else {
                continue
            }
            if input.status != 0 { failed += 1 }
            answered += 1
            if answered == warmUp { beganAt = now }
            let number = Int(truncatingIfNeeded: id.high)
            if answered > warmUp, sentAt.indices.contains(number) {
                latencies.append(SteadyTime.now().microseconds - sentAt[number])
            }
            send()
        }
        if answered >= warmUp + count { finish() }
        return received > 0
    }

    private func finish() {
        end()
        let elapsed = SteadyTime.now() - (beganAt ?? .now())
        done(
            BusBenchmark.Result(
                outstanding: outstanding, count: count, failedCount: failed, elapsed: elapsed,
                latencies: latencies.sorted()))
    }

    func appendPollItems(_ items: inout [zmq_pollitem_t]) {
        if let socket { items.append(zmq_pollitem_t(socket)) }
    }

    var wakeAt: SteadyTime? { nil }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        socket?.close()
    }
}

private func connectedDealer(
    _ broker: BrokerEndpoint, _ context: ZeroMQContext
) throws(ZeroMQFault) -> ZeroMQSocket {
    let socket = try ZeroMQSocket(context.raw, type: ZMQ_DEALER)
    try socket.setPeerOptions(
        isTCP: broker.isTCP, immediate: false, receiveHighWaterMark: 2 * 1_024)
    try broker.configure(socket)
    try socket.connect(broker.address)
    return socket
}
