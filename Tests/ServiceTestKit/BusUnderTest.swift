package import Bus
package import Effects
import Messages
package import Primitives
package import TestKit

/// The bus of one test, over either transport. It opens with its first link or listener, and the
/// trait `closesBuses` of the suite closes it.
package final class BusUnderTest: Sendable {
    package let transport: TransportUnderTest
    private let clock: ManualClock
    private let inProcess: InProcessBus
    private let sockets = Lock<SocketBus?>(nil)

    package init(_ transport: TransportUnderTest, clock: ManualClock) {
        self.transport = transport
        self.clock = clock
        inProcess = InProcessBus(pause: clock)
    }

    /// The steady clock of callers: over sockets deadlines and backoffs take real time, while
    /// services stay on the manual clock.
    package var pause: any Pause { transport == .inProcess ? clock : SteadyPause() }

    package func link(as principal: Principal) -> any BusLink {
        switch transport {
        case .inProcess: inProcess.link(as: principal)
        case .sockets: open().link(as: principal)
        }
    }

    package func caller(
        _ principal: Principal, random: any RandomSource, retry: RetryPolicy = RetryPolicy()
    ) -> any BusCaller {
        let caller = LinkCaller(
            link: link(as: principal), pause: pause, random: random, retry: retry)
        return transport == .inProcess ? caller : PatientCaller(caller: caller)
    }

    /// - Parameter host: names the process, so that `crash` can take it away.
    package func listener(host: String) -> any BusListener {
        switch transport {
        case .inProcess: inProcess.listener(host: host)
        case .sockets: open().listener(host: host)
        }
    }

    /// The process is gone: its sockets are closed, what it would still answer is lost.
    package func crash(host: String) {
        switch transport {
        case .inProcess: inProcess.crash(host: host)
        case .sockets: sockets.withLock(\.self)?.crash(host: host)
        }
    }

    /// Runs `body` while `workers` serve; then they drain, as on SIGTERM. When `body` throws they
    /// are cancelled.
    package func serving<Output: Sendable>(
        _ workers: [BusWorker], _ body: () async throws -> Output
    ) async throws -> Output {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { try await worker.run() } }
            // A worker that had no time to start, or has a request in hand that waits for the
            // manual clock, ends by this.
            defer { group.cancelAll() }
            let output = try await body()
            if transport == .sockets { for worker in workers { await worker.drain() } }
            return output
        }
    }

    func close() async { await sockets.withLock(\.self)?.close() }

    private func open() -> SocketBus {
        sockets.withLock { sockets in
            if let sockets { return sockets }
            guard let opened = OpenedBuses.current else {
                preconditionFailure("the suite lacks the trait .closesBuses")
            }
            let bus = SocketBus.start()
            opened.add(self)
            sockets = bus
            return bus
        }
    }
}

/// A busy machine makes no test fail: real deadlines are long, whatever the method says.
private struct PatientCaller: BusCaller {
    private static let timeoutMin = Duration.seconds(30)
    let caller: LinkCaller

    func call<Request: BusRequest>(
        _ request: Request, _ options: CallOptions
    ) async throws(ServiceFailure) -> Request.Reply {
        var options = options
        options.timeout = max(options.timeout ?? .zero, Self.timeoutMin)
        return try await caller.call(request, options)
    }
}

/// The machine's steady clock.
package struct SteadyPause: Pause {
    private static let origin = ContinuousClock.now

    package init() {}

    package func wait(_ span: Duration) async throws(CancellationError) {
        do { try await Task.sleep(for: span) } catch { throw CancellationError() }
    }

    package func steadyNow() -> Duration { ContinuousClock.now - Self.origin }
}
