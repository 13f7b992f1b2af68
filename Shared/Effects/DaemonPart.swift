/// A long-running part of a daemon: a bus worker, an outbox pump, a sweeper.
package protocol DaemonPart: Sendable {
    /// For log lines and readiness.
    var name: String { get }
    /// Runs until cancelled or drained. Returning early ends the daemon.
    func run() async throws
    /// Takes nothing new, finishes what is in hand, and lets `run` return.
    func drain() async
    /// Returns once the part does its work (bound, registered, loaded); the daemon is ready when
    /// every part is. A part that cannot become ready throws from `run`.
    func waitUntilReady() async
}

extension DaemonPart {
    package func waitUntilReady() async {}
}
