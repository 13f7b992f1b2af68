import CSodium

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package enum KeyRingProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case missing(path: String)
    case alreadyThere(path: String)
    /// The file or its folder lets others than its owner in, or belongs to someone else.
    case openToOthers(path: String)
    case malformed(path: String, line: Int)
    case empty(path: String)
    case tooMany(path: String)
    /// A reload found other bytes under a known version, or the current version gone.
    case changedKey(path: String)
    /// The newest version makes new values and cannot be removed; nor can one that is not there.
    case cannotRemove(path: String, version: UInt16)
    case system(path: String, code: Int32)

    package var description: String {
        switch self {
        case .missing(let path): "no key ring at \(path)"
        case .alreadyThere(let path): "a key ring is already at \(path)"
        case .openToOthers(let path):
            "\(path) must belong to this user and be closed to others (file 0600, folder 0700)"
        case .malformed(let path, let line):
            "\(path), line \(line): not a version and 32 bytes in base64url"
        case .empty(let path): "\(path) holds no key"
        case .tooMany(let path): "\(path) holds more than \(KeyRing.versionsMax) versions"
        case .changedKey(let path): "\(path) changed the bytes of a version that is in use"
        case .cannotRemove(let path, let version): "\(path) cannot lose version \(version)"
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
        }
    }
}

