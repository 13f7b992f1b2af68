import CLinuxCalls
import Glibc
import Primitives

/// Starts a named thread; of the name at most 15 bytes count.
func startThread(
    _ name: String, _ body: @escaping @Sendable () -> Void
) throws(HTTPServerProblem) {
    let name = String(name.prefix(15))
    let status = detachThread {
        _ = fusion_name_thread(name)
        body()
    }
    guard status == 0 else {
        throw .system(call: "pthread_create", reason: String(cString: strerror(status)))
    }
}

/// CLOCK_MONOTONIC_COARSE: a few milliseconds are enough for deadlines of seconds.
func coarseNow() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
