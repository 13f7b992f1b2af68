import Majordomo
import Primitives

/// A broker over frames, a clock moved by hand, and readable answers.
final class BrokerUnderTest {
    static let client = RoutingID([0, 1, 0, 0, 1])
    static let otherClient = RoutingID([0, 1, 0, 0, 2])
    static let worker = RoutingID([0, 2, 0, 0, 1])
    static let otherWorker = RoutingID([0, 2, 0, 0, 2])
    /// Everybody's right; 1 may call and serve `echo` only; 2 nothing; 3 unknown.
    static let anybody = CallerNumber(rawValue: 0)
    static let echoOnly = CallerNumber(rawValue: 1)

    var broker: FrameBroker
    private(set) var now = SteadyTime(microseconds: 1_000_000)

    init(_ change: (inout BrokerLimits) -> Void = { _ in }) {
        var limits = BrokerLimits()
        change(&limits)
        broker = FrameBroker(
            machine: BrokerMachine(
                limits: limits, seed: Array(1...32), now: SteadyTime(microseconds: 1_000_000)))
        broker.machine.replaceGrants(Self.grants, now: now)
    }

    static var grants: [BrokerGrant?] {
        let all = Principal(roles: [.operator], name: "all").map {
            BrokerGrant(principal: $0, call: [.all], serve: [.all])
        }
        let echo = NamePattern("echo").map { [$0] } ?? []
        let some = Principal(roles: [.integrator], name: "some").map {
            BrokerGrant(principal: $0, call: echo, serve: echo)
        }
        return [all, some, nil]
    }

    /// Time passes in steps of the wheel, as in the real loop.
    func pass(_ span: Duration) -> [FrameBroker.Message] {
        var messages: [FrameBroker.Message] = []
        let end = now + span
        while now < end {
            now = min(now + .milliseconds(10), end)
            messages += broker.tick(now: now)
        }
        return messages
    }

    /// Time passes while the worker keeps sending heartbeats.
    func passAlive(
        _ span: Duration, _ workers: [RoutingID] = [BrokerUnderTest.worker]
    ) -> [FrameBroker.Message] {
        var messages: [FrameBroker.Message] = []
        let end = now + span
        while now < end {
            messages += pass(min(.milliseconds(200), end - now))
            for worker in workers {
                messages += send(PeerFrames.heartbeat(.v02, window: nil), from: worker)
            }
        }
        return messages.filter { Frames($0).kind != .heartbeat }
    }

    func send(
        _ frames: [[UInt8]], from peer: RoutingID, as caller: CallerNumber = anybody
    ) -> [FrameBroker.Message] {
        broker.receive(frames, from: peer, caller: caller, now: now)
    }

    func request(
        _ body: String, service: String = "echo", from peer: RoutingID = client,
        dialect: Dialect = .v02, header: BusHeader? = nil, as caller: CallerNumber = anybody
    ) -> [FrameBroker.Message] {
        send(
            PeerFrames.request(
                dialect, service: service, header: header, body: Array(body.utf8)),
            from: peer, as: caller)
    }

    func ready(
        _ peer: RoutingID = worker, service: String = "echo", dialect: Dialect = .v02,
        credit: Int? = nil, retry: Bool = true, as caller: CallerNumber = anybody
    ) -> [FrameBroker.Message] {
        let capabilities = credit.map {
            WorkerCapabilities(
                credit: $0, heartbeatMilliseconds: 250, wantsPrincipal: true, instanceID: "i1",
                version: "1.0.0", isRetrySafe: retry)
        }
        return send(
            PeerFrames.ready(dialect, service: service, capabilities: capabilities), from: peer,
            as: caller)
    }

    func reply(
        _ body: String, to request: FrameBroker.Message?, dialect: Dialect = .v02,
        command: WorkerCommand = .final, header: BusHeader? = nil, from peer: RoutingID? = nil
    ) -> [FrameBroker.Message] {
        guard let request else { return [] }
        return send(
            PeerFrames.reply(
                dialect, command, address: Frames(request).address, header: header,
                body: Array(body.utf8)), from: peer ?? request.peer)
    }

    func unreachable(_ peer: RoutingID) -> [FrameBroker.Message] {
        broker.unreachable(peer, now: now)
    }

    func replaceGrants(_ grants: [BrokerGrant?]) -> [FrameBroker.Message] {
        broker.machine.replaceGrants(grants, now: now)
        return broker.perform()
    }

    static func header(_ first: UInt8 = 7, timeLeft: UInt32 = 2_000) -> BusHeader {
        BusHeader(
            kind: .request, requestID: [first] + [UInt8](repeating: 9, count: 15),
            timeLeftMilliseconds: timeLeft)
    }
}

/// One message of a broker, read apart.
struct Frames {
    enum Kind { case request, reply, partial, heartbeat, disconnect, other }

    let peer: RoutingID
    let kind: Kind
    let dialect: Dialect
    private let rest: [[UInt8]]

    init(_ message: FrameBroker.Message) {
        peer = message.peer
        var frames = message.frames[...]
        let isDelimited = frames.first == []
        if isDelimited { frames = frames.dropFirst() }
        let name = frames.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        dialect = isDelimited ? (name.hasSuffix("2") ? .v02Delimited : .v01) : .v02
        frames = frames.dropFirst()
        if name == "MDPC01" {
            kind = .reply
        } else {
            let byte = frames.first?.first ?? 0
            frames = frames.dropFirst()
            switch (name, byte) {
            case ("MDPC02", 2): kind = .partial
            case ("MDPC02", 3): kind = .reply
            case ("MDPW01", 2), ("MDPW02", 2): kind = .request
            case ("MDPW01", 4), ("MDPW02", 5): kind = .heartbeat
            case ("MDPW01", 5), ("MDPW02", 6): kind = .disconnect
            default: kind = .other
            }
        }
        rest = Array(frames)
    }

    /// A worker's address frame.
    var address: [UInt8] { kind == .request ? rest.first ?? [] : [] }
    private var bodyFrames: [[UInt8]] { Array(rest.dropFirst(kind == .request ? 2 : 1)) }
    var header: BusHeader? { bodyFrames.first.flatMap { BusHeader($0) } }
    var body: String {
        String(decoding: bodyFrames.dropFirst(header == nil ? 0 : 1).joined(), as: UTF8.self)
    }
    var text: String { String(decoding: rest.first ?? [], as: UTF8.self) }
}

extension [FrameBroker.Message] {
    /// `request`, `reply`, … of every message, in order.
    var kinds: [Frames.Kind] { map { Frames($0).kind } }
    var bodies: [String] { map { Frames($0).body } }
}
