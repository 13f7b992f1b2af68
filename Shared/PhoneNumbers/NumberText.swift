/// A number as typed, brought to what the library needs to see: ASCII digits, `+`, and separators.
///
/// Digits of any script, full-width signs, dashes and spaces of any width are mapped; marks that
/// cannot be seen (direction marks, soft hyphens, byte-order marks) are dropped.
struct NumberText: Hashable {
    /// Bytes of UTF-8. The longest number has 15 digits; full-width digits take three bytes each.
    static let bytesMax = 128

    let ascii: String
    /// Whether anything else was there: letters, `#`, `;`, a second number behind a slash.
    let hasStrangers: Bool

    init(_ text: String) {
        var ascii = ""
        var hasStrangers = false
        for scalar in text.unicodeScalars {
            if let digit = Self.digit(scalar) {
                ascii.unicodeScalars.append(digit)
            } else if let sign = Self.sign(scalar) {
                ascii.append(sign)
            } else if !Self.isInvisible(scalar) {
                hasStrangers = true
                ascii.unicodeScalars.append(scalar)
            }
        }
        let trimmed = ascii.drop { $0 == " " }
        self.ascii = Self.withoutDoubledCountryCode(String(trimmed))
        // `+` leads or is out of place.
        let tail = self.ascii.drop { $0 == "(" || $0 == " " || $0 == "+" }
        self.hasStrangers = hasStrangers || tail.contains("+")
    }

    var hasDigit: Bool { ascii.utf8.contains { $0 >= 0x30 && $0 <= 0x39 } }

    /// The same number with `+` for a leading 00; nil when it has none.
    var withPlusForZeros: String? {
        let digits = ascii.filter { $0 != " " && $0 != "(" }
        guard digits.hasPrefix("00") else { return nil }
        return "+" + digits.dropFirst(2)
    }

    /// A country picker put its code before a number that had one: `+49+49176…` becomes `+49176…`.
    private static func withoutDoubledCountryCode(_ text: String) -> String {
        guard text.hasPrefix("+"), let second = text.dropFirst().firstIndex(of: "+") else {
            return text
        }
        let code = text[..<second].filter { $0 != " " && $0 != "-" }
        let rest = text[second...]
        return (2...4).contains(code.count) && rest.hasPrefix(code) ? String(rest) : text
    }

    private static func digit(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if scalar.isASCII { return ("0"..."9").contains(scalar) ? scalar : nil }
        guard scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue,
            (0...9).contains(value)
        else { return nil }
        return Unicode.Scalar(UInt8(ascii: "0") + UInt8(value))
    }

    private static func sign(_ scalar: Unicode.Scalar) -> Character? {
        switch scalar {
        case "+", "\u{FF0B}": return "+"
        case "(", "\u{FF08}": return "("
        case ")", "\u{FF09}": return ")"
        case ".", "\u{FF0E}", "\u{00B7}", "\u{30FB}": return "."
        case "\u{2212}", "\u{30FC}", "~", "\u{2053}", "\u{223C}", "\u{FF5E}": return "-"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .dashPunctuation: return "-"
        case .spaceSeparator: return " "
        default: return scalar == "\t" ? " " : nil
        }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .format
    }
}
