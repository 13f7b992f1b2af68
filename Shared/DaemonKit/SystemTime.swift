import CLinuxCalls
import Effects
package import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The machine's wall clock.
package struct SystemWallClock: WallClock {
    package init() {}

    package func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(
            millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// Waiting on the machine's steady clock, which also runs while the machine sleeps.
package struct SystemPause: Pause {
    private static let origin = ContinuousClock.now

    package init() {}

    package func wait(_ span: Duration) async throws(CancellationError) {
        do {
            try await Task.sleep(for: span, clock: .continuous)
        } catch {
            throw CancellationError()
        }
    }

    package func steadyNow() -> Duration { ContinuousClock.now - Self.origin }
}

/// `2026-11-30T06:24:19.123Z` (RFC 3339, UTC).
func timestampText(_ instant: WallTime) -> String {
    let milliseconds = instant.millisecondsSince1970
    var seconds = time_t(milliseconds / 1000)
    var rest = milliseconds % 1000
    if rest < 0 {
        rest += 1000
        seconds -= 1
    }
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    func add(_ number: Int, _ width: Int, then mark: Unicode.Scalar) {
        var divisor = width == 4 ? 1000 : width == 3 ? 100 : 10
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
        text.append(UInt8(ascii: mark))
    }
    add(Int(parts.tm_year) + 1900, 4, then: "-")
    add(Int(parts.tm_mon) + 1, 2, then: "-")
    add(Int(parts.tm_mday), 2, then: "T")
    add(Int(parts.tm_hour), 2, then: ":")
    add(Int(parts.tm_min), 2, then: ":")
    add(Int(parts.tm_sec), 2, then: ".")
    add(Int(rest), 3, then: "Z")
    return String(decoding: text, as: UTF8.self)
}
