import Effects
import Primitives

/// Random text and character rules.
enum Text {
    /// In the order of their bytes.
    static let alphanumerics = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// `count` characters, each as likely as any other.
    static func drawn(
        _ count: Int, of alphabet: [UInt8] = alphanumerics, _ random: any RandomSource
    ) -> String {
        let characters = (0..<count).map { _ in
            alphabet[Int(random.uniform(below: UInt32(alphabet.count)))]
        }
        return String(decoding: characters, as: UTF8.self)
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    static func isLower(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
    }

    static func isUpper(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLower(byte) || isUpper(byte)
    }

    /// Whether `text` has a length in `range`, in bytes, and only bytes that `isAllowed` admits.
    static func matches(
        _ text: String, _ range: ClosedRange<Int>, _ isAllowed: (UInt8) -> Bool
    ) -> Bool {
        range.contains(text.utf8.count) && text.utf8.allSatisfy(isAllowed)
    }

    /// DNS labels (RFC 1123) in lower case, at least two, or `localhost`.
    static func isHost(_ text: some StringProtocol) -> Bool {
        guard text.utf8.count <= 253 else { return false }
        if text == "localhost" { return true }
        let labels = Array(text.utf8).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                    && label.last != UInt8(ascii: "-")
                    && label.allSatisfy {
                        isDigit($0) || isLower($0) || $0 == UInt8(ascii: "-")
                    }
            }
    }
}
