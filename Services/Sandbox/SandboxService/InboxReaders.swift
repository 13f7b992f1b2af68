import Effects
import Primitives

/// Readers that wait for an SMS to arrive, at most `readersMax` at once; further ones do not wait.
final class InboxReaders: Sendable {
    static let readersMax = 64

    private struct State {
        var nextNumber = 0
        var bells: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let pause: any Pause
    private let state = Lock(State())

    init(pause: any Pause) { self.pause = pause }

    var waitingCount: Int { state.withLock { $0.bells.count } }

    func wake() {
        let bells = state.withLock { $0.bells }
        for number in bells.keys.sorted() { bells[number]?.yield() }
    }

    /// Reads, again at every arrival until `isEnough` or the time is over.
    func wait<Value: Sendable>(
        upTo span: Duration, until isEnough: @escaping @Sendable () -> Bool,
        _ read: @escaping @Sendable () -> Value
    ) async -> Value {
        guard span > .zero, !isEnough(), let (number, arrivals) = enter() else { return read() }
        defer { leave(number) }
        await withTaskGroup { group in
            group.addTask { [pause] in try? await pause.wait(span) }
            group.addTask {
                // One may have arrived before the bell hung.
                guard !isEnough() else { return }
                for await _ in arrivals where isEnough() { return }
            }
            await group.next()
            group.cancelAll()
        }
        return read()
    }

    private func enter() -> (Int, AsyncStream<Void>)? {
        let (stream, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            guard state.bells.count < Self.readersMax else { return nil }
            state.nextNumber += 1
            state.bells[state.nextNumber] = bell
            return (state.nextNumber, stream)
        }
    }

    private func leave(_ number: Int) {
        state.withLock { $0.bells.removeValue(forKey: number) }?.finish()
    }
}
