import CZeroMQ
public import Primitives
import Synchronization

/// The one libzmq context of a process, its one authentication (ZAP) thread, and nothing else.
public final class ZeroMQContext: Sendable {
    /// 4.3.3 closed the last holes that a peer can reach before it is authenticated
    /// (CVE-2020-15166).
    static let versionMin: (Int32, Int32, Int32) = (4, 3, 3)

    private let address: UInt
    let zap: ZAPHandler
    private let nameCounter = Atomic<UInt64>(0)

    public init() throws {
        var version: (Int32, Int32, Int32) = (0, 0, 0)
        zmq_version(&version.0, &version.1, &version.2)
        guard version >= Self.versionMin, zmq_has("curve") == 1 else {
            throw ZeroMQFault("libzmq 4.3.3 or later with CURVE is needed", code: ENOTSUP)
        }
        guard let context = zmq_ctx_new() else { throw ZeroMQFault("zmq_ctx_new") }
        zmq_ctx_set(context, ZMQ_BLOCKY, 0)
        zmq_ctx_set(context, ZMQ_MAX_SOCKETS, Bound.socketsMax)
        address = UInt(bitPattern: context)
        zap = ZAPHandler(contextAddress: address)
    }

    /// Ends the process's use of libzmq: threads that wait on its sockets return. The last call of
    /// all.
    public func end() {
        zmq_ctx_shutdown(raw)
    }

    var raw: UnsafeMutableRawPointer {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address) else {
            preconditionFailure("a context has an address")
        }
        return pointer
    }

    /// A name that no other inproc endpoint of this context has.
    func uniqueName(_ prefix: String) -> String {
        prefix + String(nameCounter.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}

/// A CURVE key pair: 32 bytes each.
public struct CurveKeyPair: Sendable {
    public static let bytesCount = 32
    /// Characters of a key in Z85 (ZeroMQ RFC 32).
    public static let textLength = 40

    public let publicKey: [UInt8]
    public let secretKey: Secret<[UInt8]>

    public init?(publicKey: [UInt8], secretKey: Secret<[UInt8]>) {
        guard publicKey.count == Self.bytesCount, secretKey.reveal().count == Self.bytesCount else {
            return nil
        }
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    public static func generate() -> Self {
        var publicText = [CChar](repeating: 0, count: textLength + 1)
        var secretText = [CChar](repeating: 0, count: textLength + 1)
        let status = zmq_curve_keypair(&publicText, &secretText)
        precondition(status == 0, "this libzmq makes CURVE keys")
        guard let publicKey = Z85.decode(text(publicText)),
            let secret = Z85.decode(text(secretText)),
            let pair = Self(publicKey: publicKey, secretKey: Secret(secret))
        else { preconditionFailure("libzmq's keys are Z85") }
        return pair
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix(textLength).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Where a broker is, and how to prove to it who we are.
public struct BrokerEndpoint: Sendable {
    /// `ipc://path` or `tcp://host:port`.
    public let address: String
    /// Needed on tcp: the broker's public key and our own pair.
    public let curve: (serverKey: [UInt8], own: CurveKeyPair)?

    public init(address: String, curve: (serverKey: [UInt8], own: CurveKeyPair)? = nil) {
        self.address = address
        self.curve = curve
    }

    var isTCP: Bool { address.hasPrefix("tcp:") }

    func configure(_ socket: ZeroMQSocket) throws(ZeroMQFault) {
        guard let curve else { return }
        try socket.set(.curveServerKey, curve.serverKey)
        try socket.set(.curvePublicKey, curve.own.publicKey)
        try socket.set(.curveSecretKey, curve.own.secretKey.reveal())
    }
}
