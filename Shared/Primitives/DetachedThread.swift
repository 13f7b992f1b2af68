#if canImport(Glibc)
    import Glibc

    /// Runs `body` on a detached thread of its own, with every signal blocked: the process's one
    /// signal thread gets them.
    /// - Returns: 0, or what `pthread_create` (3) says; then `body` is dropped and never runs.
    package func detachThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let box = Unmanaged.passRetained(ThreadBody(body))
        let status = withSignalsBlocked {
            var thread = pthread_t()
            let status = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                }, box.toOpaque())
            if status == 0 { pthread_detach(thread) }
            return status
        }
        if status != 0 { box.release() }
        return status
    }

    /// Threads that `body` starts get no signals.
    package func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }

    private final class ThreadBody: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
#endif
