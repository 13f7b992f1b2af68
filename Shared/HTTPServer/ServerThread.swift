import CLinuxCalls
import Glibc

/// Starts a named thread with every signal blocked; the process's one signal thread gets them.
func startThread(
    _ name: String, _ body: @escaping @Sendable () -> Void
) throws(HTTPServerProblem) {
    let box = Unmanaged.passRetained(ThreadBody(name, body))
    var status: Int32 = 0
    withSignalsBlocked {
        var thread = pthread_t()
        status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let started = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
                _ = fusion_name_thread(started.name)
                started.body()
                return nil
            }, box.toOpaque())
        if status == 0 { pthread_detach(thread) }
    }
    guard status == 0 else {
        box.release()
        throw .system(call: "pthread_create", reason: String(cString: strerror(status)))
    }
}

/// Threads that `body` starts get no signals.
func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return body()
}

private final class ThreadBody: Sendable {
    /// At most 15 bytes count.
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        self.name = String(name.prefix(15))
        self.body = body
    }
}

/// CLOCK_MONOTONIC_COARSE: a few milliseconds are enough for deadlines of seconds.
func coarseNow() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
