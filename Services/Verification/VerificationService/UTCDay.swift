import Primitives

/// A day of the Gregorian calendar in UTC, written yyyyMMdd. Days are counted from 1970-01-01.
struct UTCDay: Hashable, Comparable, Sendable {
    let daysSince1970: Int64

    static let milliseconds: Int64 = 86_400_000

    init(_ instant: WallTime) {
        let (quotient, remainder) = instant.millisecondsSince1970
            .quotientAndRemainder(dividingBy: Self.milliseconds)
        daysSince1970 = remainder < 0 ? quotient - 1 : quotient
    }

    /// nil unless `text` is eight digits that name a day of 1970…9999.
    init?(text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 8, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text), number >= 19_700_101
        else { return nil }
        let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
        guard (1...12).contains(month), day >= 1 else { return nil }
        daysSince1970 = Self.days(year, month, day)
        // The 31st of a short month is the first days of the next one.
        guard self.text == text else { return nil }
    }

    private init(daysSince1970: Int64) { self.daysSince1970 = daysSince1970 }

    static func < (left: Self, right: Self) -> Bool { left.daysSince1970 < right.daysSince1970 }

    var next: Self { Self(daysSince1970: daysSince1970 + 1) }

    var start: WallTime { WallTime(millisecondsSince1970: daysSince1970 * Self.milliseconds) }

    var text: String {
        let (year, month, day) = civil
        let number = year * 10_000 + month * 100 + day
        let digits = String(number)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// Years begin in March here, so that a leap day ends one; 400 years have 146,097 days.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private var civil: (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }
}
