import CLinuxCalls
import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package enum PidFileProblem: Error, Hashable, Sendable {
    /// A living process has it.
    case taken(path: String)
    case system(path: String, code: Int32)
}

/// One instance of one daemon, while it lives: a locked file with its process id.
///
/// Line 1: the process id. Line 2: `starting`, `ready` or `draining`. A supervisor or script waits
/// for `ready` there. The lock ends with the process, however it ends, so a file left behind is
/// taken over.
package final class PidFile: Sendable {
    package enum State: String, Sendable {
        case starting, ready, draining
        /// Written by a supervisor in the place of a child that ended and will be started again.
        case waiting
    }

    package struct Content: Hashable, Sendable {
        package let processID: Int32
        package let state: State
        /// Whether the process still holds the file; false for one left behind.
        package let isAlive: Bool
    }

    package let path: String
    private let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Unlocked by word and not only by closing: a child between fork and exec still holds a copy of
    /// the descriptor, and with it the lock.
    deinit {
        var lock = Self.wholeFile(F_UNLCK)
        _ = fcntl(descriptor, Int32(fusion_set_file_lock), &lock)
        close(descriptor)
    }

    package static func acquire(_ path: String) throws(PidFileProblem) -> PidFile {
        // A file is unlinked by the process that holds it; one that vanished between open and lock
        // is tried again. Few rounds: each needs another process to end in that moment.
        for _ in 0..<16 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw .system(path: path, code: errno) }
            guard setLock(descriptor) else {
                let code = errno
                close(descriptor)
                throw code == EAGAIN || code == EACCES
                    ? .taken(path: path) : .system(path: path, code: code)
            }
            var held = stat()
            var named = stat()
            if fstat(descriptor, &held) == 0, stat(path, &named) == 0, held.st_ino == named.st_ino {
                let file = PidFile(path: path, descriptor: descriptor)
                file.mark(.starting)
                return file
            }
            close(descriptor)
        }
        throw .taken(path: path)
    }

    /// Written over the old text, then cut: a reader in between finds the new second line and stray
    /// letters on a third, which it does not read.
    package func mark(_ state: State) {
        let text = Array("\(getpid())\n\(state.rawValue)\n".utf8)
        pwrite(descriptor, text, text.count, 0)
        ftruncate(descriptor, off_t(text.count))
    }

    package func release() { unlink(path) }

    /// nil when there is no such file, or it holds something else.
    package static func read(_ path: String) -> Content? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(
            separator: "\n")
        guard let first = words.first, let processID = Int32(first),
            let word = words.dropFirst().first, let state = State(rawValue: String(word))
        else { return nil }
        var query = wholeFile(F_RDLCK)
        let isAlive =
            fcntl(descriptor, Int32(fusion_get_file_lock), &query) == 0
            && Int32(query.l_type) != F_UNLCK
        return Content(processID: processID, state: state, isAlive: isAlive)
    }

    private static func setLock(_ descriptor: Int32) -> Bool {
        var lock = wholeFile(F_WRLCK)
        return fcntl(descriptor, Int32(fusion_set_file_lock), &lock) == 0
    }

    private static func wholeFile(_ kind: Int32) -> flock {
        var lock = flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }
}
