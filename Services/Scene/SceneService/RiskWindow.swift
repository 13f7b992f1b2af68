import Messages
import Primitives
import Storage

/// Rolling windows over one thing (a device, a number, an address) in one scheme: the instants that
/// counted, the oldest first. Never more of them than the largest limit allows.
package struct RiskWindow: StoredRow, Equatable {
    let key: String
    private(set) var instants: [Int64]
    /// The latest time that this row has seen; it decides with the later of the two.
    private(set) var seenAt: Int64
    private(set) var expiresAt: WallTime

    init(key: String, instants: [Int64] = [], seenAt: Int64 = 0) {
        self.key = key
        self.instants = instants.sorted()
        self.seenAt = seenAt
        expiresAt = WallTime(millisecondsSince1970: 0)
    }

    enum Verdict: Equatable {
        case allowed
        /// The window that is full, and how long until it has room; nil when it never has.
        case full(FrequencyWindow, retryAfterMilliseconds: Int64?)

        var isAllowed: Bool { self == .allowed }
    }

    /// Counts one event if every window has room; a refused one does not count.
    mutating func take(_ windows: [FrequencyWindow], at now: WallTime) -> Verdict {
        let verdict = look(windows, at: now)
        if verdict.isAllowed { instants.append(seenAt) }
        expiresAt = WallTime(millisecondsSince1970: seenAt) + .seconds(Self.longest(windows))
        return verdict
    }

    /// The same without counting.
    mutating func look(_ windows: [FrequencyWindow], at now: WallTime) -> Verdict {
        seenAt = max(seenAt, now.millisecondsSince1970)
        let longest = Self.longest(windows)
        instants.removeAll { $0 <= seenAt - longest * 1_000 }
        for window in windows {
            let span = window.seconds * 1_000
            let counted = instants.filter { $0 > seenAt - span }
            guard counted.count >= window.limit else { continue }
            // Room comes when so many have left that fewer than the limit remain.
            let leaving = counted.count - window.limit
            let wait = window.limit > 0 ? counted[leaving] + span - seenAt : nil
            return .full(window, retryAfterMilliseconds: wait)
        }
        return .allowed
    }

    /// Takes back the event of `instant`, once.
    mutating func giveBack(_ instant: WallTime) {
        guard let index = instants.lastIndex(of: instant.millisecondsSince1970) else { return }
        instants.remove(at: index)
    }

    private static func longest(_ windows: [FrequencyWindow]) -> Int64 {
        windows.map(\.seconds).max() ?? 0
    }
}
