import Effects
import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One piece of work for the writer's thread.
protocol StoreJob: AnyObject, Sendable {
    /// Inside the group's transaction; keeps its outcome until `answer`.
    func run(on file: SQLiteFile)
    /// After the commit, or with the problem that took the whole group back. Called once.
    func answer(_ problem: StoreProblem?)
}

/// The thread that owns the file. It takes everything that has arrived as one group, commits it, and only
/// then answers. No problem of the file ends it.
final class SQLiteWriter: @unchecked Sendable {
    private let mailbox: Mailbox<any StoreJob>
    private let limits: SQLiteLimits
    private let metrics: any Metrics
    /// Used by the thread alone once it runs.
    private var file: SQLiteFile?
    private var health: StoreHealth
    private let ending = Lock(Ending())

    private struct Ending {
        var isOver = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    init(
        _ file: SQLiteFile, limits: SQLiteLimits, metrics: any Metrics, log: Log
    ) throws(StoreProblem) {
        self.file = file
        health = StoreHealth(log: log)
        self.limits = limits
        self.metrics = metrics
        mailbox = Mailbox(countMax: limits.queueCountMax)
        try start()
    }

    func push(_ job: any StoreJob) -> Mailbox<any StoreJob>.Taken { mailbox.push(job) }

    /// Takes nothing new; the thread ends when everything taken is answered.
    func close() { mailbox.close() }

    /// Returns when the thread has closed the file.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let isOver = ending.withLock { ending in
                if !ending.isOver { ending.waiters.append(continuation) }
                return ending.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    // MARK: The thread

    private func start() throws(StoreProblem) {
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil, runSQLiteWriter, Unmanaged.passRetained(self).toOpaque())
        guard status == 0 else {
            Unmanaged.passUnretained(self).release()
            throw .other(status)
        }
        pthread_detach(thread)
    }

    fileprivate func run() {
        while mailbox.waitForItems() { runGroup() }
        file = nil
        let waiters = ending.withLock { ending in
            ending.isOver = true
            defer { ending.waiters = [] }
            return ending.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func runGroup() {
        guard let file else { return }
        do throws(StoreProblem) {
            try file.beginGroup()
        } catch {
            note(error)
            for job in mailbox.take(limits.groupCount) { job.answer(error) }
            return
        }
        let begunAt = steadyNanoseconds()
        var group: [any StoreJob] = []
        var problem: StoreProblem?
        while problem == nil, group.count < limits.groupCount, isWithinTime(since: begunAt) {
            // Few at a time, so that the time is looked at and newcomers join.
            let jobs = mailbox.take(min(limits.groupCount - group.count, Self.stride))
            if jobs.isEmpty { break }
            for job in jobs {
                if problem == nil { job.run(on: file) }
                if !file.connection.isInTransaction {
                    problem = problem ?? file.groupProblem ?? .diskFull
                }
            }
            group += jobs
        }
        do throws(StoreProblem) {
            if let problem { throw problem }
            try file.commitGroup()
        } catch {
            file.rollbackGroup()
            problem = error
        }
        note(problem ?? file.groupProblem, wasWritten: file.groupWrote)
        metrics.add(Int64(group.count), to: "store_decisions_total", labels: [])
        metrics.observe(Double(group.count), in: "store_group_decisions", labels: [])
        metrics.observe(
            Double(steadyNanoseconds() - begunAt) / 1e9, in: "store_group_seconds", labels: [])
        for job in group { job.answer(problem) }
    }

    /// Before the answers, so that who was answered finds it in the log.
    private func note(_ problem: StoreProblem?, wasWritten: Bool = false) {
        if let problem { metrics.count("store_problems_total", ("problem", problem.label)) }
        health.note(problem, wasWritten: wasWritten)
    }

    private static let stride = 16

    private func isWithinTime(since begunAt: Int64) -> Bool {
        steadyNanoseconds() - begunAt < SQLiteLimits.groupTimeMax.wholeMilliseconds * 1_000_000
    }
}

/// A free function: C must not be given a closure that could inherit an actor.
private func runSQLiteWriter(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    // Signals belong to the daemon's own thread.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    Unmanaged<SQLiteWriter>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
