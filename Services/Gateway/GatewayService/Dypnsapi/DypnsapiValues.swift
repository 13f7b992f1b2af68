import HTTPTypes
import Messages
import Primitives

/// Instants as this surface writes them.
enum DypnsapiTime {
    /// The day of a `SendDate` and the hours of a send are those of China, UTC+8, as in the original.
    static let utcOffsetMinutes = 480

    /// `2026-01-31T12:00:00Z` and nothing else.
    static func instant(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        let marks: [(Int, Character)] = [
            (4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "Z"),
        ]
        guard bytes.count == 20, marks.allSatisfy({ bytes[$0.0] == $0.1.asciiValue }) else {
            return nil
        }
        func digits(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        func number(_ range: Range<Int>, below bound: Int64) -> Int64? {
            let isPlain = bytes[range].allSatisfy { (0x30...0x39).contains($0) }
            guard isPlain, let number = Int64(digits(range)), number < bound else { return nil }
            return number
        }
        guard let day = UTCDay(text: digits(0..<4) + digits(5..<7) + digits(8..<10)),
            let hour = number(11..<13, below: 24), let minute = number(14..<16, below: 60),
            let second = number(17..<19, below: 60)
        else { return nil }
        return day.start + .seconds(hour * 3600 + minute * 60 + second)
    }

    /// `2026-01-31 20:00:00`.
    static func local(_ milliseconds: Int64) -> String {
        let instant =
            WallTime(millisecondsSince1970: milliseconds)
            + .seconds(Int64(utcOffsetMinutes) * 60)
        let day = UTCDay(instant)
        let seconds = (instant - day.start).wholeMilliseconds / 1000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text = day.text
        return "\(text.prefix(4))-\(text.dropFirst(4).prefix(2))-\(text.suffix(2)) "
            + "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
}

/// Phone numbers as this surface writes them: mainland ones as 11 digits, others as E.164 without `+`.
enum DypnsapiNumber {
    static let mainland = "86"

    static func shown(_ number: PhoneNumber) -> String {
        let digits = number.e164.dropFirst()
        let national = digits.dropFirst(mainland.count)
        let isMobile =
            digits.hasPrefix(mainland) && national.count == 11 && national.hasPrefix("1")
        return String(isMobile ? national : digits)
    }

    /// What a caller typed, with its country code, for whom the services read numbers. A text that
    /// says its country itself (`+…`, `00…`, or 86 in front of a mainland number) keeps it.
    static func typed(_ text: String, countryCode: String?) throws(DypnsapiError) -> String {
        let code = try country(countryCode)
        let text = text.trimmedSpaces
        if text.hasPrefix("+") || text.hasPrefix("＋") { return text }
        if text.hasPrefix("00") { return "+" + text.dropFirst(2) }
        let digits = text.filter(\.isNumber)
        if code == mainland, digits.hasPrefix(mainland), digits.count > 11 { return "+" + text }
        return "+\(code) \(text)"
    }

    private static func country(_ text: String?) throws(DypnsapiError) -> String {
        guard let text else { return mainland }
        let digits = text.hasPrefix("+") ? text.dropFirst() : text[...]
        guard (1...3).contains(digits.utf8.count), digits.first != "0",
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw .invalid("CountryCode", "takes a country code such as 86") }
        return String(digits)
    }
}

/// `<digits>^<digit>`: a message id as a number, and a digit that tells typing errors.
enum DypnsapiBizID {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    /// 26 characters of five bits hold 128; the last two bits are empty.
    private static let emptyBits = 2

    static func text(_ id: MessageID) -> String {
        let body = id.text.utf8.dropFirst(MessageKind.prefix.utf8.count + 1)
        let last = body.last.flatMap { alphabet.firstIndex(of: $0) } ?? 0
        let number = body.dropLast().reduce(UInt128(0)) { number, character in
            number << 5 | UInt128(alphabet.firstIndex(of: character) ?? 0)
        }
        let digits = String(number << 3 | UInt128(last >> emptyBits))
        return "\(digits)^\(check(digits))"
    }

    /// nil for what `text` never makes.
    static func messageID(_ text: String) -> MessageID? {
        let parts = text.split(separator: "^", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt128(parts[0]),
            String(number) == parts[0], parts[1] == "\(check(parts[0]))"
        else { return nil }
        return MessageID(
            random: (0..<16).map { UInt8(truncatingIfNeeded: number >> UInt128(8 * (15 - $0))) })
    }

    /// By weights that differ between neighbours, so that swapped digits are seen.
    private static func check(_ digits: some StringProtocol) -> Int {
        digits.utf8.enumerated().reduce(0) { $0 + Int($1.element - 0x30) * ($1.offset % 9 + 1) }
            % 10
    }
}
