package import Primitives

package enum PhoneNumberProblem: Error, Hashable, Sendable {
    case notANumber
    /// A country code that does not exist, or none given and no default region.
    case unknownCountry
    case tooShort
    case tooLong
    /// Extensions cannot receive a code.
    case hasExtension
    /// Not possible under the country's numbering plan.
    case notPossible
}

package struct ParsedPhoneNumber: Hashable, Sendable {
    package enum Kind: String, Sendable { case mobile, fixedLine, fixedLineOrMobile, other }
    package let number: PhoneNumber
    /// ISO 3166 two letters; nil for a code without one region.
    package let region: String?
    package let countryCode: Int
    /// Whether the plan's metadata know the number. They age: false is a hint, not a proof.
    package let isKnownToPlan: Bool
    package let kind: Kind

    package init(
        number: PhoneNumber, region: String?, countryCode: Int, isKnownToPlan: Bool, kind: Kind
    ) {
        self.number = number
        self.region = region
        self.countryCode = countryCode
        self.isKnownToPlan = isKnownToPlan
        self.kind = kind
    }
}

/// Reads numbers as people type them: spaces, dashes, full-width and Arabic digits, trunk zeros,
/// 00.
/// One number has one result, however it was written.
package protocol PhoneNumberParser: Sendable {
    /// - Parameter defaultRegion: two letters, used only when `text` has no country code.
    func parse(
        _ text: String, defaultRegion: String?
    ) throws(PhoneNumberProblem) -> ParsedPhoneNumber
}

extension PhoneNumberParser {
    /// The failure that a service answers for a number it cannot read.
    package func number(
        _ text: String, field: String, defaultRegion: String? = nil
    ) throws(ServiceFailure) -> PhoneNumber {
        do throws(PhoneNumberProblem) {
            return try parse(text, defaultRegion: defaultRegion).number
        } catch {
            let reason =
                switch error {
                case .notANumber: "not a phone number"
                case .unknownCountry: "no known country code; write it as + and country code"
                case .tooShort: "too short for its country"
                case .tooLong: "too long for its country"
                case .hasExtension: "an extension cannot receive a code"
                case .notPossible: "not possible in its country's numbering plan"
                }
            throw ServiceFailure(.numberInvalid, reason, field: field)
        }
    }
}
