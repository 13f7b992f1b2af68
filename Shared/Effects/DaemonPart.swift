/// A long-running part of a daemon: a bus worker, an outbox pump, a sweeper.
package protocol DaemonPart: Sendable {
    /// For log lines and readiness.
    var name: String { get }
    /// Runs until cancelled or drained. Returning early ends the daemon.
    func run() async throws
    /// Takes nothing new, finishes what is in hand, and lets `run` return.
    func drain() async
}
