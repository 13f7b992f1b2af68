import CZeroMQ
import Glibc
import Majordomo
import Primitives
import Synchronization

/// Who has been let in, by the number that goes to the broker thread in each message's `User-Id`.
///
/// A number names an identity (a uid, a key), never a peer's name: a key that is taken out of the
/// policy loses its rights on connections that are open already.
final class Admissions: Sendable {
    /// Distinct identities let in over one life of the process.
    static let identitiesMax = 100_000

    enum Endpoint: Sendable {
        case ipc
        case tcp
        /// The benchmark's tcp without CURVE: whoever connects is our own uid.
        case clearTCP
    }

    private struct State {
        var policy: BrokerPolicy
        var numbers: [PeerIdentity: Int] = [:]
        var identities: [PeerIdentity] = []
        var askedOnIPC = 0
        var askedOnTCP = 0
        var refused: Int64 = 0
    }

    private let state: Lock<State>
    /// Raised when the policy is replaced: cheap to look at before every message.
    let revision = Atomic<UInt64>(0)

    init(_ policy: BrokerPolicy) { state = Lock(State(policy: policy)) }

    func replace(_ policy: BrokerPolicy) {
        state.withLock { $0.policy = policy }
        revision.wrappingAdd(1, ordering: .releasing)
    }

    /// Grants of everybody let in so far, by number, as the policy says now.
    func grants() -> [BrokerGrant?] {
        state.withLock { state in
            state.identities.map { state.policy.grant(for: $0) }
        }
    }

    /// How often ZAP asked about this endpoint.
    func askedCount(_ endpoint: Endpoint) -> Int {
        state.withLock { endpoint == .ipc ? $0.askedOnIPC : $0.askedOnTCP }
    }

    var refusedCount: Int64 { state.withLock { $0.refused } }

    /// The number to let the peer in under, or nil to refuse it.
    fileprivate func judge(_ request: ZAPRequest, _ endpoint: Endpoint) -> Int? {
        state.withLock { state in
            let identity: PeerIdentity?
            switch endpoint {
            case .ipc:
                state.askedOnIPC += 1
                identity = request.mechanism == "NULL" ? request.user.map { .user($0) } : nil
            case .tcp:
                state.askedOnTCP += 1
                let key = request.credentials
                identity =
                    request.mechanism == "CURVE" && key.count == CurveKeyPair.bytesCount
                    ? .key(key) : nil
            case .clearTCP:
                state.askedOnTCP += 1
                identity = request.mechanism == "NULL" ? .user(getuid()) : nil
            }
            guard let identity, state.policy.grant(for: identity) != nil else {
                state.refused += 1
                return nil
            }
            if let number = state.numbers[identity] { return number }
            guard state.identities.count < Self.identitiesMax else { return nil }
            state.identities.append(identity)
            state.numbers[identity] = state.identities.count - 1
            return state.identities.count - 1
        }
    }
}

/// One question of ZeroMQ RFC 27.
private struct ZAPRequest {
    let requestID: [UInt8]
    let domain: String
    let address: String
    let mechanism: String
    let credentials: [UInt8]

    init?(_ frames: [[UInt8]]) {
        guard frames.count >= 6, frames[0] == Array("1.0".utf8) else { return nil }
        requestID = frames[1]
        domain = String(decoding: frames[2], as: UTF8.self)
        address = String(decoding: frames[3], as: UTF8.self)
        mechanism = String(decoding: frames[5], as: UTF8.self)
        credentials = frames.count > 6 ? frames[6] : []
    }

    /// The uid in `localhost:uid:gid:pid`, which is what libzmq tells about an ipc peer.
    var user: UInt32? {
        let parts = address.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.first == "localhost" else { return nil }
        return UInt32(parts[1])
    }
}

/// The process's one answerer of ZAP questions, on a thread of its own; started by the first
/// broker.
final class ZAPHandler: Sendable {
    private struct State {
        var isStarted = false
        var domains: [String: (Admissions, Admissions.Endpoint)] = [:]
    }

    private let contextAddress: UInt
    private let state = Lock(State())

    init(contextAddress: UInt) { self.contextAddress = contextAddress }

    func register(_ domain: String, _ admissions: Admissions, _ endpoint: Admissions.Endpoint) {
        state.withLock { $0.domains[domain] = (admissions, endpoint) }
    }

    func forget(_ domain: String) { state.withLock { $0.domains[domain] = nil } }

    /// Binds before it returns, so that no server socket can start without it.
    func startOnce() throws(ZeroMQFault) {
        try state.withLock { (state) throws(ZeroMQFault) in
            guard !state.isStarted else { return }
            guard let context = UnsafeMutableRawPointer(bitPattern: contextAddress) else { return }
            let socket = try ZeroMQSocket(context, type: ZMQ_REP)
            try socket.bind("inproc://zeromq.zap.01")
            try socket.set(.receiveTimeout, -1)
            try socket.set(.sendTimeout, -1)
            // Handed over whole: this thread does not touch it again.
            let address = UInt(bitPattern: socket.raw)
            try startThread("fusion-zap") { [self] in answer(socketAddress: address) }
            state.isStarted = true
        }
    }

    private func answer(socketAddress: UInt) {
        guard let raw = UnsafeMutableRawPointer(bitPattern: socketAddress) else { return }
        while let frames = Self.receive(raw) {
            let reply = Self.reply(
                to: frames,
                find: { domain in
                    state.withLock { $0.domains[domain] }
                })
            for (index, frame) in reply.enumerated() {
                let flags = index + 1 < reply.count ? ZMQ_SNDMORE : 0
                frame.withUnsafeBytes { _ = zmq_send(raw, $0.baseAddress, $0.count, flags) }
            }
        }
        zmq_close(raw)
    }

    private static func reply(
        to frames: [[UInt8]], find: (String) -> (Admissions, Admissions.Endpoint)?
    ) -> [[UInt8]] {
        let version = Array("1.0".utf8)
        guard let request = ZAPRequest(frames) else {
            return [version, frames.count > 1 ? frames[1] : [], Array("500".utf8), [], [], []]
        }
        guard let (admissions, endpoint) = find(request.domain),
            let number = admissions.judge(request, endpoint)
        else {
            return [version, request.requestID, Array("400".utf8), Array("refused".utf8), [], []]
        }
        return [
            version, request.requestID, Array("200".utf8), Array("OK".utf8),
            Array(String(number).utf8), [],
        ]
    }

    /// Frames of one question; nil when the context ends.
    private static func receive(_ raw: UnsafeMutableRawPointer) -> [[UInt8]]? {
        var frames: [[UInt8]] = []
        while true {
            var message = zmq_msg_t()
            zmq_msg_init(&message)
            defer { zmq_msg_close(&message) }
            while zmq_msg_recv(&message, raw, 0) < 0 {
                if zmq_errno() != EINTR { return nil }
            }
            let size = zmq_msg_size(&message)
            let bytes = UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: size)
            // RFC 27 bounds strings at 255 bytes and frames at eight.
            if frames.count < 8 { frames.append(Array(bytes.prefix(255))) }
            if zmq_msg_more(&message) == 0 { return frames }
        }
    }
}
