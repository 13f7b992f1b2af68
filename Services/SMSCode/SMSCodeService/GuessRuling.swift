import Messages
import Primitives

/// What came of one guess.
enum GuessRuling: Equatable, Sendable {
    case accepted(ChallengeID)
    case rejected(guessesLeft: Int, until: WallTime?)
    case exhausted(until: WallTime)
    /// The guess equals a code that a newer one replaced.
    case superseded(newerSentAt: WallTime)
    /// The guess equals a code that is no longer good.
    case expired
    case alreadyUsed
    case cancelled

    /// Judges a guess against every live code of `challenges` (those of one scheme, purpose, number and
    /// run, newest first), counts it, and uses all of them up when it is right.
    ///
    /// Who does not know a code learns nothing from the answer: without a challenge, or with a dead one,
    /// a wrong guess is rejected, counted and exhausted as with a live one. Only the dead code itself is
    /// answered with how it died, uncounted where no live code was compared.
    /// - Parameter chargesMax: what a number without a live code is judged by.
    static func judge(
        _ guess: CodeBook.Guess, _ challenges: inout [CodeChallenge], _ window: inout GuessWindow,
        at instant: WallTime, book: CodeBook, limits: GuessWindow.Limits, chargesMax: Int
    ) -> Self {
        let now = challenges.reduce(max(instant, window.latestAt)) { max($0, $1.latestAt) }
        let live = challenges.flatMap { challenge in
            challenge.live(at: now).map { (challenge, $0) }
        }
        let bound =
            live.map { $1.alphabet.chargesMax(length: $1.length, caseSensitive: $0.caseSensitive) }
            .min() ?? chargesMax
        let charges = max(1, live.count)
        if case .exhausted(let until) = window.verdict(
            now, charges: charges, chargesMax: bound, limits)
        {
            return .exhausted(until: until)
        }
        if live.isEmpty { book.compareWithNothing(guess) }
        var hit: CodeChallenge?
        for (challenge, code) in live where book.matches(guess, code, of: challenge) {
            hit = challenge
        }
        if let hit {
            for index in challenges.indices where challenges[index].state == .open {
                challenges[index].accept(at: now)
            }
            return .accepted(hit.id)
        }
        let dead = deadMatch(guess, challenges, at: now, book)
        if dead == nil || !live.isEmpty {
            window.count(now, charges: charges, chargesMax: bound)
        }
        if let dead { return dead }
        switch window.verdict(now, charges: charges, chargesMax: bound, limits) {
        case .open(let left): return .rejected(guessesLeft: left, until: nil)
        case .exhausted(let until): return .rejected(guessesLeft: 0, until: until)
        }
    }

    private static func deadMatch(
        _ guess: CodeBook.Guess, _ challenges: [CodeChallenge], at now: WallTime, _ book: CodeBook
    ) -> Self? {
        for challenge in challenges {
            let live = challenge.live(at: now).map(\.sequence)
            for code in challenge.codes.reversed() where !live.contains(code.sequence) {
                guard book.matches(guess, code, of: challenge) else { continue }
                switch challenge.state {
                case .accepted: return .alreadyUsed
                case .cancelled: return .cancelled
                case .open:
                    guard code.supersededBy != nil, !live.isEmpty,
                        let newest = challenge.newest
                    else { return .expired }
                    return .superseded(newerSentAt: newest.sentAt)
                }
            }
        }
        return nil
    }

    var result: CodeResult {
        switch self {
        case .accepted: .accepted
        case .rejected: .rejected
        case .exhausted: .exhausted
        case .superseded: .superseded
        case .expired: .expired
        case .alreadyUsed: .alreadyUsed
        case .cancelled: .cancelled
        }
    }

    var attemptsLeft: Int? {
        switch self {
        case .rejected(let left, _): left
        case .exhausted: 0
        default: nil
        }
    }

    func retryAfterMilliseconds(_ now: WallTime) -> Int64? {
        switch self {
        case .exhausted(let until), .rejected(_, let until?):
            max(1, (until - now).wholeMilliseconds)
        default: nil
        }
    }
}
