import Effects
import Primitives
import Storage

/// Removes rows that mean nothing any more: used nonces, ended tokens and keys, old answers and
/// versions.
struct TokenSweeper: DaemonPart {
    let name = "token sweep"
    private let service: TokenService
    private let isDraining = Lock(false)

    init(service: TokenService) { self.service = service }

    /// Ends with its task. A failed sweep is only tried again: rows past their end are judged so
    /// whether they are there or not.
    func run() async throws {
        while !isDraining.withLock(\.self) {
            try await service.pause.wait(.seconds(service.configuration.sweepIntervalSeconds))
            await sweep()
        }
    }

    func drain() async { isDraining.withLock { $0 = true } }

    private func sweep() async {
        do throws(ServiceFailure) {
            let count = try await service.store.sweep(
                now: service.clock.now(), limit: service.configuration.sweepRowsMax)
            if count > 0 {
                service.metrics.add(Int64(count), to: TokenSignals.rowsSwept, labels: [])
            }
        } catch {
            service.log.warning("sweep failed", [TokenSignals.Key.code: LogValue(error.code)])
        }
    }
}
