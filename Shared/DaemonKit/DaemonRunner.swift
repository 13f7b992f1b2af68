import Effects
import Primitives

/// Exit statuses of a daemon. A supervisor restarts on `failed` and `drainTimedOut`; the others
/// mean that another try would end alike.
package enum DaemonExit: Int32, Sendable {
    case drained = 0
    /// A part failed, or returned before it was drained.
    case failed = 1
    case usage = 64
    /// The home, the pid file or a part's making failed.
    case cannotStart = 70
    case drainTimedOut = 75
    case configuration = 78
}

enum DaemonEvent: Sendable {
    case stop
    case reload
    case ready
    case ended(Int, failure: String?)
}

/// Runs the parts of one daemon: start together, ready together, drain in reverse order.
struct DaemonRunner: Sendable {
    let parts: [any DaemonPart]
    let log: Log
    let pause: any Pause
    let hooks: DaemonHooks
    let drainMax: Duration
    let onReady: @Sendable () -> Void
    let onDrain: @Sendable () -> Void
    /// Called when the drain's cap has passed; ends the process, since a stuck part cannot be left
    /// otherwise.
    let giveUp: @Sendable () -> Void

    /// - Parameter events: `stop` and `reload` come from outside through `inbox`.
    func run(
        _ events: AsyncStream<DaemonEvent>, _ inbox: AsyncStream<DaemonEvent>.Continuation
    ) async -> DaemonExit {
        var running = Array(repeating: true, count: parts.count)
        var exit = DaemonExit.drained
        var inputs = events.makeAsyncIterator()
        let parts = self.parts
        let status = await withTaskGroup(of: Void.self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask { inbox.yield(.ended(index, failure: await Self.run(part))) }
            }
            group.addTask {
                for part in parts { await part.waitUntilReady() }
                if !Task.isCancelled { inbox.yield(.ready) }
            }
            serving: while let event = await inputs.next() {
                switch event {
                case .ready:
                    onReady()
                case .reload:
                    await hooks.reload(log)
                case .stop:
                    break serving
                case .ended(let index, let failure):
                    running[index] = false
                    exit = .failed
                    tellEnd(of: parts[index], failure)
                    break serving
                }
            }
            onDrain()
            let (pause, drainMax, giveUp) = (pause, drainMax, giveUp)
            group.addTask {
                do throws(CancellationError) {
                    try await pause.wait(drainMax)
                    giveUp()
                } catch {}
            }
            for index in parts.indices.reversed() {
                await parts[index].drain()
                while running[index], let event = await inputs.next() {
                    guard case .ended(let ended, let failure) = event else { continue }
                    running[ended] = false
                    if failure != nil {
                        exit = .failed
                        tellEnd(of: parts[ended], failure)
                    }
                }
            }
            group.cancelAll()
            return exit
        }
        await hooks.close(log)
        return status
    }

    private static func run(_ part: any DaemonPart) async -> String? {
        do {
            try await part.run()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func tellEnd(of part: any DaemonPart, _ failure: String?) {
        if let failure {
            log.error("a part failed", ["part": .text(part.name), "error": .text(failure)])
        } else {
            log.error("a part ended by itself", ["part": .text(part.name)])
        }
    }
}
