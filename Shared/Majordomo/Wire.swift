import Primitives

/// A steady instant in microseconds; its zero means nothing. Shells read it, machines are handed
/// it.
package struct SteadyTime: Hashable, Comparable, Sendable {
    package var microseconds: Int64
    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }
    package static func + (instant: Self, span: Duration) -> Self {
        Self(microseconds: instant.microseconds + span.wholeMicroseconds)
    }
    /// For hot paths: arithmetic of `Duration` has 128 bits.
    package func advanced(microseconds span: Int64) -> Self {
        Self(microseconds: microseconds + span)
    }
    package static func - (later: Self, earlier: Self) -> Duration {
        .microseconds(later.microseconds - earlier.microseconds)
    }
}

extension Duration {
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

/// Version of the Majordomo protocol that a peer speaks: ZeroMQ RFC 7 (0.1) or RFC 18 (0.2).
package enum Dialect: UInt8, Sendable, Hashable {
    case v01 = 1
    case v02 = 2
    /// 0.2 with the empty frame of 0.1 in front, as one published implementation (majortomo) speaks
    /// it.
    /// It is answered in kind.
    case v02Delimited = 3

    package var is01: Bool { self == .v01 }
    package var isDelimited: Bool { self != .v02 }
}

/// Constants of both versions, in one place.
package enum Wire {
    package static let client01: StaticString = "MDPC01"
    package static let client02: StaticString = "MDPC02"
    package static let worker01: StaticString = "MDPW01"
    package static let worker02: StaticString = "MDPW02"
    /// Length of each of the four names above.
    package static let protocolBytes = 6

    /// Frames of one message, without the routing id; more is malformed.
    package static let framesMax = 16
    /// Bytes of a service name.
    package static let serviceNameBytesMax = 255
    /// Bytes of READY's or HEARTBEAT's extension text.
    package static let extensionBytesMax = 512

    package static let clientRequest02: UInt8 = 1
    package static let clientPartial02: UInt8 = 2
    package static let clientFinal02: UInt8 = 3
}

/// What passes between a worker and a broker. The numbers differ between the two versions.
package enum WorkerCommand: Sendable, Hashable {
    case ready
    case request
    case partial
    case final
    case heartbeat
    case disconnect

    package func byte(_ dialect: Dialect) -> UInt8 {
        switch (self, dialect.is01) {
        case (.ready, _): 1
        case (.request, _): 2
        case (.partial, _), (.final, true): 3
        case (.final, false), (.heartbeat, true): 4
        case (.heartbeat, false), (.disconnect, true): 5
        case (.disconnect, false): 6
        }
    }

    init?(byte: UInt8, _ dialect: Dialect) {
        switch (byte, dialect.is01) {
        case (1, _): self = .ready
        case (2, _): self = .request
        case (3, true), (4, false): self = .final
        case (3, false): self = .partial
        case (4, true), (5, false): self = .heartbeat
        case (5, true), (6, false): self = .disconnect
        default: return nil
        }
    }
}

/// The identity a ROUTER gives to one connection. Short ones, which is all that libzmq makes
/// itself, are folded into an integer.
package struct RoutingID: Hashable, Sendable, CustomStringConvertible {
    private let folded: UInt64
    private let length: UInt8
    private let long: [UInt8]?

    package init(_ bytes: UnsafeRawBufferPointer) {
        length = UInt8(truncatingIfNeeded: bytes.count)
        guard bytes.count <= 8 else {
            folded = 0
            long = Array(bytes)
            return
        }
        var value: UInt64 = 0
        for byte in bytes { value = value << 8 | UInt64(byte) }
        folded = value
        long = nil
    }

    package init(_ bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { Self($0) }
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let long { return long.withUnsafeBytes(body) }
        let aligned = length == 0 ? 0 : (folded << (UInt64(8 - length) * 8)).bigEndian
        return withUnsafeBytes(of: aligned) {
            body(UnsafeRawBufferPointer(rebasing: $0[..<Int(length)]))
        }
    }

    package var description: String { withBytes { Hex.encode($0) } }
}

/// The address frame that a worker sees and returns untouched: 16 characters of `[0-9a-v]`, 80
/// bits. It names a request in the broker, never a client, so late, doubled and foreign replies
/// are known.
package struct AddressToken: Hashable, Sendable, CustomStringConvertible {
    package static let bytesCount = 16
    /// Generations and random parts have 24 bits.
    package static let partMask: UInt32 = 0xff_ffff

    package let slot: UInt32
    package let generation: UInt32
    package let random: UInt32

    package init(slot: UInt32, generation: UInt32, random: UInt32) {
        self.slot = slot
        self.generation = generation & Self.partMask
        self.random = random & Self.partMask
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.bytesCount else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<Self.bytesCount {
            let character = bytes[index]
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "v"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if index < 8 {
                high = high << 5 | UInt64(digit)
            } else {
                low = low << 5 | UInt64(digit)
            }
        }
        // 40 bits each: slot 32 + generation's upper 8, then its lower 16 + random 24.
        slot = UInt32(truncatingIfNeeded: high >> 8)
        generation =
            UInt32(truncatingIfNeeded: high & 0xff) << 16
            | UInt32(truncatingIfNeeded: low >> 24 & 0xffff)
        random = UInt32(truncatingIfNeeded: low & 0xff_ffff)
    }

    package init?(_ bytes: [UInt8]) {
        guard let token = bytes.withUnsafeBytes({ Self($0) }) else { return nil }
        self = token
    }

    /// Writes the sixteen characters to the front of `target`.
    package func write(_ target: UnsafeMutableRawBufferPointer) {
        precondition(target.count >= Self.bytesCount, "an address takes sixteen bytes")
        var high = UInt64(slot) << 8 | UInt64(generation >> 16)
        var low = UInt64(generation & 0xffff) << 24 | UInt64(random)
        for index in stride(from: 7, through: 0, by: -1) {
            target[index] = Self.character(high & 31)
            target[index + 8] = Self.character(low & 31)
            high >>= 5
            low >>= 5
        }
    }

    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.bytesCount) { buffer, count in
            write(UnsafeMutableRawBufferPointer(buffer))
            count = Self.bytesCount
        }
    }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    private static func character(_ digit: UInt64) -> UInt8 {
        let small = UInt8(truncatingIfNeeded: digit)
        return small < 10 ? small + UInt8(ascii: "0") : small - 10 + UInt8(ascii: "a")
    }
}

/// Names the frames of one body, header first, that a shell holds for its machine.
package struct PayloadHandle: Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    /// No body was handed over, or it was given away.
    package static let none = Self(rawValue: -1)
}

/// Sixteen bytes that name a request across requeues, as two integers.
package struct RequestID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(_ bytes: [UInt8]) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for byte in bytes.prefix(8) { high = high << 8 | UInt64(byte) }
        for byte in bytes.dropFirst(8).prefix(8) { low = low << 8 | UInt64(byte) }
        self.init(high: high, low: low)
    }

    package var bytes: [UInt8] {
        (0..<16).map { index in
            let word = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * (index % 8)))
        }
    }
}
