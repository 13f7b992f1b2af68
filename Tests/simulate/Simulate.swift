import Foundation
import SimulationKit

/// `simulate [--seeds N] [--first SEED] [--seed SEED] [--plant BUG]`: runs the whole house in
/// seeded worlds.
/// A failure prints one line that names the rule and the seed, and the command that shows it again.
@main enum Simulate {
    static func main() {
        exit(run(Array(CommandLine.arguments.dropFirst())))
    }
}

private struct Options {
    var seeds = 200
    var first: UInt64 = 1
    var single: UInt64?
    var plant = Plant.none

    init?(_ words: [String]) {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch word {
            case "--seeds":
                guard let number = Int(value), number > 0 else { return nil }
                seeds = number
            case "--first":
                guard let number = UInt64(value) else { return nil }
                first = number
            case "--seed":
                guard let number = UInt64(value) else { return nil }
                single = number
            case "--plant":
                guard let named = Plant(rawValue: value) else { return nil }
                plant = named
            default: return nil
            }
        }
    }
}

private func run(_ words: [String]) -> Int32 {
    guard let options = Options(words) else {
        let plants = Plant.allCases.map(\.rawValue).joined(separator: "|")
        say("usage: simulate [--seeds N] [--first SEED] [--seed SEED] [--plant \(plants)]")
        return 2
    }
    if let seed = options.single { return show(seed, options.plant) }
    var failed = 0
    let last = options.first + UInt64(options.seeds)
    for seed in options.first..<last {
        let outcome = Simulation.run(seed: seed, plant: options.plant)
        for violation in outcome.violations.prefix(1) {
            failed += 1
            say("\(violation.rule) seed=\(seed) plant=\(options.plant.rawValue): \(violation.text)")
            say("  again: swift run -c release simulate --seed \(seed)")
        }
        // A world is one number: every tenth seed runs twice and must tell the same story.
        if seed.isMultiple(of: 10) {
            let again = Simulation.run(seed: seed, plant: options.plant)
            if again.digest != outcome.digest {
                failed += 1
                say("determinism seed=\(seed): two runs of one seed differ")
            }
        }
        if seed.isMultiple(of: 50) { say("… seed \(seed), \(failed) failed") }
    }
    say("\(options.seeds) seeds, \(failed) failed")
    return failed == 0 ? 0 : 1
}

private func show(_ seed: UInt64, _ plant: Plant) -> Int32 {
    let outcome = Simulation.run(seed: seed, plant: plant)
    for event in outcome.lastEvents { say(event) }
    for violation in outcome.violations { say("\(violation)") }
    say("seed=\(seed) digest=\(outcome.digest) violations=\(outcome.violations.count)")
    return outcome.violations.isEmpty ? 0 : 1
}

private func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
