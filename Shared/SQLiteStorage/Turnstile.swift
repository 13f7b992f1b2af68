import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Turns among processes that write one file.
///
/// SQLite's own lock is not fair: a process that commits and begins again at once nearly always wins it
/// against one that sleeps. Here a process first takes `entry`, then `work`, then gives `entry` back. The
/// one that waits for `work` holds `entry`, so the one that leaves cannot come back before it.
/// Locks belong to open files (`flock`), so a killed process leaves none behind.
final class Turnstile {
    private let entry: Int32
    private let work: Int32

    /// Waiting between two tries, in nanoseconds: doubles from the first to the last.
    private static let pauseMin = 20_000
    private static let pauseMax = 500_000

    init(path: String) throws(StoreProblem) {
        let entry = try openPrivate(path + ".entry")
        do throws(StoreProblem) {
            work = try openPrivate(path + ".work")
        } catch {
            close(entry)
            throw error
        }
        self.entry = entry
    }

    deinit {
        close(entry)
        close(work)
    }

    /// - Throws: `busy` when another process keeps its turn longer than `limit`.
    func enter(within limit: Duration) throws(StoreProblem) {
        let deadline = steadyNanoseconds() + Int64(limit.wholeMilliseconds) * 1_000_000
        try take(entry, until: deadline)
        defer { flock(entry, LOCK_UN) }
        try take(work, until: deadline)
    }

    func leave() { flock(work, LOCK_UN) }

    private func take(_ file: Int32, until deadline: Int64) throws(StoreProblem) {
        var pause = Self.pauseMin
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .inputOutput(errno) }
            guard steadyNanoseconds() < deadline else { throw .busy }
            var span = timespec(tv_sec: 0, tv_nsec: pause)
            nanosleep(&span, nil)
            pause = min(pause * 2, Self.pauseMax)
        }
    }
}

/// Opens or creates a file that only its owner may read. SQLite gives its companions the same mode.
func openPrivate(_ path: String) throws(StoreProblem) -> Int32 {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else {
        switch errno {
        case EROFS, EACCES, EPERM: throw .readOnly
        case ENOSPC, EDQUOT: throw .diskFull
        default: throw .cannotOpen
        }
    }
    guard fchmod(file, 0o600) == 0 else {
        close(file)
        throw .readOnly
    }
    return file
}

/// A steady instant; its zero means nothing.
func steadyNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}

func closeFile(_ file: Int32) { close(file) }
