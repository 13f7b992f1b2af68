/// A day of the Gregorian calendar, written yyyyMMdd. Days are counted from 1970-01-01.
public struct UTCDay: Hashable, Comparable, Sendable {
    public static let milliseconds: Int64 = 86_400_000

    public let daysSince1970: Int64

    public init(_ instant: WallTime) {
        let (quotient, remainder) = instant.millisecondsSince1970
            .quotientAndRemainder(dividingBy: Self.milliseconds)
        daysSince1970 = remainder < 0 ? quotient - 1 : quotient
    }

    /// nil unless `text` is eight ASCII digits that name a day of 1970…9999.
    public init?(text: String) {
        guard text.utf8.count == 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text), number >= 19_700_101
        else { return nil }
        let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100)
        guard (1...12).contains(month), day >= 1 else { return nil }
        // Years begin in March here, so that a leap day ends one; 400 years have 146,097 days.
        let marchYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (marchYear / 400, marchYear % 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        daysSince1970 =
            era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        // The 31st of a short month would be a day of the next one.
        guard self.text == text else { return nil }
    }

    private init(daysSince1970: Int64) { self.daysSince1970 = daysSince1970 }

    public static func < (left: Self, right: Self) -> Bool {
        left.daysSince1970 < right.daysSince1970
    }

    public var next: Self { Self(daysSince1970: daysSince1970 + 1) }
    public var start: WallTime {
        WallTime(millisecondsSince1970: daysSince1970 * Self.milliseconds)
    }

    public var text: String {
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let digits = String(year * 10_000 + month * 100 + dayOfYear - (153 * march + 2) / 5 + 1)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}
