import Primitives

/// Root keys by version. The highest version makes new values; a value names the version that made
/// it.
///
/// Each purpose (`smscode.code`, `verification.mask`) has a subkey of its own under each version,
/// so that two purposes share no key. Shared by every adapter of a process; safe from any thread.
///
/// Moves: versions are added, and later removed when no row names them. Invariants over a reload:
/// the bytes of a known version never change, and the version that was current stays.
package final class KeyRing: Sendable {
    package static let keyBytesCount = 32
    package static let versionsMax = 64
    /// How often a ring in use looks whether its file was replaced.
    package static let lookInterval = Duration.seconds(1)
    /// How often a value that names an unknown version may make the ring read its file out of turn.
    package static let lookAgainInterval = Duration.milliseconds(50)

    private struct State {
        var roots: KeyRoots
        var stamp: FileStamp?
        var lookedAt = ContinuousClock.now
        var lookedAgainAt: ContinuousClock.Instant?
    }

    private let file: KeyRingFile?
    private let state: Lock<State>

    init(roots: KeyRoots, file: KeyRingFile?, stamp: FileStamp? = nil) {
        self.file = file
        state = Lock(State(roots: roots, stamp: stamp))
    }

    /// Reads the ring of `path`. - Throws: when it is absent, open to others, or malformed.
    package convenience init(path: String) throws(KeyRingProblem) {
        let file = KeyRingFile(path: path)
        // The stamp is older than what is read, never newer: a change in between is read again.
        let stamp = file.stamp()
        self.init(roots: try file.read(), file: file, stamp: stamp)
    }

    /// One random key that dies with the process: tests, and daemons that keep nothing.
    package static func ephemeral() -> KeyRing {
        let root = ProtectedBytes.random(keyBytesCount)
        return KeyRing(roots: KeyRoots([(1, root)]), file: nil)
    }

    package var currentVersion: UInt16 { roots.current }
    /// Oldest first; never empty.
    package var versions: [UInt16] { roots.versions }

    /// Takes over what the file says now. Does nothing for an ephemeral ring.
    package func reload() throws(KeyRingProblem) {
        guard let file else { return }
        let stamp = file.stamp()
        let next = try file.read()
        try state.withLock { (state) throws(KeyRingProblem) in
            guard next.isSuccessor(of: state.roots) else { throw .changedKey(path: file.path) }
            state.roots = next
            state.stamp = stamp
        }
    }

    /// Another instance may have rotated: a ring in use looks at its file's stamp now and then, so
    /// that all instances of a machine know a new version soon after one does.
    var roots: KeyRoots {
        let (roots, isDue) = state.withLock { state in
            guard file != nil, ContinuousClock.now - state.lookedAt >= Self.lookInterval else {
                return (state.roots, false)
            }
            state.lookedAt = .now
            return (state.roots, file?.stamp() != state.stamp)
        }
        guard isDue else { return roots }
        // A ring that cannot be read now keeps what it has; `reload` is where an operator hears of
        // it.
        try? reload()
        return state.withLock { $0.roots }
    }

    /// For a value that names a version unknown here. The version comes from outside, hence the
    /// interval.
    func lookAgain() {
        guard file != nil else { return }
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.lookedAgainAt, now - last < Self.lookAgainInterval { return false }
            state.lookedAgainAt = now
            return true
        }
        if isDue { try? reload() }
    }
}

/// What a ring holds at one moment; never changes.
final class KeyRoots: Sendable {
    /// Ascending by version; never empty.
    let keys: [(version: UInt16, root: ProtectedBytes)]

    init(_ keys: [(version: UInt16, root: ProtectedBytes)]) {
        precondition(!keys.isEmpty, "a ring without a key")
        self.keys = keys.sorted { $0.version < $1.version }
    }

    var versions: [UInt16] { keys.map(\.version) }
    var current: UInt16 { keys.last?.version ?? 0 }

    func root(_ version: UInt16) -> ProtectedBytes? {
        keys.first { $0.version == version }?.root
    }

    func isSuccessor(of old: KeyRoots) -> Bool {
        guard root(old.current) != nil else { return false }
        return old.keys.allSatisfy { known in
            root(known.version).map { $0.isEqual(to: known.root) } ?? true
        }
    }
}
