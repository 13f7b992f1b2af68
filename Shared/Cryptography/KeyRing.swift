import Primitives

/// Root keys by version. The highest version makes new values; a value names the version that made it.
///
/// Each purpose (`smscode.code`, `verification.mask`) has a subkey of its own under each version, so
/// that two purposes share no key. Shared by every adapter of a process; safe from any thread.
///
/// Moves: versions are added, and later removed when no row names them. Invariants over a reload: the
/// bytes of a known version never change, and the version that was current stays.
package final class KeyRing: Sendable {
    package static let keyBytesCount = 32
    package static let versionsMax = 64
    /// How often a value that names an unknown version may make the ring look at its file again.
    package static let lookAgainInterval = Duration.seconds(1)

    private struct State {
        var roots: KeyRoots
        var lookedAt: ContinuousClock.Instant?
    }

    private let file: KeyRingFile?
    private let state: Lock<State>

    init(roots: KeyRoots, file: KeyRingFile?) {
        self.file = file
        state = Lock(State(roots: roots))
    }

    /// Reads the ring of `path`. - Throws: when it is absent, open to others, or malformed.
    package convenience init(path: String) throws(KeyRingProblem) {
        let file = KeyRingFile(path: path)
        self.init(roots: try file.read(), file: file)
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
        let next = try file.read()
        try state.withLock { (state) throws(KeyRingProblem) in
            guard next.isSuccessor(of: state.roots) else { throw .changedKey(path: file.path) }
            state.roots = next
        }
    }

    var roots: KeyRoots { state.withLock { $0.roots } }

    /// Another instance may have rotated before this one was told. A value that names a version unknown
    /// here is reason to look, but not more often than the interval: the version comes from outside.
    func lookAgain() {
        guard file != nil else { return }
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if let last = state.lookedAt, now - last < Self.lookAgainInterval { return false }
            state.lookedAt = now
            return true
        }
        // A ring that cannot be read now keeps what it has; `reload` is where an operator hears of it.
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
