import CSodium

/// libsodium, started once. Every type of this module starts it before its first call.
enum Sodium {
    private static let isStarted = sodium_init() >= 0

    static func start() { precondition(isStarted, "libsodium has no source of random bytes") }
}

/// Key bytes in guarded memory: read-only after the first fill, kept out of core dumps, zeroed when
/// freed.
///
/// A Swift array would be copied on write and left behind in freed memory; keys never live in one.
final class ProtectedBytes: @unchecked Sendable {
    let count: Int
    private let base: UnsafeMutableRawPointer

    init(count: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        Sodium.start()
        guard count > 0, let base = sodium_malloc(count) else {
            preconditionFailure("no guarded memory for a key")
        }
        self.count = count
        self.base = base
        fill(base.assumingMemoryBound(to: UInt8.self))
        // A kernel without mprotect still leaves the guard pages; nothing to mend here.
        _ = sodium_mprotect_readonly(base)
    }

    deinit { sodium_free(base) }

    func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        body(UnsafePointer(base.assumingMemoryBound(to: UInt8.self)))
    }

    /// Takes the same time for equal and for different bytes.
    func isEqual(to other: ProtectedBytes) -> Bool {
        count == other.count && sodium_memcmp(base, other.base, count) == 0
    }

    static func random(_ count: Int) -> ProtectedBytes {
        ProtectedBytes(count: count) { randombytes_buf($0, count) }
    }
}

extension [UInt8] {
    /// Overwrites the bytes where they lie; sensible only for an array that nothing else holds.
    mutating func wipe() {
        withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { sodium_memzero(base, buffer.count) }
        }
    }
}
