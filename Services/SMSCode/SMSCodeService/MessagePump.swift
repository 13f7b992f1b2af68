import Effects
import Primitives
import Storage

/// The outbox of messages: leases due ones in one decision, hands each to the providers outside any
/// transaction, and writes down what came of it. Any number of instances work on one table.
struct MessagePump: DaemonPart {
    let name = "message outbox"
    private let service: SMSCodeService
    private let running = Lock((count: 0, isDraining: false))

    init(service: SMSCodeService) { self.service = service }

    func run() async throws {
        let service = service
        await withDiscardingTaskGroup { group in
            await service.outboxBell.run(
                every: service.configuration.outboxInterval, service.pause
            ) {
                for leased in await lease() {
                    group.addTask {
                        await service.deliver(leased)
                        leave()
                        service.outboxBell.nudge()
                    }
                }
            }
        }
    }

    /// Takes nothing new; `run` returns when what is in hand is settled.
    func drain() async {
        running.withLock { $0.isDraining = true }
        service.outboxBell.finish()
    }

    private func lease() async -> [SMSCodeService.Leased] {
        let room = running.withLock {
            $0.isDraining ? 0 : service.configuration.outboxParallel - $0.count
        }
        guard room > 0 else { return [] }
        do throws(ServiceFailure) {
            let leased = try await service.leaseDue(limit: room)
            running.withLock { $0.count += leased.count }
            return leased
        } catch {
            service.log.warning(
                "outbox not read", [SMSCodeSignals.failure: LogValue(error.code)])
            return []
        }
    }

    private func leave() { running.withLock { $0.count -= 1 } }
}
