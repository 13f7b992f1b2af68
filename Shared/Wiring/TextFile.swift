import Glibc

/// Small files, read whole and replaced whole.
package enum TextFile {
    /// Bytes of one file; none of ours comes near.
    package static let bytesMax = 16 << 20

    package static func read(_ path: String) throws(WiringProblem) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault(path, errno) }
            if count == 0 { return bytes }
            bytes += part[..<count]
            guard bytes.count <= bytesMax else {
                throw WiringProblem("\(path) is larger than \(bytesMax / 1_048_576) MiB")
            }
        }
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Writes beside, syncs, and puts the file in place in one step.
    package static func write(
        _ path: String, _ bytes: [UInt8], mode: UInt32
    ) throws(WiringProblem) {
        let draft = "\(path).\(getpid()).new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw fault(path, errno) }
        defer { close(descriptor) }
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw discard(draft, path) }
            offset += count
        }
        guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
            throw discard(draft, path)
        }
    }

    package static func write(
        _ path: String, _ text: String, mode: UInt32
    ) throws(WiringProblem) {
        try write(path, Array(text.utf8), mode: mode)
    }

    private static func discard(_ draft: String, _ path: String) -> WiringProblem {
        let problem = fault(path, errno)
        unlink(draft)
        return problem
    }

    private static func fault(_ path: String, _ code: Int32) -> WiringProblem {
        WiringProblem("\(path): \(String(cString: strerror(code)))")
    }
}
