import Bus
import Effects
import Messages
import Primitives

/// Lets delayed messages arrive and tells receipts, in the order in which they are due.
struct SandboxDelivery: DaemonPart {
    static let interval = Duration.milliseconds(50)
    /// Receipts told at once, and per look.
    static let parallelMax = 8
    static let batchMax = 512
    static let receiptTimeout = Duration.seconds(2)
    /// A receipt that could not be told is tried again so often.
    private static let triesMax = 3

    let name = "sandbox delivery"
    private let service: SandboxService
    private let isDraining = Lock(false)

    init(service: SandboxService) { self.service = service }

    func run() async throws {
        while !isDraining.withLock(\.self) {
            while await deliverDue() == Self.batchMax {}
            do throws(CancellationError) {
                try await service.pause.wait(Self.interval)
            } catch {
                return
            }
        }
    }

    func drain() async { isDraining.withLock { $0 = true } }

    /// - Returns: how many things happened.
    @discardableResult
    func deliverDue() async -> Int {
        let now = service.clock.now()
        let due = service.state.withLock { state in
            let due = state.due(at: now, limit: Self.batchMax)
            for item in due { if let arrival = item.arrival { state.arrive(arrival, at: now) } }
            return due
        }
        guard !due.isEmpty else { return 0 }
        service.readers.wake()
        await tell(due.compactMap(\.receipt), now)
        return due.count
    }

    private func tell(_ receipts: [SandboxState.Receipt], _ now: WallTime) async {
        await withTaskGroup { group in
            var rest = receipts[...]
            for receipt in rest.prefix(Self.parallelMax) {
                group.addTask { await tell(receipt, now) }
            }
            rest = rest.dropFirst(Self.parallelMax)
            while await group.next() != nil {
                guard let receipt = rest.popFirst() else { continue }
                group.addTask { await tell(receipt, now) }
            }
        }
    }

    private func tell(_ receipt: SandboxState.Receipt, _ now: WallTime) async {
        let report = ReceiveReceipt(
            reference: receipt.reference, delivered: receipt.delivered, reason: receipt.reason,
            atMilliseconds: now.millisecondsSince1970)
        for _ in 0..<Self.triesMax {
            do throws(ServiceFailure) {
                _ = try await service.bus.call(report, CallOptions(timeout: Self.receiptTimeout))
                return
            } catch {
                service.log.warning(
                    "receipt not told", ["failure.code": LogValue(error.code)])
            }
        }
    }
}
