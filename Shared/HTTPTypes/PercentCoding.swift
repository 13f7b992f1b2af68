/// Percent-encoding (RFC 3986 §2) and the form encoding of browsers and SDKs.
package enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Everything but unreserved characters (letters, digits, `-._~`) as `%XX`.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Parameter plusIsSpace: as in a query or a form; not in a path.
    /// - Returns: nil for a broken escape or bytes that are not UTF-8.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var source = text.utf8.makeIterator()
        while let byte = source.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = source.next().flatMap(value),
                    let low = source.next().flatMap(value)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// `a=1&b=2`, decoded, in order (WHATWG URL, application/x-www-form-urlencoded).
package struct FormPairs: Sendable, Hashable {
    package struct Pair: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    /// Of one request, in query and body.
    package static let countMax = 256

    package private(set) var pairs: [Pair]

    package init() { pairs = [] }

    /// nil for a broken escape, bytes that are not UTF-8, or too many pairs.
    package init?(_ text: String) {
        pairs = []
        for part in text.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = part.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pairs.count < Self.countMax,
                let name = Self.decode(halves.first),
                let value = Self.decode(halves.dropFirst().first)
            else { return nil }
            pairs.append(Pair(name: name, value: value))
        }
    }

    private static func decode(_ part: Substring.UTF8View?) -> String? {
        guard let part else { return "" }
        return PercentCoding.decode(Substring(part), plusIsSpace: true)
    }

    /// The first of that name.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    package mutating func append(_ other: FormPairs) { pairs += other.pairs }
}
