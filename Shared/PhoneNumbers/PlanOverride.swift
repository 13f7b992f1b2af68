/// A length that a country's plan has gained since the library's metadata were made (October 2022).
///
/// Such a number passes as possible and unknown to the plan. Found by comparing the metadata of
/// 8.12.57 with those of 9.0 of the same library; only lengths that a mobile number can have are
/// listed.
package struct PlanOverride: Hashable, Sendable {
    package let countryCode: Int
    /// Digits after the country code.
    package let nationalDigits: Int
    /// What the digits after the country code begin with.
    package let nationalPrefix: String

    package init(countryCode: Int, nationalDigits: Int, nationalPrefix: String = "") {
        self.countryCode = countryCode
        self.nationalDigits = nationalDigits
        self.nationalPrefix = nationalPrefix
    }

    func allows(e164: String, countryCode: Int, nationalDigits: Int) -> Bool {
        countryCode == self.countryCode && nationalDigits == self.nationalDigits
            && e164.hasPrefix("+\(countryCode)\(nationalPrefix)")
    }

    package static let known: [PlanOverride] = [
        // Benin put 01 before every number on 30 November 2024.
        PlanOverride(countryCode: 229, nationalDigits: 10, nationalPrefix: "01"),
        // The Gambia moves from seven digits to nine.
        PlanOverride(countryCode: 220, nationalDigits: 9),
    ]
}
