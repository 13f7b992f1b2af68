import Messages
import Primitives

/// The test numbers of a policy: a fixed code is a way in, so it is narrow and it ends.
extension PolicyReview {
    /// `x` marks in one pattern: ten thousand numbers.
    static let openDigitsMax = 4
    /// From the day the entry is written.
    static let testNumberLifetimeMax = Duration.seconds(366 * 24 * 3600)

    var testNumberFindings: [Finding] {
        let entries = policy.testNumbers ?? []
        guard entries.count <= Self.listCountMax else {
            return [Self.tooMany("policy.testNumbers")]
        }
        var findings: [Finding] = []
        for (index, entry) in entries.enumerated() {
            let field = "policy.testNumbers[\(index)]"
            if !Self.isPattern(entry.number) {
                findings.append(
                    Finding(
                        field: "\(field).number",
                        text: """
                            takes + and 7 to 15 digits, of which at most \(Self.openDigitsMax) \
                            are x, after the country code
                            """))
            }
            if !Text.matches(entry.code, 4...10, Text.isAlphanumeric) {
                findings.append(
                    Finding(
                        field: "\(field).code", text: "takes 4 to 10 letters and digits"))
            }
            findings += end(of: entry, "\(field).endsAtMilliseconds")
        }
        return findings
    }

    private func end(of entry: TestNumber, _ field: String) -> [Finding] {
        let endsAt = WallTime(millisecondsSince1970: entry.endsAtMilliseconds)
        if endsAt > now + Self.testNumberLifetimeMax {
            return [Finding(field: field, text: "lies more than 366 days away")]
        }
        if endsAt <= now, !(previous?.testNumbers ?? []).contains(entry) {
            return [Finding(field: field, text: "has passed already (milliseconds since 1970)")]
        }
        return []
    }

    private static func isPattern(_ text: String) -> Bool {
        guard text.hasPrefix("+") else { return false }
        let digits = Array(text.utf8.dropFirst())
        let isOpen = { (byte: UInt8) in byte == UInt8(ascii: "x") }
        guard (PhoneNumber.digitsMin...PhoneNumber.digitsMax).contains(digits.count),
            digits.allSatisfy({ Text.isDigit($0) || isOpen($0) }),
            digits.first != UInt8(ascii: "0"), !digits.prefix(3).contains(where: isOpen)
        else { return false }
        return digits.count(where: isOpen) <= openDigitsMax
    }
}
