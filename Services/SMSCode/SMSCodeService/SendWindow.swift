import Primitives
import Storage

/// The sends that one counter of design §7 saw: of a scheme to a number, of all schemes to a number, of
/// an address, or of a scheme to a bound number.
///
/// Judged and counted in the transaction that writes the message, so that N parallel sends under limit k
/// send exactly k. Refused sends are not counted; a send that a provider refused is given back.
struct SendWindow: StoredRow, Equatable {
    /// At most `countMax` sends within any `span`; 0 allows none.
    struct Limit: Sendable, Equatable {
        /// As `field` of the refusal.
        let name: String
        let countMax: Int
        let span: Duration
    }

    enum Verdict: Equatable {
        case open
        case coolingDown(until: WallTime)
        /// `until` is nil for a limit of 0.
        case full(Limit, until: WallTime?)
    }

    /// Daemons may disagree about the time by so much. A wait that one instance told is kept by another
    /// with this tolerance, so that a resend at the told moment is accepted.
    static let clockSkewMax = Duration.seconds(2)

    let key: String
    /// Oldest first, none older than the longest span at the last write.
    private(set) var sends: [WallTime] = []
    private(set) var latestAt: WallTime
    /// The instance that counted the newest send.
    private(set) var writer: String
    private(set) var expiresAt: WallTime

    init(key: String, at now: WallTime) {
        self.key = key
        latestAt = now
        writer = ""
        expiresAt = now
    }

    init(key: String, joining first: Self, _ other: Self?) {
        self.key = key
        sends = (first.sends + (other?.sends ?? [])).sorted()
        latestAt = max(first.latestAt, other?.latestAt ?? first.latestAt)
        writer = first.writer
        expiresAt = max(first.expiresAt, other?.expiresAt ?? first.expiresAt)
    }

    /// - Parameter cooldown: minimum gap since the newest send; zero where the counter has none.
    func verdict(
        _ now: WallTime, cooldown: Duration, _ limits: [Limit], instance: String
    ) -> Verdict {
        let now = max(now, latestAt)
        for limit in limits {
            let inside = sends.filter { now - $0 < limit.span }
            guard inside.count >= limit.countMax else { continue }
            guard limit.countMax > 0 else { return .full(limit, until: nil) }
            return .full(limit, until: inside[inside.count - limit.countMax] + limit.span)
        }
        if let newest = sends.last, cooldown > .zero {
            let tolerance =
                writer == instance ? Duration.zero : min(Self.clockSkewMax, cooldown / 2)
            if now - newest < cooldown - tolerance {
                return .coolingDown(until: newest + cooldown)
            }
        }
        return .open
    }

    mutating func count(_ now: WallTime, keeping span: Duration, countMax: Int, instance: String) {
        latestAt = max(now, latestAt)
        sends.removeAll { latestAt - $0 >= span }
        sends.append(latestAt)
        if sends.count > countMax { sends.removeFirst(sends.count - countMax) }
        writer = instance
        expiresAt = latestAt + span
    }

    /// A provider refused the message that was counted at `instant`.
    mutating func giveBack(_ instant: WallTime) {
        if let index = sends.lastIndex(of: instant) { sends.remove(at: index) }
    }

    func sendsLeft(_ limits: [Limit]) -> Int {
        limits.map { limit in
            limit.countMax - sends.count { latestAt - $0 < limit.span }
        }.min().map { max(0, $0) } ?? .max
    }

    /// The earliest instant at which the windows take another send; nil when they take one now.
    func reopening(_ limits: [Limit]) -> WallTime? {
        limits.compactMap { limit -> WallTime? in
            let inside = sends.filter { latestAt - $0 < limit.span }
            guard limit.countMax > 0, inside.count >= limit.countMax else { return nil }
            return inside[inside.count - limit.countMax] + limit.span
        }.max()
    }
}
