import Glibc
import Synchronization

/// The folder, lock and file of an ipc endpoint. The lock is held as long as this value lives: a
/// second broker on the same path is refused, where libzmq itself would steal the path without an
/// error.
final class SocketFile: Sendable {
    enum Problem: Error, Hashable, CustomStringConvertible {
        case pathTooLong(String)
        case inUse(String)
        case notASocket(String)

        var description: String {
            switch self {
            case .pathTooLong(let path):
                "the socket path \(path) has more than \(Bound.socketPathBytesMax) bytes"
            case .inUse(let path): "another broker holds \(path)"
            case .notASocket(let path): "\(path) is there and is no socket"
            }
        }
    }

    let path: String
    private let lock: Int32
    private let isReleased = Atomic(false)

    init(path: String) throws {
        guard path.utf8.count <= Bound.socketPathBytesMax else { throw Problem.pathTooLong(path) }
        self.path = path
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            // The folder is private; an existing one is the operator's own matter.
            mkdir(String(path[..<slash]), 0o750)
        }
        lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw ZeroMQFault("open \(path).lock", code: errno) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Problem.inUse(path)
        }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw Problem.notASocket(path) }
        unlink(path)
    }

    /// Lets another broker have the path.
    func release() {
        if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { close(lock) }
    }

    deinit { release() }
}
