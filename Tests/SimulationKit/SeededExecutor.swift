import Effects
import Primitives
package import TestKit

/// Runs the jobs of a whole world on one thread, the next one picked at random among the ready.
///
/// Default actors, task groups, streams and continuations of a task with this preference all run
/// here, so
/// that one seed makes one order.
package final class SeededExecutor: TaskExecutor, @unchecked Sendable {
    private let random: SeededRandom
    private let ready = Lock<[UnownedJob]>([])

    package init(random: SeededRandom) { self.random = random }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ready.withLock { $0.append(job) }
    }

    /// Runs until no job is ready. - Returns: how many ran; `jobsMax` bounds a livelock.
    package func runReady(jobsMax: Int) -> Int {
        var count = 0
        while count < jobsMax {
            let job = ready.withLock { ready -> UnownedJob? in
                guard !ready.isEmpty else { return nil }
                let index = Int(random.uniform(below: UInt32(ready.count)))
                ready.swapAt(index, ready.count - 1)
                return ready.removeLast()
            }
            guard let job else { return count }
            job.runSynchronously(on: asUnownedTaskExecutor())
            count += 1
        }
        return count
    }
}
