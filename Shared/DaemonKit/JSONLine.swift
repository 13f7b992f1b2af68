/// Writes one JSON object as bytes, field by field. Texts are cut at a bound, control characters
/// escaped.
struct JSONLine {
    /// Bytes of UTF-8 that one text may take; the rest is cut and marked with `…`.
    static let textBytesMax = 1024
    /// Bytes of a whole line; fields beyond are left out and `cut` says so.
    static let lineBytesMax = 8192

    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]
    private var isCut = false

    /// Nearly every line fits.
    init() { bytes.reserveCapacity(512) }

    mutating func add(_ key: String, _ text: String) {
        add(key) { Self.append(text, to: &$0) }
    }

    mutating func add(_ key: String, _ number: Int64) {
        add(key) { $0 += String(number).utf8 }
    }

    mutating func add(_ key: String, _ flag: Bool) {
        add(key) { $0 += (flag ? "true" : "false").utf8 }
    }

    /// The object and a line's end.
    func finished() -> [UInt8] {
        bytes + (isCut ? Array(",\"cut\":true}\n".utf8) : Array("}\n".utf8))
    }

    private mutating func add(_ key: String, _ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        Self.append(key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        write(&bytes)
        if bytes.count > Self.lineBytesMax - 16 {
            bytes.removeLast(bytes.count - start)
            isCut = true
        }
    }

    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Nearly every text of a log: short, and as it stands.
        if text.utf8.count <= textBytesMax, text.utf8.allSatisfy(isPlain) {
            bytes.append(contentsOf: text.utf8)
            bytes.append(UInt8(ascii: "\""))
            return
        }
        var left = textBytesMax
        for scalar in text.unicodeScalars {
            let encoded = UTF8.encode(scalar).map(Array.init) ?? []
            left -= encoded.count
            if left < 0 {
                bytes += "…".utf8
                break
            }
            switch scalar.value {
            case 0x22: bytes += "\\\"".utf8
            case 0x5c: bytes += "\\\\".utf8
            case 0x0a: bytes += "\\n".utf8
            case 0..<0x20, 0x7f, 0x2028, 0x2029: bytes += Self.escape(scalar.value).utf8
            default: bytes += encoded
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func escape(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
