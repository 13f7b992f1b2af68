import CLinuxCalls
package import Effects
import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The life of a daemon: flags, configuration, signals, readiness, drain.
package enum Daemon {
    /// Instances that number themselves.
    package static let instancesMax = 64
    /// The descriptor whose number is in this variable gets `ready\n` and is closed.
    package static let readyVariable = "FUSION_READY_FD"
    /// With `--die-with-parent`: the parent's process id, so that a parent lost during start is
    /// noticed.
    package static let parentVariable = "FUSION_PARENT_PID"

    package typealias MakeParts<C> = @Sendable (C, DaemonContext) async throws -> [any DaemonPart]

    /// Runs the daemon and never returns. Call it from a synchronous `main` and from nowhere else:
    /// signals are blocked here for the threads that come later, and this thread becomes the one
    /// that waits for them.
    ///
    /// - Parameter shared: sections that the wiring reads besides the daemon's own, for
    ///   `--check-config` and `--print-config`.
    /// - Parameter makeParts: builds the parts from the checked configuration, in order of
    ///   dependence: the last one is drained first. What it throws ends the start.
    @available(*, noasync)
    package static func run<C: DaemonConfiguration>(
        _ name: String, version: String = BuildInfo.version,
        shared: [any DaemonConfiguration.Type] = [],
        arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        environment: [String: String] = processEnvironment(), _ makeParts: @escaping MakeParts<C>
    ) -> Never {
        MemoryHabits.apply()
        let signals = SignalThread()
        let start: DaemonStart<C>
        switch DaemonStart<C>.prepare(name, version, shared, arguments, environment) {
        case .ended(let status): end(status)
        case .start(let prepared): start = prepared
        }
        let (events, inbox) = AsyncStream.makeStream(
            of: DaemonEvent.self, bufferingPolicy: .bufferingNewest(1024))
        Task.detached {
            let status = await start.run(events, inbox, makeParts)
            end(status)
        }
        signals.deliver(
            onStop: { inbox.yield(.stop) }, onReload: { inbox.yield(.reload) },
            onSecondStop: { signal in
                start.pidFile.release()
                _exit(128 + signal)
            })
    }

    static func end(_ status: DaemonExit) -> Never {
        fflush(nil)
        // Not exit(): handlers of C++ libraries would run beside threads that still use them.
        _exit(status.rawValue)
    }

    package static func processEnvironment() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }
}

/// Blocks the signals of a daemon in every thread to come, and waits for them in the one that made
/// it.
struct SignalThread {
    private var set = sigset_t()

    init() {
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A peer that hangs up is an error code of a write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    func deliver(
        onStop: () -> Void, onReload: () -> Void, onSecondStop: (Int32) -> Never
    ) -> Never {
        var set = set
        var isStopping = false
        while true {
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            if number == SIGHUP {
                onReload()
            } else if isStopping {
                onSecondStop(number)
            } else {
                isStopping = true
                onStop()
            }
        }
    }
}
