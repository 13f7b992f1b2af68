import Primitives
import Storage

/// The wrong guesses of one scheme, purpose and number. It outlives codes, challenges and runs.
///
/// A guess is evaluated only while `verdict` is open, in the transaction that counts it; so the limits
/// hold exactly, whoever asks in parallel. The row remembers the latest time it has seen: a clock that
/// jumps back frees nothing.
struct GuessWindow: StoredRow, Equatable {
    static let hour = Duration.seconds(3600)
    static let day = Duration.seconds(24 * 3600)

    struct Limits: Sendable {
        /// Per rolling hour, and per rolling 24 hours.
        let hourMax: Int
        let dayMax: Int
    }

    struct Wrong: Codable, Sendable, Equatable {
        let at: WallTime
        /// Live codes that it was compared with.
        let charges: Int
        /// Charges that the codes of that moment allowed within 24 hours.
        let chargesMax: Int
    }

    enum Verdict: Equatable {
        /// `guessesLeft` is at least one.
        case open(guessesLeft: Int)
        case exhausted(until: WallTime)
    }

    let key: String
    /// Oldest first, none older than 24 hours at the last write; at most `dayMax`.
    private(set) var wrong: [Wrong] = []
    private(set) var latestAt: WallTime

    init(key: String, at now: WallTime) {
        self.key = key
        latestAt = now
    }

    /// The same counts under another key, joined with those of `other`.
    init(key: String, joining first: Self, _ other: Self?) {
        self.key = key
        wrong = (first.wrong + (other?.wrong ?? [])).sorted { $0.at < $1.at }
        latestAt = max(first.latestAt, other?.latestAt ?? first.latestAt)
    }

    var expiresAt: WallTime { latestAt + Self.day }

    /// - Parameters:
    ///   - charges: what one more wrong guess would cost, at least 1.
    ///   - chargesMax: what the codes that are live now allow within 24 hours.
    func verdict(
        _ now: WallTime, charges: Int, chargesMax: Int, _ limits: Limits
    ) -> Verdict {
        let now = max(now, latestAt)
        let today = wrong.filter { now - $0.at < Self.day }
        let hourCount = today.count { now - $0.at < Self.hour }
        let bound = today.reduce(chargesMax) { min($0, $1.chargesMax) }
        let charged = today.reduce(0) { $0 + $1.charges }
        let left = min(
            limits.hourMax - hourCount, limits.dayMax - today.count,
            (bound - charged) / max(1, charges))
        guard left <= 0 else { return .open(guessesLeft: left) }
        return .exhausted(
            until: reopening(today, now, charges: charges, chargesMax: chargesMax, limits))
    }

    /// Counts one wrong guess.
    mutating func count(_ now: WallTime, charges: Int, chargesMax: Int) {
        latestAt = max(now, latestAt)
        wrong.removeAll { latestAt - $0.at >= Self.day }
        wrong.append(Wrong(at: latestAt, charges: charges, chargesMax: chargesMax))
    }

    /// Remembers the time of an evaluation that counted nothing.
    mutating func saw(_ now: WallTime) { latestAt = max(now, latestAt) }

    /// When the first limit in force lets go, taking the latest of them.
    private func reopening(
        _ today: [Wrong], _ now: WallTime, charges: Int, chargesMax: Int, _ limits: Limits
    ) -> WallTime {
        var until = now
        let thisHour = today.filter { now - $0.at < Self.hour }
        if limits.hourMax <= 0 || limits.dayMax <= 0 { return now + Self.day }
        if thisHour.count >= limits.hourMax {
            until = max(until, thisHour[thisHour.count - limits.hourMax].at + Self.hour)
        }
        if today.count >= limits.dayMax {
            until = max(until, today[today.count - limits.dayMax].at + Self.day)
        }
        var rest = today[...]
        while let oldest = rest.first {
            let bound = rest.reduce(chargesMax) { min($0, $1.chargesMax) }
            if rest.reduce(charges, { $0 + $1.charges }) <= bound { break }
            until = max(until, oldest.at + Self.day)
            rest = rest.dropFirst()
        }
        // More live codes than the bound: they are gone within the longest lifetime.
        return until > now ? until : now + Self.hour
    }
}
