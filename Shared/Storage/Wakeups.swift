package import Effects
import Primitives

/// Runs a body now and then: at once, at every nudge, and at least once per interval. Nudges that come
/// while the body runs are one nudge.
package final class Wakeups: Sendable {
    private let signals: AsyncStream<Void>
    private let source: AsyncStream<Void>.Continuation

    package init() {
        (signals, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func nudge() { source.yield() }

    /// Lets `run` return once its body has.
    package func finish() { source.finish() }

    /// Returns when finished or cancelled. May be called once.
    package func run(
        every interval: Duration, _ pause: any Pause, _ body: () async -> Void
    ) async {
        nudge()
        await withTaskGroup { group in
            group.addTask { [source] in
                while !Task.isCancelled {
                    do throws(CancellationError) { try await pause.wait(interval) } catch { return }
                    source.yield()
                }
            }
            for await _ in signals { await body() }
            group.cancelAll()
        }
    }
}

/// A part that repeats one short piece of work: a sweep, a look at pending answers.
package struct Periodic: DaemonPart {
    package let name: String
    private let interval: Duration
    private let pause: any Pause
    private let body: @Sendable () async -> Void
    private let wakeups = Wakeups()

    /// - Parameter body: at start and then every `interval`; logs its own failures.
    package init(
        _ name: String, every interval: Duration, pause: any Pause,
        _ body: @escaping @Sendable () async -> Void
    ) {
        self.name = name
        self.interval = interval
        self.pause = pause
        self.body = body
    }

    package func run() async throws { await wakeups.run(every: interval, pause, body) }
    package func drain() async { wakeups.finish() }
}

/// Removes rows whose time is over, a few at a time so that decisions come in between.
package struct Sweeper: DaemonPart {
    /// Rows per table and round; a full round is followed by the next one after `shortPause`.
    package static let roundMax = 200
    package static let shortPause = Duration.milliseconds(20)
    package static let interval = Duration.seconds(60)

    package let name = "sweeper"
    private let store: any Store
    private let clock: any WallClock
    private let pause: any Pause
    private let log: Log
    private let interval: Duration
    private let wakeups = Wakeups()

    package init(
        store: any Store, clock: any WallClock, pause: any Pause, log: Log = .silent,
        interval: Duration = Self.interval
    ) {
        self.store = store
        self.clock = clock
        self.pause = pause
        self.log = log
        self.interval = interval
    }

    package func run() async throws {
        await wakeups.run(every: interval, pause) { await sweep() }
    }

    package func drain() async { wakeups.finish() }

    private func sweep() async {
        do throws(ServiceFailure) {
            while try await store.sweep(now: clock.now(), limit: Self.roundMax) >= Self.roundMax {
                do throws(CancellationError) {
                    try await pause.wait(Self.shortPause)
                } catch {
                    return
                }
            }
        } catch {
            log.warning("sweep failed", ["reason": LogValue(error.code)])
        }
    }
}
