package import Bus
import Effects
package import Primitives
package import TestKit

/// What went wrong in a run: the rule, the seed that shows it again, and a sentence.
package struct Violation: Error, CustomStringConvertible, Sendable {
    package let rule: String
    package let text: String
    package init(_ rule: String, _ text: String) {
        self.rule = rule
        self.text = text
    }
    package var description: String { "\(rule): \(text)" }
}

/// One seeded run: one executor, one clock, one bus, hosts that crash and come back on their disks.
///
/// The seed splits into independent streams, so that a draw more in one does not shift the others.
package final class World: Sendable {
    package static let jobsMax = 2_000_000
    package static let simulatedTimeMax = Duration.seconds(6 * 3600)

    package let seed: UInt64
    package let clock = SimClock()
    package let executor: SeededExecutor
    package let bus: InProcessBus
    package let weather: Weather
    package let plan: FaultPlan
    package let pump: RequestPump
    /// For drivers of the run: which user does what, when who crashes.
    package let workload: SeededRandom
    private let effects: SeededRandom
    private let violations = Lock<[Violation]>([])
    private let digest = Lock<UInt64>(0xcbf2_9ce4_8422_2325)
    private let events = Lock<[String]>([])
    private let tallies = Lock<[String: Int]>([:])

    package init(seed: UInt64, plan: FaultPlan? = nil) {
        self.seed = seed
        let root = SeededRandom(seed: seed)
        let streams = (0..<6).map { _ in SeededRandom(seed: root.next()) }
        executor = SeededExecutor(random: streams[0])
        self.plan = plan ?? FaultPlan.drawn(streams[1])
        weather = Weather(plan: self.plan, network: streams[2], storage: streams[3])
        workload = streams[4]
        effects = streams[5]
        pump = RequestPump(executor: executor)
        bus = InProcessBus(pause: clock, pump: pump, fates: weather)
    }

    /// Random bytes for one host's effects, a stream of its own.
    package func randomStream() -> SeededRandom { SeededRandom(seed: effects.next()) }

    package func caller(as principal: Principal, attemptsMax: Int = 4) -> LinkCaller {
        LinkCaller(
            link: bus.link(as: principal), pause: clock, random: randomStream(),
            retry: RetryPolicy(attemptsMax: attemptsMax))
    }

    /// Notes an event: it counts into the digest and stands in the ring of last events.
    package func note(_ text: String) {
        let line = "\(clock.steadyNow().wholeMilliseconds) ms \(text)"
        digest.withLock { digest in
            for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        events.withLock { events in
            events.append(line)
            if events.count > 400 { events.removeFirst(200) }
        }
    }

    package var eventDigest: UInt64 { digest.withLock { $0 } }
    package var lastEvents: [String] { events.withLock { $0 } }

    /// Counts that something worth checking really happened, so that a run that checks nothing shows.
    package func tally(_ what: String, _ count: Int) {
        note("\(what): \(count)")
        tallies.withLock { $0[what, default: 0] += count }
    }

    package var tally: [String: Int] { tallies.withLock { $0 } }

    package func violate(_ rule: String, _ text: String) {
        note("VIOLATION \(rule) \(text)")
        violations.withLock { $0.append(Violation(rule, text)) }
    }

    /// Runs `body` and everything it starts until it returns, in simulated time.
    /// - Returns: the violations found, a stuck or endless run among them.
    package func run(_ body: @escaping @Sendable () async -> Void) -> [Violation] {
        let isDone = Lock(false)
        pump.start {
            await body()
            isDone.withLock { $0 = true }
        }
        var jobs = 0
        while !isDone.withLock({ $0 }) {
            jobs += executor.runReady(jobsMax: Self.jobsMax)
            if isDone.withLock({ $0 }) { break }
            if jobs >= Self.jobsMax || clock.steadyNow() > Self.simulatedTimeMax {
                violate("L1", "the run does not end")
                break
            }
            if !clock.advanceToNextSleeper() {
                violate("L1", "everything waits and nothing will wake it")
                break
            }
        }
        return violations.withLock { $0 }
    }
}