/// The ring's file: one line for each version, `1 <32 bytes in base64url>`; lines with `#` are
/// comments.
///
/// Mode 0600 in a folder 0700; refused when anyone but the owner has a right to either. Written
/// beside itself, synced, then put in place in one step: a reader sees the old ring or the new one.
package struct KeyRingFile: Sendable {
    /// Bytes; room for every version and a good deal of comment.
    static let bytesMax = 64 * 1024
    private static let keyTextCount = 43

    package let path: String

    package init(path: String) { self.path = path }

    /// Makes a ring with one random key. Of several who try at once, one wins and the others get
    /// `alreadyThere`.
    package func create() throws(KeyRingProblem) {
        try checkFolder()
        let roots = KeyRoots([(1, .random(KeyRing.keyBytesCount))])
        let draft = try writeDraft(roots)
        defer { unlink(draft) }
        guard link(draft, path) == 0 else {
            throw errno == EEXIST ? .alreadyThere(path: path) : .system(path: path, code: errno)
        }
        syncFolder()
    }

    /// The ring of this file, made first when there is none.
    package func loadOrCreate() throws(KeyRingProblem) -> KeyRing {
        do throws(KeyRingProblem) {
            return try KeyRing(path: path)
        } catch .missing {
            do throws(KeyRingProblem) { try create() } catch .alreadyThere {}
            return try KeyRing(path: path)
        }
    }

    /// Rotates: adds a random key under the next version, which becomes the current one wherever
    /// the ring is loaded or reloaded. - Returns: the new version.
    @discardableResult
    package func addVersion() throws(KeyRingProblem) -> UInt16 {
        try rewrite { (roots) throws(KeyRingProblem) in
            guard roots.keys.count < KeyRing.versionsMax, roots.current < .max else {
                throw .tooMany(path: path)
            }
            let version = roots.current + 1
            return (KeyRoots(roots.keys + [(version, .random(KeyRing.keyBytesCount))]), version)
        }
    }

    /// For a version that no row names any more.
    package func removeVersion(_ version: UInt16) throws(KeyRingProblem) {
        _ = try rewrite { (roots) throws(KeyRingProblem) in
            guard version != roots.current, roots.root(version) != nil else {
                throw .cannotRemove(path: path, version: version)
            }
            return (KeyRoots(roots.keys.filter { $0.version != version }), version)
        }
    }

    // MARK: Reading

    func stamp() -> FileStamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileStamp(
            inode: UInt64(status.st_ino), size: Int64(status.st_size),
            seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
    }

    func read() throws(KeyRingProblem) -> KeyRoots {
        try checkFolder()
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? .missing(path: path) : .system(path: path, code: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path: path, code: errno) }
        guard Self.isPrivate(status) else { throw .openToOthers(path: path) }
        guard status.st_size <= Self.bytesMax else { throw .tooMany(path: path) }

        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        defer { bytes.wipe() }
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                readSome(descriptor, buffer, from: count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .system(path: path, code: errno) }
            if got == 0 { break }
            count += got
        }
        return try parse(bytes[..<count])
    }

    private func parse(_ bytes: ArraySlice<UInt8>) throws(KeyRingProblem) -> KeyRoots {
        var keys: [(version: UInt16, root: ProtectedBytes)] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == 9 || $0 == 13 }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
            guard words.count == 2, let last = words.last,
                let version = UInt16(String(decoding: first, as: UTF8.self)), version > 0,
                !keys.contains(where: { $0.version == version }), let root = Self.decode(last)
            else { throw .malformed(path: path, line: index + 1) }
            keys.append((version, root))
        }
        guard !keys.isEmpty else { throw .empty(path: path) }
        guard keys.count <= KeyRing.versionsMax else { throw .tooMany(path: path) }
        return KeyRoots(keys)
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> ProtectedBytes? {
        guard text.count == keyTextCount else { return nil }
        var isWhole = false
        let root = ProtectedBytes(count: KeyRing.keyBytesCount) { bytes in
            text.withUnsafeBytes { source in
                guard let base = source.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                    return
                }
                var count = 0
                let status = sodium_base642bin(
                    bytes, KeyRing.keyBytesCount, base, source.count, nil, &count, nil,
                    sodium_base64_VARIANT_URLSAFE_NO_PADDING)
                isWhole = status == 0 && count == KeyRing.keyBytesCount
            }
        }
        return isWhole ? root : nil
    }

    // MARK: Writing

    /// Reads, changes and replaces the file while holding `<path>.lock`, so that two rotations add
    /// two versions.
    private func rewrite(
        _ change: (KeyRoots) throws(KeyRingProblem) -> (KeyRoots, UInt16)
    ) throws(KeyRingProblem) -> UInt16 {
        let gate = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard gate >= 0 else { throw .system(path: path, code: errno) }
        defer { close(gate) }
        while flock(gate, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .system(path: path, code: errno) }
        }
        let (roots, version) = try change(try read())
        let draft = try writeDraft(roots)
        guard rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw .system(path: path, code: code)
        }
        syncFolder()
        return version
    }

    private func writeDraft(_ roots: KeyRoots) throws(KeyRingProblem) -> String {
        let draft = "\(path).\(getpid()).\(randombytes_random())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(path: path, code: errno) }
        defer { close(descriptor) }
        var text = Self.text(roots)
        defer { text.wipe() }
        let written = text.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard written == text.count, fsync(descriptor) == 0 else {
            let code = errno
            unlink(draft)
            throw .system(path: path, code: code)
        }
        return draft
    }

    private static func text(_ roots: KeyRoots) -> [UInt8] {
        var text: [UInt8] = []
        // Reserved at once: growing would leave copies of the keys behind in freed memory.
        text.reserveCapacity(512 + roots.keys.count * 64)
        text +=
            """
            # Root keys: a version, then 32 random bytes in base64url. The highest version
            # makes new values; an older one stays until the last row that names it is gone, at
            # least 24 hours. Mode 0600.

            """.utf8
        for (version, root) in roots.keys {
            text += "\(version) ".utf8
            let start = text.count
            text += [UInt8](repeating: 0, count: keyTextCount + 1)
            text.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                    return
                }
                root.withBytes {
                    _ = sodium_bin2base64(
                        base + start, keyTextCount + 1, $0, KeyRing.keyBytesCount,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING)
                }
            }
            text[text.count - 1] = UInt8(ascii: "\n")
        }
        return text
    }

    // MARK: Rights

    private var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func checkFolder() throws(KeyRingProblem) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw errno == ENOENT ? .missing(path: folder) : .system(path: folder, code: errno)
        }
        guard Self.isPrivate(status) else { throw .openToOthers(path: folder) }
    }

    private static func isPrivate(_ status: stat) -> Bool {
        status.st_mode & 0o077 == 0 && (status.st_uid == geteuid() || status.st_uid == 0)
    }

    private func syncFolder() {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// Tells one state of a file from another.
struct FileStamp: Hashable, Sendable {
    let inode: UInt64
    let size: Int64
    let seconds: Int64
    let nanoseconds: Int64
}

private func readSome(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, from offset: Int
) -> Int {
    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
    return read(descriptor, rest.baseAddress, rest.count)
}
