import SimulationKit
import Testing

@Suite("The whole house holds its rules in seeded worlds")
struct HouseTests {
    @Test("rough seeds break no rule, and really do what the rules look at")
    func roughSeeds() {
        var tally: [String: Int] = [:]
        for seed in 1...20 {
            let outcome = Simulation.run(seed: UInt64(seed))
            #expect(outcome.violations.isEmpty, "seed=\(seed) \(outcome.violations)")
            tally.merge(outcome.tally, uniquingKeysWith: +)
        }
        for what in [
            "wrong guesses evaluated", "sends accepted", "PASS given", "ends looked at again",
            "challenges looked for", "answers repeated",
        ] { #expect(tally[what, default: 0] > 5, "\(what) happened too seldom: \(tally)") }
    }

    @Test("a calm world does everything exactly once")
    func calm() {
        let outcome = Simulation.run(seed: 1, plan: .calm)
        #expect(outcome.violations.isEmpty, "\(outcome.violations)")
        #expect(outcome.tally["PASS given"] == 3)
        #expect(outcome.tally["wrong guesses evaluated"] == 5)
        #expect(outcome.tally["sends accepted"] == 1)
    }

    @Test("the same seed tells the same story")
    func repeatable() {
        #expect(Simulation.run(seed: 5).digest == Simulation.run(seed: 5).digest)
    }

    @Test(
        "a planted bug is found within ten seeds",
        arguments: Plant.allCases.filter { $0 != .none })
    func planted(_ plant: Plant) {
        let found = (1...10).contains { seed in
            !Simulation.run(seed: UInt64(seed), plant: plant).violations.isEmpty
        }
        #expect(found, "no rule noticed \(plant.rawValue)")
    }
}
