import Messages

/// How many codes there are, and how many wrong guesses that leaves: the chance of guessing stays
/// below 1/1000 per scheme, number, purpose and 24 hours.
struct CodeSpace: Sendable, Equatable {
    static let lengthRange = 4...10
    static let typeRange = 1...7
    /// Sends of one scheme to one number per hour, which no lifetime exceeds: so many codes can be
    /// alive together.
    static let liveCodesMax = 5
    private static let guessingChanceInverse = 1_000

    let length: Int
    /// Characters that a comparison tells apart.
    let alphabetCount: Int

    /// - Parameter type: 1…7 as in dypnsapi; anything else counts as digits.
    init(length: Int, type: Int, caseSensitive: Bool) {
        self.length = length
        let (digits, letters, bothCases) =
            switch type {
            case 2, 3: (0, 26, false)
            case 4: (0, 26, true)
            case 5, 6: (10, 26, false)
            case 7: (10, 26, true)
            default: (10, 0, false)
            }
        alphabetCount = digits + (bothCases && caseSensitive ? 2 * letters : letters)
    }

    /// ⌊10⁻³ × alphabet^length⌋; saturates.
    var chargesMax: Int {
        var count = 1
        for _ in 0..<max(0, length) {
            let (product, overflow) = count.multipliedReportingOverflow(by: alphabetCount)
            if overflow { return .max / Self.guessingChanceInverse }
            count = product
        }
        return count / Self.guessingChanceInverse
    }

    /// Codes that one guess may be compared with, each of which it is charged for.
    static func liveCodes(
        _ policy: DuplicatePolicy, lifetimeSeconds: Int64, cooldownSeconds: Int64
    ) -> Int {
        guard policy == .all, lifetimeSeconds > 0, cooldownSeconds > 0 else { return 1 }
        return Int(min(Int64(liveCodesMax), 1 + (lifetimeSeconds - 1) / cooldownSeconds))
    }

    /// nil when at least one guess is affordable; else the arithmetic.
    func shortfall(liveCodes: Int) -> String? {
        guard chargesMax < liveCodes else { return nil }
        return """
            \(length) characters out of \(alphabetCount) allow ⌊10⁻³ × \(alphabetCount)^\(length)⌋ \
            = \(chargesMax) charges in 24 hours, and one wrong guess costs \(liveCodes)
            """
    }
}
