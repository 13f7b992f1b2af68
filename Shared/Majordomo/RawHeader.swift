package import Primitives

/// Reads and patches the fixed header `BUS1` where it lies, without making a `BusHeader` of it.
/// Offsets are those of `BusHeader`'s doc comment; a test keeps the two equal.
package enum RawHeader {
    private static let statusOffset = 6
    private static let requestIDOffset = 8
    private static let timeLeftOffset = 24
    private static let attemptOffset = 28
    private static let rolesOffset = 29
    private static let retryAfterOffset = 56
    private static let nameOffset = 64
    /// `BUS1` as a big-endian integer.
    private static let magic: UInt32 = 0x4255_5331

    package static func isHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == BusHeader.bytesCount, bytes.loadBigEndian32(at: 0) == magic else {
            return false
        }
        return BusHeader.Kind(rawValue: bytes[4]) != nil
    }

    package static func requestID(_ bytes: UnsafeRawBufferPointer) -> RequestID {
        RequestID(
            high: bytes.loadBigEndian64(at: requestIDOffset),
            low: bytes.loadBigEndian64(at: requestIDOffset + 8))
    }

    package static func timeLeftMilliseconds(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        bytes.loadBigEndian32(at: timeLeftOffset)
    }

    package static func retryAfterMilliseconds(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        bytes.loadBigEndian32(at: retryAfterOffset)
    }

    package static func status(_ bytes: UnsafeRawBufferPointer) -> UInt16 {
        UInt16(bytes[statusOffset]) << 8 | UInt16(bytes[statusOffset + 1])
    }

    /// Makes `target` the header of a delivery: `source` where the client sent one, else a new one.
    package static func writeRequest(
        _ header: RequestHeader, from source: UnsafeRawBufferPointer?,
        to target: UnsafeMutableRawBufferPointer
    ) {
        start(target, from: source, .request)
        target.storeBigEndian(0, bytes: 2, at: statusOffset)
        target.storeBigEndian(header.requestID.high, bytes: 8, at: requestIDOffset)
        target.storeBigEndian(header.requestID.low, bytes: 8, at: requestIDOffset + 8)
        target.storeBigEndian(UInt64(header.timeLeftMilliseconds), bytes: 4, at: timeLeftOffset)
        target[attemptOffset] = header.attempt
        writePrincipal(header.principal, target)
    }

    /// Makes `target` the header of a reply: the worker's own where it sent one, with the
    /// request's id.
    package static func writeReply(
        _ header: ReplyHeader, from source: UnsafeRawBufferPointer?, isFinal: Bool,
        to target: UnsafeMutableRawBufferPointer
    ) {
        start(target, from: source, isFinal ? .final : .partial)
        target.storeBigEndian(header.requestID.high, bytes: 8, at: requestIDOffset)
        target.storeBigEndian(header.requestID.low, bytes: 8, at: requestIDOffset + 8)
        if let status = header.status {
            target.storeBigEndian(UInt64(status.rawValue), bytes: 2, at: statusOffset)
            target.storeBigEndian(
                UInt64(header.retryAfterMilliseconds), bytes: 4, at: retryAfterOffset)
        }
        writePrincipal(nil, target)
    }

    private static func start(
        _ target: UnsafeMutableRawBufferPointer, from source: UnsafeRawBufferPointer?,
        _ kind: BusHeader.Kind
    ) {
        precondition(target.count >= BusHeader.bytesCount, "a header takes 128 bytes")
        if let source, source.count == BusHeader.bytesCount {
            if source.baseAddress != UnsafeRawPointer(target.baseAddress) {
                target.copyMemory(from: source)
            }
        } else {
            target.initializeMemory(as: UInt8.self, repeating: 0)
            target.storeBigEndian(UInt64(magic), bytes: 4, at: 0)
            target[attemptOffset] = 1
        }
        target[4] = kind.rawValue
    }

    private static func writePrincipal(
        _ principal: Principal?, _ target: UnsafeMutableRawBufferPointer
    ) {
        target[rolesOffset] = principal?.roles.rawValue ?? 0
        target[rolesOffset + 1] = UInt8(truncatingIfNeeded: principal?.name.utf8.count ?? 0)
        var index = nameOffset
        if let principal {
            for byte in principal.name.utf8 where index < BusHeader.bytesCount {
                target[index] = byte
                index += 1
            }
        }
        while index < BusHeader.bytesCount {
            target[index] = 0
            index += 1
        }
    }
}

/// What the broker writes into the header of a delivery.
package struct RequestHeader: Hashable, Sendable {
    package let requestID: RequestID
    package let timeLeftMilliseconds: UInt32
    package let attempt: UInt8
    package let principal: Principal?
}

/// What the broker writes into the header of a reply; without a status, the worker's own stands.
package struct ReplyHeader: Hashable, Sendable {
    package let requestID: RequestID
    package var status: BusStatus?
    package var retryAfterMilliseconds: UInt32

    package init(
        requestID: RequestID, status: BusStatus? = nil, retryAfterMilliseconds: UInt32 = 0
    ) {
        self.requestID = requestID
        self.status = status
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }
}

extension UnsafeRawBufferPointer {
    func loadBigEndian32(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
    func loadBigEndian64(at offset: Int) -> UInt64 {
        UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

extension UnsafeMutableRawBufferPointer {
    func storeBigEndian(_ value: UInt64, bytes: Int, at offset: Int) {
        for index in 0..<bytes {
            self[offset + index] = UInt8(
                truncatingIfNeeded: value >> UInt64(8 * (bytes - 1 - index)))
        }
    }
}
