package import Effects
import Primitives

/// What a daemon's parts are built from: everything that depends on the process and nothing on a
/// service.
package struct DaemonContext: Sendable {
    /// `fusion-smscode`.
    package let daemon: String
    package let version: String
    /// Names this instance among those of the daemon on this home: `1`, or what `--instance` says.
    package let instance: String
    package let home: Home
    package let configuration: ConfigurationSource
    package let log: Log
    package let metrics: any Metrics
    package let wallClock: any WallClock
    package let pause: any Pause
    package let hooks: DaemonHooks

    package var isProduction: Bool { configuration.isProduction }

    package init(
        daemon: String, version: String, instance: String, home: Home,
        configuration: ConfigurationSource, log: Log, metrics: any Metrics = NoMetrics(),
        wallClock: any WallClock = SystemWallClock(), pause: any Pause = SystemPause(),
        hooks: DaemonHooks = DaemonHooks()
    ) {
        self.daemon = daemon
        self.version = version
        self.instance = instance
        self.home = home
        self.configuration = configuration
        self.log = log
        self.metrics = metrics
        self.wallClock = wallClock
        self.pause = pause
        self.hooks = hooks
    }
}

/// Things to do at a reload (SIGHUP), and after the last part has ended.
package final class DaemonHooks: Sendable {
    package typealias Hook = @Sendable () async throws -> Void

    private struct State {
        var reloads: [(name: String, hook: Hook)] = []
        var closes: [(name: String, hook: Hook)] = []
    }

    private let state = Lock(State())

    package init() {}

    /// Runs at every SIGHUP, in the order of registration. One that throws is logged; the others
    /// still run.
    package func onReload(_ name: String, _ hook: @escaping Hook) {
        state.withLock { $0.reloads.append((name, hook)) }
    }

    /// Runs once when all parts have ended, in reverse order of registration: stores and sockets.
    package func onClose(_ name: String, _ hook: @escaping Hook) {
        state.withLock { $0.closes.append((name, hook)) }
    }

    func reload(_ log: Log) async {
        for (name, hook) in state.withLock({ $0.reloads }) {
            do {
                try await hook()
                log.info("reloaded", ["part": .text(name)])
            } catch {
                log.error("reload failed", ["part": .text(name), "error": .text("\(error)")])
            }
        }
    }

    func close(_ log: Log) async {
        for (name, hook) in state.withLock({ $0.closes }).reversed() {
            do {
                try await hook()
            } catch {
                log.error("close failed", ["part": .text(name), "error": .text("\(error)")])
            }
        }
    }
}
