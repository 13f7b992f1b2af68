/// Z85 (ZeroMQ RFC 32): five printable characters for four bytes. CURVE keys are written in it.
public enum Z85 {
    private static let alphabet = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8
    )

    /// - Parameter bytes: a multiple of four; a rest is our caller's mistake.
    public static func encode(_ bytes: [UInt8]) -> String {
        precondition(bytes.count.isMultiple(of: 4), "Z85 encodes whole groups of four bytes")
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 4) {
            var value = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            var group: [UInt8] = []
            for _ in 0..<5 {
                group.append(alphabet[Int(value % 85)])
                value /= 85
            }
            text.append(contentsOf: group.reversed())
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// nil for a length that is no multiple of five, another character, or a group above 32 bits.
    public static func decode(_ text: String) -> [UInt8]? {
        let source = Array(text.utf8)
        guard source.count.isMultiple(of: 5) else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: source.count, by: 5) {
            var value: UInt64 = 0
            for character in source[start..<start + 5] {
                guard let digit = alphabet.firstIndex(of: character) else { return nil }
                value = value * 85 + UInt64(digit)
            }
            guard value <= UInt64(UInt32.max) else { return nil }
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        return bytes
    }
}
