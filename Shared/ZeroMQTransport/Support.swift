import CLinux
import CZeroMQ
import Glibc
package import Majordomo
import Primitives
import Synchronization

/// Why a call of libzmq or of the system failed. The text is libzmq's or the system's own.
package struct ZeroMQFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let call: String
    package let code: Int32

    package init(_ call: String, code: Int32 = zmq_errno()) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(String(cString: zmq_strerror(code)))" }
}

extension SteadyTime {
    /// CLOCK_MONOTONIC.
    package static func now() -> Self {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Self(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

/// Bytes of the system's generator, for adapters that own no injected one: tokens, jitter, probe
/// keys.
func systemRandom(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        var offset = 0
        while offset < count {
            let got = getrandom(buffer.baseAddress?.advanced(by: offset), count - offset, 0)
            if got > 0 { offset += got }
        }
        filled = count
    }
}

/// Starts a named thread; of the name at most 15 bytes count.
func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) throws(ZeroMQFault) {
    let name = String(name.prefix(15))
    let status = detachThread {
        _ = fusion_name_thread(name)
        body()
    }
    guard status == 0 else { throw ZeroMQFault("pthread_create", code: status) }
}

/// An eventfd that wakes a thread out of `zmq_poll`; written only when it is not set already.
final class WakeSignal: Sendable {
    let descriptor: Int32
    private let isSet = Atomic(false)

    init() throws(ZeroMQFault) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw ZeroMQFault("eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    func set() {
        guard !isSet.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Called by the owner before it empties its mailboxes, so that nothing pushed later is missed.
    ///
    /// - Returns: false when nothing was signalled.
    @discardableResult
    func clear() -> Bool {
        guard isSet.load(ordering: .acquiring) else { return false }
        var value: UInt64 = 0
        _ = read(descriptor, &value, 8)
        isSet.store(false, ordering: .releasing)
        return true
    }
}
