import Primitives
package import Testing

/// Closes every bus that a test case opened: sockets, broker, folder. Lets few cases run at once,
/// so that each gets its share of the machine.
package struct ClosesBuses: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent
    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await Turnstile.cases.enter()
        defer { Turnstile.cases.leave() }
        let opened = OpenedBuses()
        do {
            try await OpenedBuses.$current.withValue(opened) { try await function() }
        } catch {
            await opened.closeAll()
            throw error
        }
        await opened.closeAll()
    }
}

extension Trait where Self == ClosesBuses {
    package static var closesBuses: Self { Self() }
}

final class OpenedBuses: Sendable {
    @TaskLocal static var current: OpenedBuses?
    private let buses = Lock<[BusUnderTest]>([])

    func add(_ bus: BusUnderTest) { buses.withLock { $0.append(bus) } }

    func closeAll() async {
        for bus in buses.withLock(\.self) { await bus.close() }
    }
}

/// Lets so many in at once, in order of coming.
private final class Turnstile: Sendable {
    static let cases = Turnstile(places: 4)

    private let state: Lock<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

    init(places: Int) { state = Lock((places, [])) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isIn = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isIn { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
