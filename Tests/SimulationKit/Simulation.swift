import Bus
import Effects
import Messages
import Primitives
import TestKit

/// One whole run: chaos, heal, settle, then the checks that need quiet.
package enum Simulation {
    package struct Outcome: Sendable {
        package let seed: UInt64
        package let violations: [Violation]
        package let digest: UInt64
        package let lastEvents: [String]
        /// How often each thing happened that a rule looks at.
        package let tally: [String: Int]
    }

    package static func run(
        seed: UInt64, plan: FaultPlan? = nil, plant: Plant = .none
    ) -> Outcome {
        let world = World(seed: seed, plan: plan)
        let house = House(world, plant: plant)
        let violations = world.run { await drive(house) }
        return Outcome(
            seed: seed, violations: violations, digest: world.eventDigest,
            lastEvents: world.lastEvents, tally: world.tally)
    }

    private static func drive(_ house: House) async {
        let world = house.world
        let answers = AnswerBook()
        house.startAll()
        guard let schemeCode = await makeScheme(Person(house, answers)) else {
            return world.violate("L1", "no scheme could be made")
        }
        let workloads = Workloads(house: house, answers: answers, schemeCode: schemeCode)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await workloads.guess("+8613800000001") }
            group.addTask { await workloads.flood("+8613800000002") }
            group.addTask { _ = await workloads.login("+8613800000003", device: "device-3") }
            group.addTask { _ = await workloads.login("+8613800000004", device: "device-4") }
            group.addTask { await workloads.mustBeRemembered("+8613800000005") }
            group.addTask { await crashSome(house) }
        }
        world.weather.heal()
        for room in House.Room.allCases {
            house.restart(room, "1")
            house.restart(room, "2")
        }
        if await !workloads.login("+8613800000006", device: "device-6") {
            world.violate("L6", "after healing a user with the right code could not log in")
        }
    }

    private static func crashSome(_ house: House) async {
        let world = house.world
        for _ in 0..<world.plan.crashesMax {
            let wait = Int64(200 + world.workload.uniform(below: 3_000))
            do { try await world.clock.wait(.milliseconds(wait)) } catch { return }
            let rooms = House.Room.allCases
            let room = rooms[Int(world.workload.uniform(below: UInt32(rooms.count)))]
            let slot = world.workload.uniform(below: 2) == 0 ? "1" : "2"
            house.restart(room, slot)
        }
    }

    private static func makeScheme(_ person: Person) async -> String? {
        let create = CreateScheme(
            name: "world", owner: "operator", app: AppIdentity(iosBundleId: "com.example.app"))
        guard case .success(let scheme) = await person.ask(create, key: "scheme") else {
            return nil
        }
        return scheme.schemeCode
    }
}
