import CPhone
package import Effects
import Primitives

/// Numbers read by Google's libphonenumber.
///
/// Errors and impossible lengths refuse. A number that is possible but not in the plan's metadata
/// passes with `isKnownToPlan` false, since the metadata are older than the plans. The library
/// takes a lock in its parser and about 10 to 40 µs, so results (refusals too) are kept by the text
/// as typed.
package final class LibPhoneNumberParser: PhoneNumberParser {
    /// Results kept; beyond twice that number the oldest go.
    package static let cachedCountMax = 4096

    private typealias Outcome = Result<ParsedPhoneNumber, PhoneNumberProblem>

    private struct Question: Hashable {
        let text: String
        let region: String?
    }

    private let overrides: [PlanOverride]
    private let cache: Lock<TwoGenerationCache<Question, Outcome>>

    package init(
        overrides: [PlanOverride] = PlanOverride.known,
        cachedCountMax: Int = LibPhoneNumberParser.cachedCountMax
    ) {
        self.overrides = overrides
        cache = Lock(TwoGenerationCache(countMax: cachedCountMax))
    }

    package func parse(
        _ text: String, defaultRegion: String?
    ) throws(PhoneNumberProblem) -> ParsedPhoneNumber {
        guard text.utf8.count <= NumberText.bytesMax else { throw .tooLong }
        let question = Question(text: text, region: defaultRegion?.uppercased())
        if let known = cache.withLock({ $0[question] }) { return try known.get() }
        let outcome = read(NumberText(text), region: question.region)
        cache.withLock { $0[question] = outcome }
        return try outcome.get()
    }

    private func read(_ text: NumberText, region: String?) -> Outcome {
        guard text.hasDigit else { return .failure(.notANumber) }
        let first = judge(text.ascii, region: region)
        if text.hasStrangers {
            // `x12`, `ext. 12`, `;ext=12`: the library knows how extensions are written.
            return .failure(first == .failure(.hasExtension) ? .hasExtension : .notANumber)
        }
        if case .success(let number) = first, number.isKnownToPlan { return first }
        // 00 is how most of the world writes +. Where the region has another prefix the library
        // took it for national digits; a reading that the plan knows wins over one that it does
        // not.
        guard let international = text.withPlusForZeros else { return first }
        let second = judge(international, region: nil)
        switch (first, second) {
        case (_, .success(let number)) where number.isKnownToPlan: return second
        case (.success, _): return first
        case (.failure, .success): return second
        case (.failure, .failure): return region == nil ? second : first
        }
    }

    private func judge(_ text: String, region: String?) -> Outcome {
        let result = shimResult(text, region: region)
        guard result.is_read else { return .failure(Self.problem(result.status)) }
        guard !result.has_extension else { return .failure(.hasExtension) }
        guard let number = PhoneNumber(e164: Self.text(result.e164)) else {
            return .failure(result.national_digits < 7 ? .tooShort : .tooLong)
        }
        let countryCode = Int(result.country_code)
        if result.is_short { return .failure(.tooShort) }
        let isAllowed = overrides.contains {
            $0.allows(
                e164: number.e164, countryCode: countryCode,
                nationalDigits: Int(result.national_digits))
        }
        guard isAllowed || result.status == Int32(cphone_ok) else {
            return .failure(Self.problem(result.status))
        }
        let region = Self.text(result.region)
        return .success(
            ParsedPhoneNumber(
                number: number, region: region.isEmpty ? nil : region, countryCode: countryCode,
                isKnownToPlan: result.is_valid,
                kind: isAllowed && !result.is_valid ? .fixedLineOrMobile : Self.kind(result.kind)))
    }

    private func shimResult(_ text: String, region: String?) -> cphone_result {
        var result = cphone_result()
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // A base of nil means an empty text, which was refused before.
                guard let base = $0.baseAddress else { return }
                cphone_parse(base, $0.count, Self.regionCode(region), &result)
            }
        }
        return result
    }

    /// Two capital letters, or the library's word for "none". The region may come from a request.
    private static func regionCode(_ region: String?) -> String {
        guard let region, region.utf8.count == 2,
            region.utf8.allSatisfy({ $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") })
        else { return "ZZ" }
        return region
    }

    private static func problem(_ status: Int32) -> PhoneNumberProblem {
        switch Int(status) {
        case cphone_unknown_country: .unknownCountry
        case cphone_too_short: .tooShort
        case cphone_too_long: .tooLong
        case cphone_bad_length: .notPossible
        default: .notANumber
        }
    }

    private static func kind(_ kind: Int32) -> ParsedPhoneNumber.Kind {
        switch Int(kind) {
        case cphone_kind_mobile: .mobile
        case cphone_kind_fixed: .fixedLine
        case cphone_kind_either: .fixedLineOrMobile
        default: .other
        }
    }

    /// The text of a fixed C array, up to its zero.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// A bounded map that forgets what was not asked for lately: a full young generation becomes the
/// old one, and the old one before it goes. Constant time, no list of uses.
struct TwoGenerationCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let countMax: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    init(countMax: Int) {
        precondition(countMax > 0, "a cache that holds nothing")
        self.countMax = countMax
    }

    var count: Int { young.count + old.count }

    subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old[key] else { return nil }
            insert(key, value)
            return value
        }
        set {
            if let newValue { insert(key, newValue) }
        }
    }

    private mutating func insert(_ key: Key, _ value: Value) {
        if young.count >= countMax {
            old = young
            young = [:]
        }
        young[key] = value
    }
}
