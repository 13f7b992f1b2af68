/// Outcome of a request as the bus sees it, numbered as in gRPC. 1…99 are made by the bus;
/// 100 (`refused`) and above by a handler, whose JSON-RPC error tells the reason.
public enum BusStatus: UInt16, Sendable {
    case ok = 0
    case cancelled = 1
    case malformed = 3
    case deadlinePassed = 4
    case noSuchService = 5
    case notAllowed = 7
    case overloaded = 8
    case internalFault = 13
    case workerLost = 14
    case refused = 100
}

/// The fixed frame `BUS1` that travels in front of a body between libraries that know it.
///
/// Big-endian, 128 bytes: magic `BUS1` (4) · kind (1) · flags (1) · status (2) · request id (16) ·
/// time left in milliseconds (4) · attempt (1) · roles (1) · length of the name (1) · zero (1) ·
/// trace id (16) · span id (8) · retry after in milliseconds (4) · zero (4) · name (64).
public struct BusHeader: Hashable, Sendable {
    public static let bytesCount = 128
    public static let magic: [UInt8] = Array("BUS1".utf8)
    /// `timeLeftMilliseconds` of a request without a deadline.
    public static let noDeadline = UInt32.max

    public enum Kind: UInt8, Sendable {
        case request = 1
        case partial = 2
        case final = 3
    }

    public var kind: Kind
    public var flags: UInt8
    public var status: UInt16
    /// Sixteen bytes, chosen by the caller, unchanged by a requeue.
    public var requestID: [UInt8]
    public var timeLeftMilliseconds: UInt32
    /// 1 for the first delivery, 2 after a requeue.
    public var attempt: UInt8
    /// Sixteen and eight bytes (W3C trace context); all zero when there is no trace.
    public var traceID: [UInt8]
    public var spanID: [UInt8]
    public var retryAfterMilliseconds: UInt32
    /// Written by the broker alone; whatever a peer sends is overwritten.
    public var principal: Principal?

    public init(
        kind: Kind, requestID: [UInt8], flags: UInt8 = 0, status: UInt16 = 0,
        timeLeftMilliseconds: UInt32 = BusHeader.noDeadline, attempt: UInt8 = 1,
        traceID: [UInt8] = [], spanID: [UInt8] = [], retryAfterMilliseconds: UInt32 = 0,
        principal: Principal? = nil
    ) {
        precondition(requestID.count == 16, "a request id has sixteen bytes")
        self.kind = kind
        self.flags = flags
        self.status = status
        self.requestID = requestID
        self.timeLeftMilliseconds = timeLeftMilliseconds
        self.attempt = attempt
        self.traceID = traceID.count == 16 ? traceID : Array(repeating: 0, count: 16)
        self.spanID = spanID.count == 8 ? spanID : Array(repeating: 0, count: 8)
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.principal = principal
    }

    /// nil unless `bytes` is exactly one well-formed header.
    public init?(_ bytes: [UInt8]) {
        guard let header = bytes.withUnsafeBytes({ Self($0) }) else { return nil }
        self = header
    }

    /// As above, without a copy of the frame.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.bytesCount, bytes.starts(with: Self.magic),
            let kind = Kind(rawValue: bytes[4])
        else { return nil }
        let nameLength = Int(bytes[30])
        guard nameLength <= Principal.nameBytesMax else { return nil }
        self.init(
            kind: kind, requestID: Array(bytes[8..<24]), flags: bytes[5],
            status: UInt16(bytes[6]) << 8 | UInt16(bytes[7]),
            timeLeftMilliseconds: Self.readUInt32(bytes, at: 24), attempt: bytes[28],
            traceID: Array(bytes[32..<48]), spanID: Array(bytes[48..<56]),
            retryAfterMilliseconds: Self.readUInt32(bytes, at: 56))
        if nameLength > 0 {
            let name = String(decoding: bytes[64..<64 + nameLength], as: UTF8.self)
            principal = Principal(roles: Roles(rawValue: bytes[29]), name: name)
        }
    }

    public func encoded() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.bytesCount) { target, count in
            target.initialize(repeating: 0)
            count = Self.bytesCount
            Self.write(Self.magic, into: target, at: 0, bytesMax: 4)
            target[4] = kind.rawValue
            target[5] = flags
            target[6] = UInt8(status >> 8)
            target[7] = UInt8(status & 255)
            Self.write(requestID, into: target, at: 8, bytesMax: 16)
            Self.write(timeLeftMilliseconds, into: target, at: 24)
            target[28] = attempt
            Self.write(traceID, into: target, at: 32, bytesMax: 16)
            Self.write(spanID, into: target, at: 48, bytesMax: 8)
            Self.write(retryAfterMilliseconds, into: target, at: 56)
            guard let principal else { return }
            target[29] = principal.roles.rawValue
            target[30] = UInt8(principal.name.utf8.count)
            Self.write(
                Array(principal.name.utf8), into: target, at: 64, bytesMax: Principal.nameBytesMax)
        }
    }

    private static func readUInt32(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    private static func write(
        _ bytes: [UInt8], into target: UnsafeMutableBufferPointer<UInt8>, at offset: Int,
        bytesMax: Int
    ) {
        for index in 0..<min(bytes.count, bytesMax) { target[offset + index] = bytes[index] }
    }

    private static func write(
        _ value: UInt32, into target: UnsafeMutableBufferPointer<UInt8>, at offset: Int
    ) {
        for index in 0..<4 { target[offset + index] = UInt8(value >> UInt32(24 - 8 * index) & 255) }
    }
}
