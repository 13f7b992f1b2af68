package import Bus
package import Effects
import Primitives
package import Storage
package import TestKit

/// Which faults a run meets, and how strong; drawn per run, so that quiet faults get their turn.
package struct FaultPlan: Sendable {
    /// All in 1/1000.
    package var drop: UInt32 = 0
    package var duplicate: UInt32 = 0
    package var storeRefuses: UInt32 = 0
    package var storeForgetsToSay: UInt32 = 0
    package var delayMax: Duration = .milliseconds(5)
    package var storeDelayMax: Duration = .milliseconds(3)
    package var crashesMax: UInt32 = 0

    package static let calm = FaultPlan()

    /// Some runs calm, some with one fault, some with all.
    package static func drawn(_ random: SeededRandom) -> FaultPlan {
        var plan = FaultPlan()
        func sometimes(_ max: UInt32) -> UInt32 {
            random.uniform(below: 2) == 0 ? 0 : random.uniform(below: max)
        }
        plan.drop = sometimes(150)
        plan.duplicate = sometimes(150)
        plan.storeRefuses = sometimes(50)
        plan.storeForgetsToSay = sometimes(50)
        plan.delayMax = .milliseconds(Int64(1 + sometimes(400)))
        plan.storeDelayMax = .milliseconds(Int64(1 + sometimes(50)))
        plan.crashesMax = sometimes(5)
        return plan
    }
}

/// Fates and store weather of one run. `heal` ends all faults.
package final class Weather: MessageFates {
    private let plan: FaultPlan
    private let network: SeededRandom
    private let storage: SeededRandom
    private let healed = Lock(false)

    init(plan: FaultPlan, network: SeededRandom, storage: SeededRandom) {
        self.plan = plan
        self.network = network
        self.storage = storage
    }

    package func heal() { healed.withLock { $0 = true } }
    private var isHealed: Bool { healed.withLock { $0 } }

    package func request(service: String) -> MessageFate { fate() }
    package func reply(service: String) -> MessageFate { fate() }

    private func fate() -> MessageFate {
        if isHealed { return MessageFate(arrivals: [.milliseconds(1)]) }
        if network.uniform(below: 1000) < plan.drop { return MessageFate(arrivals: []) }
        let copies = network.uniform(below: 1000) < plan.duplicate ? 2 : 1
        return MessageFate(arrivals: (0..<copies).map { _ in upTo(plan.delayMax, network) })
    }

    private func upTo(_ span: Duration, _ random: SeededRandom) -> Duration {
        .milliseconds(Int64(random.uniform(below: UInt32(span.wholeMilliseconds + 1))))
    }

    /// A store that takes time: handlers overlap only where something is slow.
    package func storeWeather(_ pause: any Pause) -> StoreWeather {
        StoreWeather(
            pause: pause,
            timeBefore: { [self] in upTo(plan.storeDelayMax, storage) },
            timeAfter: { [self] in upTo(plan.storeDelayMax, storage) },
            fault: { [self] in
                if isHealed { return .none }
                let draw = storage.uniform(below: 1000)
                if draw < plan.storeRefuses { return .beforeCommit }
                if draw < plan.storeRefuses + plan.storeForgetsToSay { return .afterCommit }
                return .none
            })
    }
}
