/// What a code is made of: the seven code types of the dypnsapi surface.
///
/// Codes are drawn uniformly from `characters`. When guesses are compared without case, a guesser
/// gains what the folding loses, so `guessBase` is the inverse chance of the likeliest character.
enum CodeAlphabet: Int, Codable, Sendable, CaseIterable {
    case digits = 1
    case upper
    case lower
    case upperAndLower
    case digitsAndUpper
    case digitsAndLower
    case all

    private static let digitBytes = Array("0123456789".utf8)
    private static let upperBytes = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    private static let lowerBytes = Array("abcdefghijklmnopqrstuvwxyz".utf8)

    var characters: [UInt8] {
        switch self {
        case .digits: Self.digitBytes
        case .upper: Self.upperBytes
        case .lower: Self.lowerBytes
        case .upperAndLower: Self.upperBytes + Self.lowerBytes
        case .digitsAndUpper: Self.digitBytes + Self.upperBytes
        case .digitsAndLower: Self.digitBytes + Self.lowerBytes
        case .all: Self.digitBytes + Self.upperBytes + Self.lowerBytes
        }
    }

    /// Folded, 26 letters stay of 52, each as likely as the others; of 62 characters a letter is drawn
    /// twice as often as a digit, so one in 31.
    func guessBase(caseSensitive: Bool) -> Int {
        switch self {
        case .digits: 10
        case .upper, .lower: 26
        case .upperAndLower: caseSensitive ? 52 : 26
        case .digitsAndUpper, .digitsAndLower: 36
        case .all: caseSensitive ? 62 : 31
        }
    }

    /// How many wrong comparisons keep the chance of a hit at one in a thousand: base^length / 1000,
    /// rounded down. Saturates far above every other limit.
    func chargesMax(length: Int, caseSensitive: Bool) -> Int {
        let base = guessBase(caseSensitive: caseSensitive)
        var space = 1
        for _ in 0..<length {
            let (product, overflow) = space.multipliedReportingOverflow(by: base)
            if overflow { return .max / 1000 }
            space = product
        }
        return space / 1000
    }
}
