import Primitives

/// A JSON value as it was sent.
enum JSONTree: Sendable, Hashable {
    struct Member: Sendable, Hashable {
        let name: String
        let value: JSONTree
    }

    case object([Member])
    case array([JSONTree])
    case text(String)
    /// A whole number without fraction and exponent that 64 bits hold.
    case integer(Int64)
    /// Any other number.
    case number
    case flag(Bool)
    case null
}

/// Reads JSON text (RFC 8259) as I-JSON wants it (RFC 7493): UTF-8 without a mark in front, no name
/// twice in an object, no lone surrogate. `JSONDecoder` is more lenient in each of these.
struct StrictJSON {
    /// Objects and arrays inside each other; our bodies have three.
    static let depthMax = 16

    private let bytes: [UInt8]
    private var at = 0
    private var path: [String] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Throws: `invalid_parameters`; the field is `body` or the name that is there twice.
    static func read(_ bytes: [UInt8]) throws(ServiceFailure) -> JSONTree {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ServiceFailure(.invalidParameters, "is not UTF-8", field: "body")
        }
        var reader = StrictJSON(bytes)
        reader.skipSpaces()
        let tree = try reader.value(depth: 0)
        reader.skipSpaces()
        guard reader.at == bytes.count else { throw reader.broken }
        return tree
    }

    private var broken: ServiceFailure {
        ServiceFailure(.invalidParameters, "is not JSON at byte \(at)", field: "body")
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        at += 1
        return true
    }

    private mutating func skipSpaces() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            at += 1
        }
    }

    private mutating func value(depth: Int) throws(ServiceFailure) -> JSONTree {
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .flag(true))
        case UInt8(ascii: "f"): return try word("false", .flag(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(
        _ word: String, _ value: JSONTree
    ) throws(ServiceFailure) -> JSONTree {
        for byte in word.utf8 {
            guard take(byte) else { throw broken }
        }
        return value
    }

    private func judge(_ depth: Int) throws(ServiceFailure) {
        guard depth <= Self.depthMax else {
            throw ServiceFailure(
                .invalidParameters, "nests more than \(Self.depthMax) levels deep", field: "body")
        }
    }

    private mutating func object(depth: Int) throws(ServiceFailure) -> JSONTree {
        try judge(depth)
        at += 1
        var members: [JSONTree.Member] = []
        var names: Set<String> = []
        skipSpaces()
        if take(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpaces()
            guard next == UInt8(ascii: "\"") else { throw broken }
            let name = try text()
            path.append(name)
            guard names.insert(name).inserted else {
                throw ServiceFailure(
                    .invalidParameters, "is there twice", field: JSONPath.text(path))
            }
            skipSpaces()
            guard take(UInt8(ascii: ":")) else { throw broken }
            skipSpaces()
            members.append(JSONTree.Member(name: name, value: try value(depth: depth)))
            path.removeLast()
            skipSpaces()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw broken }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(ServiceFailure) -> JSONTree {
        try judge(depth)
        at += 1
        var items: [JSONTree] = []
        skipSpaces()
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat {
            skipSpaces()
            path.append("[\(items.count)]")
            items.append(try value(depth: depth))
            path.removeLast()
            skipSpaces()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw broken }
        return .array(items)
    }

    // MARK: Texts

    private mutating func text() throws(ServiceFailure) -> String {
        at += 1
        var found: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                at += 1
                return String(decoding: found, as: UTF8.self)
            case UInt8(ascii: "\\"): found += Array(String(try escape()).utf8)
            case 0..<0x20: throw broken
            default:
                found.append(byte)
                at += 1
            }
        }
        throw broken
    }

    private mutating func escape() throws(ServiceFailure) -> Unicode.Scalar {
        at += 1
        guard let byte = next else { throw broken }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try scalar()
        default: throw broken
        }
    }

    private mutating func scalar() throws(ServiceFailure) -> Unicode.Scalar {
        let high = try unit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard (0xd800..<0xdc00).contains(high), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u"))
        else { throw broken }
        let low = try unit()
        guard (0xdc00..<0xe000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
        else { throw broken }
        return scalar
    }

    private mutating func unit() throws(ServiceFailure) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw broken
            }
            unit = unit << 4 | UInt32(digit)
            at += 1
        }
        return unit
    }

    // MARK: Numbers

    private mutating func number() throws(ServiceFailure) -> JSONTree {
        let start = at
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        let whole = at
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard at == whole, let value = Int64(String(decoding: bytes[start..<at], as: UTF8.self))
        else { return .number }
        return .integer(value)
    }

    private mutating func digits() throws(ServiceFailure) {
        let start = at
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { at += 1 }
        guard at > start else { throw broken }
    }
}

/// Names a place in a body: `input.code`, `items[2].name`.
enum JSONPath {
    /// UTF-8 bytes. A name may be the sender's own; an answer repeats no more of it.
    static let bytesMax = 100

    static func text(_ path: [String]) -> String {
        var text = ""
        for part in path { text += text.isEmpty || part.hasPrefix("[") ? part : ".\(part)" }
        return text.isEmpty ? "body" : text.prefix(bytesMax: bytesMax)
    }
}
