import CMicroHTTP
import Glibc

/// What the library made of a head, against the bytes that came.
///
/// The library reads in place: it ends each part of a head with zeros where a space, a colon or the
/// end of a line was, and tells where the parts lie. It also accepts lines that end in a bare LF,
/// several spaces in the request line, and folded lines, whose field it then gets wrong. A head that
/// is made of exactly the parts we were told of, with two bytes (CR LF) after each line, holds none
/// of these; where a library of another version copied its parts, every head would be refused.
enum HeadLayout {
    /// Bytes of `HTTP/1.1`.
    private static let versionCount = 8

    /// - Parameter target: where it lies, and how many bytes came.
    static func isExact(
        method: UnsafePointer<CChar>, target: (address: UInt, count: Int),
        version: UnsafePointer<CChar>, fields: UnsafeBufferPointer<fusion_http_field>,
        headCount: Int
    ) -> Bool {
        var walk = Walk(at: UInt(bitPattern: method), count: headCount)
        guard walk.skip(strlen(method)), walk.skipZeros(1),
            walk.at == target.address, walk.skip(target.count), walk.skipZeros(1),
            walk.at == UInt(bitPattern: version), strlen(version) == versionCount,
            walk.skip(versionCount), walk.skipZeros(2)
        else { return false }
        for field in fields {
            guard walk.at == UInt(bitPattern: field.name), walk.skip(field.name_count),
                walk.skipZeros(1), walk.skipBlanks(to: UInt(bitPattern: field.value)),
                walk.skip(field.value_count), walk.skipZeros(2)
            else { return false }
        }
        return walk.skipZeros(2) && walk.isAtEnd
    }

    /// Goes through memory that the library says is the head's.
    private struct Walk {
        private(set) var at: UInt
        private let end: UInt

        init(at: UInt, count: Int) {
            self.at = at
            end = at &+ UInt(bitPattern: max(count, 0))
        }

        var isAtEnd: Bool { at == end }

        mutating func skip(_ count: Int) -> Bool {
            guard count >= 0, UInt(count) <= end - at else { return false }
            at += UInt(count)
            return true
        }

        mutating func skipZeros(_ count: Int) -> Bool {
            for _ in 0..<count {
                guard at < end, byte == 0 else { return false }
                at += 1
            }
            return true
        }

        mutating func skipBlanks(to other: UInt) -> Bool {
            guard other >= at, other <= end else { return false }
            while at < other {
                guard byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") else { return false }
                at += 1
            }
            return true
        }

        private var byte: UInt8 {
            UnsafePointer<UInt8>(bitPattern: at).map { $0.pointee } ?? 0xff
        }
    }
}
