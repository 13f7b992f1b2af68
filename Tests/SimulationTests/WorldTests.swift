import Bus
import Effects
import Messages
import Primitives
import SimulationKit
import TestKit
import Testing

@Suite("A world is one number")
struct WorldTests {
    /// Echo workers behind a rough network; every reply must be the caller's own.
    private func run(seed: UInt64) -> (digest: UInt64, violations: [Violation]) {
        let world = World(seed: seed)
        guard let person = Principal(roles: .operator, name: "op") else { return (0, []) }
        let violations = world.run {
            await withTaskGroup(of: Void.self) { group in
                for host in ["a", "b"] {
                    var table = HandlerTable()
                    table.on(EchoText.self) { request, _ in
                        world.note("\(host) has \(request.text)")
                        try? await world.clock.wait(.milliseconds(2))
                        return EchoedText(text: request.text)
                    }
                    let worker = BusWorker(
                        table,
                        identity: BusWorker.Identity(
                            daemon: "echo", instanceID: host, version: "1.0.0"),
                        listener: world.bus.listener(host: host), clock: world.clock,
                        pause: world.clock)
                    group.addTask { try? await worker.run() }
                }
                await withTaskGroup(of: Void.self) { callers in
                    for number in 0..<6 {
                        callers.addTask {
                            let caller = world.caller(as: person)
                            for round in 0..<4 {
                                let text = "\(number)/\(round)"
                                let reply = try? await caller.call(EchoText(text: text))
                                world.note("\(text) → \(reply?.text ?? "nothing")")
                                if let reply, reply.text != text {
                                    world.violate("S8", "a reply of somebody else")
                                }
                            }
                        }
                    }
                }
                group.cancelAll()
            }
        }
        return (world.eventDigest, violations)
    }

    @Test("the same seed gives the same events, another seed others")
    func repeatable() {
        let first = run(seed: 7)
        #expect(run(seed: 7).digest == first.digest)
        #expect(run(seed: 8).digest != first.digest)
    }

    @Test("no run of these seeds breaks a rule or gets stuck")
    func manySeeds() {
        for seed in 0..<60 {
            let (_, violations) = run(seed: UInt64(seed))
            #expect(violations.isEmpty, "seed=\(seed) \(violations)")
        }
    }

    @Test("a run in which everything waits for ever says so")
    func stuck() {
        let world = World(seed: 1, plan: .calm)
        let violations = world.run {
            await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
        }
        #expect(violations.first?.rule == "L1")
    }
}
