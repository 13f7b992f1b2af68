import Effects
import Primitives

/// What one worker of a load saw: times by call, and failures by reason.
struct LoadTape: Sendable {
    /// In the order in which the calls were first made.
    private(set) var calls: [(name: String, times: LatencyTape)] = []
    /// Of whole stories that went well.
    private(set) var whole = LatencyTape()
    private(set) var failures: [String: Int] = [:]

    mutating func add(_ name: String, _ span: Duration) {
        if let index = calls.firstIndex(where: { $0.name == name }) {
            calls[index].times.add(span)
        } else {
            var times = LatencyTape()
            times.add(span)
            calls.append((name, times))
        }
    }

    mutating func addWhole(_ span: Duration) { whole.add(span) }
    mutating func addFailure(_ reason: String) { failures[reason, default: 0] += 1 }

    mutating func add(_ other: LoadTape) {
        for call in other.calls {
            if let index = calls.firstIndex(where: { $0.name == call.name }) {
                calls[index].times.add(call.times)
            } else {
                calls.append(call)
            }
        }
        whole.add(other.whole)
        failures.merge(other.failures) { $0 + $1 }
    }

    var failedCount: Int { failures.values.reduce(0, +) }
}

/// A story being timed: each call by its name.
struct LoadTimer: Sendable {
    fileprivate let pause: any Pause
    fileprivate var spans: [(name: String, span: Duration)] = []
    fileprivate var outside = Duration.zero

    mutating func time<Value>(
        _ name: String, _ call: () async throws -> Value
    ) async throws -> Value {
        let began = pause.steadyNow()
        let value = try await call()
        spans.append((name, pause.steadyNow() - began))
        return value
    }

    /// For what the load itself must do in between, such as reading an SMS: no part of the story's time.
    mutating func leaveOut<Value>(_ call: () async throws -> Value) async throws -> Value {
        let began = pause.steadyNow()
        defer { outside += pause.steadyNow() - began }
        return try await call()
    }
}

/// Plays a story again and again, by many workers at once.
struct LoadRun: Sendable {
    typealias Story = @Sendable (inout LoadTimer) async throws -> Void

    /// How much is under way.
    enum Pressure: Sendable, Hashable {
        /// Each worker begins the next story when the last one has ended.
        case outstanding(Int)
        /// Stories begin on time, whatever became of those before; their time counts from then.
        case perSecond(Int)

        var name: String {
            switch self {
            case .outstanding(let count): "\(count) at once"
            case .perSecond(let rate): "\(rate)/s"
            }
        }
    }

    /// Not measured: connections open, caches fill.
    static let warmUp = Duration.seconds(1)

    let pressure: Pressure
    let span: Duration
    let pause: any Pause
    /// What a failure is called in the report.
    let reason: @Sendable (any Error) -> String
    /// Workers of a run that keeps its pace: as many stories may be late at once.
    var pacedWorkers = 256

    struct Report: Sendable {
        let pressure: Pressure
        let seconds: Double
        let tape: LoadTape
        var perSecond: Double { Double(tape.whole.count) / max(0.001, seconds) }
    }

    typealias Progress = @Sendable (_ second: Int, _ count: Int) -> Void

    /// - Parameter progress: told once a second how many stories were played in it.
    func run(_ story: @escaping Story, progress: Progress? = nil) async -> Report {
        let began = pause.steadyNow()
        let from = began + Self.warmUp
        let until = from + span
        let shared = LoadProgress(began: began, until: until)
        let tape = await withTaskGroup(of: LoadTape?.self) { group in
            for _ in 0..<workers {
                group.addTask { await work(story, shared, from: from, until: until) }
            }
            if let progress {
                group.addTask {
                    await tell(shared, until: until, progress)
                    return nil
                }
            }
            var sum = LoadTape()
            var ended = 0
            for await tape in group {
                guard let tape else { continue }
                sum.add(tape)
                ended += 1
                if ended == workers { group.cancelAll() }
            }
            return sum
        }
        return Report(pressure: pressure, seconds: span / .seconds(1), tape: tape)
    }

    private var workers: Int {
        switch pressure {
        case .outstanding(let count): count
        case .perSecond: pacedWorkers
        }
    }

    @concurrent
    private func work(
        _ story: Story, _ shared: LoadProgress, from: Duration, until: Duration
    ) async -> LoadTape {
        var tape = LoadTape()
        while let start = await shared.nextStart(pressure, pause) {
            var timer = LoadTimer(pause: pause)
            var problem: String?
            do { try await story(&timer) } catch { problem = reason(error) }
            let now = pause.steadyNow()
            shared.count()
            guard now >= from, now < until else { continue }
            for call in timer.spans { tape.add(call.name, call.span) }
            if let problem {
                tape.addFailure(problem)
            } else {
                tape.addWhole(now - start - timer.outside)
            }
        }
        return tape
    }

    private func tell(
        _ shared: LoadProgress, until: Duration, _ progress: Progress
    ) async {
        var second = 0
        while pause.steadyNow() < until {
            do { try await pause.wait(.seconds(1)) } catch { return }
            second += 1
            progress(second, shared.takeCount())
        }
    }
}

/// What the workers of a run share.
private final class LoadProgress: Sendable {
    private let began: Duration
    private let until: Duration
    private let state = Lock<(started: Int, counted: Int)>((0, 0))

    init(began: Duration, until: Duration) {
        self.began = began
        self.until = until
    }

    func count() { state.withLock { $0.counted += 1 } }

    func takeCount() -> Int {
        state.withLock { state in
            defer { state.counted = 0 }
            return state.counted
        }
    }

    /// When the next story should begin, once it is time for it; nil when the run is over.
    func nextStart(_ pressure: LoadRun.Pressure, _ pause: any Pause) async -> Duration? {
        var start = pause.steadyNow()
        if case .perSecond(let rate) = pressure {
            let number = state.withLock { state in
                defer { state.started += 1 }
                return state.started
            }
            start = began + .seconds(1) * number / rate
            while start < until, pause.steadyNow() < start {
                do throws(CancellationError) {
                    try await pause.wait(start - pause.steadyNow())
                } catch {
                    return nil
                }
            }
        }
        return start < until ? start : nil
    }
}
