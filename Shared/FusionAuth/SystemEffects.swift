import Foundation

/// Time passes; the tests' passes when they say so.
package protocol FusionAuthPause: Sendable {
    func pause(for duration: Duration) async throws
}

struct SystemPause: FusionAuthPause {
    /// Goes on while the handset sleeps: a token expires then too.
    func pause(for duration: Duration) async throws {
        try await Task.sleep(for: duration, clock: .continuous)
    }
}

/// Runs one piece of work after another, never within the call that hands it over.
package protocol CallbackExecutor: Sendable {
    func run(_ work: @escaping @Sendable () -> Void)
}

extension OperationQueue: CallbackExecutor {
    package func run(_ work: @escaping @Sendable () -> Void) { addOperation(work) }
}

/// A thread for each piece of work, for work that may wait. What is handed over while `threadsMax`
/// of them wait already is not done.
package final class ThreadExecutor: CallbackExecutor {
    private let threadsMax: Int
    private let running = Guarded(0)

    package init(threadsMax: Int) { self.threadsMax = threadsMax }

    package func run(_ work: @escaping @Sendable () -> Void) {
        let isFree = running.with { count in
            guard count < threadsMax else { return false }
            count += 1
            return true
        }
        guard isFree else { return }
        let thread = Thread { [running] in
            work()
            running.with { $0 -= 1 }
        }
        thread.name = "fusion-auth.token"
        thread.start()
    }
}

enum SystemEffects {
    static func keyPrefix() -> String { "sdk-\(UUID().uuidString.lowercased())" }

    static func callbackQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "fusion-auth.callbacks"
        queue.maxConcurrentOperationCount = 1
        return queue
    }
}

/// What the SDK does besides deciding: tasks that wait for the network, the carrier or the time. The
/// only place that makes any.
final class EffectRunner: Sendable {
    private struct Running: Sendable {
        var tasks: [Int: Task<Void, Never>] = [:]
        var count = 0
        var isOpen = true
    }
    private let running = Guarded(Running())

    func run(_ work: @escaping @Sendable () async -> Void) {
        running.with { running in
            guard running.isOpen else { return }
            running.count += 1
            let id = running.count
            running.tasks[id] = Task { [weak self] in
                await work()
                self?.running.with { $0.tasks[id] = nil }
            }
        }
    }

    /// Of its own; the end does not cancel it.
    func runApart(_ work: @escaping @Sendable () async -> Void) {
        Task { await work() }
    }

    func end() {
        let tasks = running.with { running in
            running.isOpen = false
            defer { running.tasks = [:] }
            return Array(running.tasks.values)
        }
        for task in tasks { task.cancel() }
    }
}

/// Callbacks, one at a time and in order, on whatever queue the app chose, even a concurrent one.
final class Mailbox: Sendable {
    private struct Waiting: Sendable {
        var works: [@Sendable () -> Void] = []
        var isDraining = false
        var isOpen = true
    }
    private let executor: any CallbackExecutor
    private let waiting = Guarded(Waiting())

    init(_ executor: any CallbackExecutor) { self.executor = executor }

    func put(_ work: @escaping @Sendable () -> Void) {
        let mustStart = waiting.with { waiting in
            guard waiting.isOpen else { return false }
            waiting.works.append(work)
            defer { waiting.isDraining = true }
            return !waiting.isDraining
        }
        if mustStart { executor.run { self.drain() } }
    }

    /// Nothing that still waits is delivered.
    func end() {
        waiting.with { waiting in
            waiting.isOpen = false
            waiting.works = []
        }
    }

    private func drain() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        waiting.with { waiting in
            guard !waiting.works.isEmpty else {
                waiting.isDraining = false
                return nil
            }
            return waiting.works.removeFirst()
        }
    }
}
