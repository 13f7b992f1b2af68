package import Primitives

/// Wall time. Decisions get its value; they never hold the clock.
package protocol WallClock: Sendable {
    func now() -> WallTime
}

/// Waiting, for shells. Simulated worlds move it by hand.
package protocol Pause: Sendable {
    /// Returns after `span`, or throws `CancellationError` at once when the task is cancelled.
    func wait(_ span: Duration) async throws(CancellationError)
    /// A steady instant, for measuring and for deadlines; its zero means nothing.
    func steadyNow() -> Duration
}
