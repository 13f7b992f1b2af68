/// Writes the few JSON texts that the broker makes itself; it needs no coder and no Foundation.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    mutating func object(_ name: String? = nil, _ body: (inout JSONText) -> Void) {
        wrap(name, UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    mutating func array(_ name: String, _ body: (inout JSONText) -> Void) {
        wrap(name, UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    mutating func field(_ name: String, _ value: String) {
        key(name)
        string(value)
        needsComma = true
    }

    mutating func field(_ name: String, _ value: Int64) {
        key(name)
        bytes.append(contentsOf: String(value).utf8)
        needsComma = true
    }

    private mutating func wrap(
        _ name: String?, _ open: UInt8, _ close: UInt8, _ body: (inout JSONText) -> Void
    ) {
        if let name { key(name) } else { comma() }
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func key(_ name: String) {
        comma()
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
    }

    /// Control characters never get here as such: names are printable ASCII. They become spaces.
    private mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(UInt8(ascii: "\\"))
            }
            bytes.append(byte < 0x20 ? 0x20 : byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
