import Effects
package import Primitives

/// Simulated time: it stands still while jobs are ready, then jumps to the next sleeper.
package final class SimClock: Pause, WallClock {
    private struct Sleeper: Sendable {
        let number: Int
        let wakesAt: Duration
        let continuation: CheckedContinuation<Void, Never>
    }
    private struct State: Sendable {
        var now: Duration = .zero
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextNumber = 0
    }
    private let state = Lock(State())
    private let epoch = WallTime(millisecondsSince1970: 1_800_000_000_000)

    package init() {}

    package func steadyNow() -> Duration { state.withLock { $0.now } }
    package func now() -> WallTime { epoch + steadyNow() }

    package func wait(_ span: Duration) async throws(CancellationError) {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.cancelled.remove(number) != nil { return true }
                    state.sleepers.append(
                        Sleeper(
                            number: number, wakesAt: state.now + max(span, .zero),
                            continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume()
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Jumps to the next sleeper and wakes all of that instant. - Returns: false when nobody
    /// sleeps.
    func advanceToNextSleeper() -> Bool {
        let woken = state.withLock { state -> [Sleeper] in
            guard let next = state.sleepers.map(\.wakesAt).min() else { return [] }
            state.now = max(state.now, next)
            let due = state.sleepers.filter { $0.wakesAt <= state.now }
            state.sleepers.removeAll { $0.wakesAt <= state.now }
            return due.sorted { $0.number < $1.number }
        }
        for sleeper in woken { sleeper.continuation.resume() }
        return !woken.isEmpty
    }
}

/// A host's own wall clock: the world's time, shifted.
package struct SkewedClock: WallClock {
    let clock: SimClock
    let skew: Duration
    package func now() -> WallTime { clock.now() + skew }
}
