package import DaemonKit
import Glibc
import Primitives

/// The daemons of one home as children of this process.
package struct Family: Sendable {
    package enum End: Sendable {
        /// Every child was told to stop and has ended.
        case drained
        /// A child gave up before all were ready, so that nothing was left to do.
        case failed(daemon: String)
    }

    private let home: Home
    private let folder: String

    /// - Parameter folder: where the executables lie.
    package init(home: Home, folder: String = ToolProcess.folder) {
        self.home = home
        self.folder = folder
    }

    package func plans(_ daemons: [String]) throws(WiringProblem) -> [ChildPlan] {
        var plans: [ChildPlan] = []
        for daemon in daemons {
            let path = "\(folder)/\(daemon)"
            guard access(path, X_OK) == 0 else {
                throw WiringProblem("there is no \(path)", next: "swift build -c release")
            }
            plans.append(
                ChildPlan(
                    name: daemon, executable: path,
                    arguments: ["--home", home.path, "--die-with-parent"]))
        }
        return plans
    }

    /// Starts `plans` in order, calls `allReady` once, and returns when the last child has ended.
    ///
    /// - Parameter allReady: true stays up until a signal, false drains.
    package func run(
        _ plans: [ChildPlan], process: ToolProcess,
        tell: @escaping @Sendable (SupervisorEvent) -> Void,
        allReady: @escaping @Sendable () async -> Bool
    ) async -> End {
        let (supervisor, events) = Supervisor.events(plans)
        process.setStop { supervisor.drain() }
        defer { process.setStop(nil) }
        var failed: String?
        var wasReady = false
        var waiting: [String: PidFile] = [:]
        await withDiscardingTaskGroup { group in
            for await event in events {
                tell(event)
                note(event, &waiting)
                switch event {
                case .allReady where !wasReady:
                    wasReady = true
                    group.addTask { if await !allReady() { supervisor.drain() } }
                // A family without one of its members is not what was asked for: it drains.
                case .gaveUp(let daemon): failed = failed ?? daemon
                default: break
                }
            }
            group.cancelAll()
        }
        for file in waiting.values { file.release() }
        return failed.map { .failed(daemon: $0) } ?? .drained
    }

    /// Keeps a file for each daemon that is not there, so that `ps` can tell. The lock on it ends
    /// with this process.
    private func note(_ event: SupervisorEvent, _ waiting: inout [String: PidFile]) {
        switch event {
        case .willRestart(let daemon, _), .willRetry(let daemon, _):
            guard waiting[daemon] == nil else { return }
            // A home that cannot be written shows one line less; the family lives on.
            let file = try? PidFile.acquire(home.waitingFile(daemon))
            file?.mark(.waiting)
            waiting[daemon] = file
        case .ready(let daemon): waiting.removeValue(forKey: daemon)?.release()
        default: break
        }
    }
}
