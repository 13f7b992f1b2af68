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

    /// A daemon's exit status for: the home, a port or a key was not as it must be.
    private static let cannotStart: Int32 = 70

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
        await withDiscardingTaskGroup { group in
            for await event in events {
                tell(event)
                switch event {
                case .allReady where !wasReady:
                    wasReady = true
                    group.addTask { if await !allReady() { supervisor.drain() } }
                // The first start is watched: a taken port or a missing key will not mend itself.
                case .ended(let daemon, .exited(Self.cannotStart)) where !wasReady:
                    failed = failed ?? daemon
                    supervisor.drain()
                case .gaveUp(let daemon):
                    // A family without one of its members is not what was asked for.
                    failed = failed ?? daemon
                    supervisor.drain()
                default: break
                }
            }
            group.cancelAll()
        }
        return failed.map { .failed(daemon: $0) } ?? .drained
    }
}
