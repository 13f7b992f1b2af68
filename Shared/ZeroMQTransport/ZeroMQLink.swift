public import Bus
import Majordomo
public import Primitives
import Synchronization

/// The calling end over ZeroMQ: MDP/0.2 with the `BUS1` header, on a DEALER per broker.
///
/// Calls go to the first broker that is connected. When its connection breaks, what went out on it
/// ends as `workerLost` at once; what had not gone out waits, within its deadline, for a
/// connection to any broker.
public final class ZeroMQLink: BusLink {
    /// Calls at once; the broker allows each client as many.
    public static let callsMax = 1_024
    /// The time left of a call that names no deadline.
    static let callMillisecondsMax: Int64 = 30_000

    private let shared: LinkShared
    private let ticketCounter = Atomic<UInt64>(0)

    public convenience init(_ brokers: [BrokerEndpoint], thread: SocketThread) {
        self.init(brokers, thread: thread, callsMax: Self.callsMax)
    }

    init(_ brokers: [BrokerEndpoint], thread: SocketThread, callsMax: Int) {
        precondition(!brokers.isEmpty, "a link needs a broker")
        let shared = LinkShared(thread.wake)
        self.shared = shared
        let context = thread.context
        thread.add { LinkOwner(brokers, context, shared, callsMax: callsMax) }
    }

    deinit { shared.post(.close) }

    public func exchange(
        _ service: String, _ header: BusHeader, _ body: [UInt8]
    ) async -> BusReply {
        guard body.count <= Int(Bound.frameBytesMax), !service.isEmpty,
            service.utf8.count <= Wire.serviceNameBytesMax
        else { return BusReply(status: .malformed) }
        if header.timeLeftMilliseconds == 0 { return BusReply(status: .deadlinePassed) }
        let ticket = ticketCounter.wrappingAdd(1, ordering: .relaxed).newValue
        let millisecondsLeft =
            header.timeLeftMilliseconds == BusHeader.noDeadline
            ? Self.callMillisecondsMax : Int64(header.timeLeftMilliseconds)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                shared.post(
                    .call(
                        LinkCall(
                            ticket: ticket, service: service,
                            requestID: RequestID(header.requestID),
                            header: header.encoded(), body: body,
                            millisecondsLeft: millisecondsLeft,
                            continuation: continuation)))
            }
        } onCancel: {
            shared.post(.cancel(ticket))
        }
    }
}

struct LinkCall: Sendable {
    let ticket: UInt64
    let service: String
    let requestID: RequestID
    let header: [UInt8]
    let body: [UInt8]
    let millisecondsLeft: Int64
    let continuation: UnsafeContinuation<BusReply, Never>
}

enum LinkCommand: Sendable {
    case call(LinkCall)
    case cancel(UInt64)
    case close
}

final class LinkShared: Sendable {
    private let commands = Lock<[LinkCommand]>([])
    private let wake: WakeSignal

    init(_ wake: WakeSignal) { self.wake = wake }

    func post(_ command: LinkCommand) {
        commands.withLock { $0.append(command) }
        wake.set()
    }

    /// Swaps the mailbox for `spare`, which is empty and keeps its room.
    func take(_ spare: inout [LinkCommand]) {
        commands.withLock { swap(&$0, &spare) }
    }
}
