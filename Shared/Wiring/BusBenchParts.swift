import Bus
import DaemonKit
import Effects
import FoundationEssentials
import Glibc
import Majordomo
import Messages
import Primitives
import ZeroMQTransport

/// One process of the bus benchmark: a broker, a worker or a client. `BusBench` starts them.
package enum BusBenchParts {
    /// The first word of a command line that is one of these.
    package static let word = "bench-part"

    enum Kind: String, CaseIterable {
        /// Opaque bodies on the socket threads: what the bus itself costs.
        case opaque
        /// Opaque bodies through the async library, a task for each call.
        case tasks
        /// Codable JSON, decoded and encoded in the handler, typed calls.
        case json
    }

    struct Report: Codable {
        let count: Int
        let failedCount: Int
        let perSecond: Double
        let p50Microseconds: Int64
        let p99Microseconds: Int64
    }

    /// - Parameter words: role, then what the role needs; `BusBench` writes them.
    package static func run(_ words: [String]) async -> Int32 {
        followParent()
        do {
            switch words.first {
            case "broker": try await broker(words)
            case "worker": try await worker(words)
            case "client": try await client(words)
            default: return 64
            }
            return 0
        } catch {
            ToolProcess.writeError("\(error)\n")
            return 1
        }
    }

    private static func word(_ words: [String], _ index: Int) throws -> String {
        guard words.indices.contains(index) else {
            throw WiringProblem("a word of the command line is missing")
        }
        return words[index]
    }

    // MARK: Broker

    private static func broker(_ words: [String]) async throws {
        let all = [NamePattern.all]
        guard let principal = Principal(roles: [.operator, .service], name: "bench") else { return }
        let grant = BrokerGrant(principal: principal, call: all, serve: all)
        let server = try BusBenchmark.startBroker(
            ipcPath: try word(words, 1), policy: BrokerPolicy([.user(geteuid()): grant]),
            spinMicroseconds: 100, context: ZeroMQContext())
        ToolProcess.writeOut("endpoint \(server.tcpEndpoint ?? "none")\n")
        tellReady()
        await untilStopped()
        server.stop()
    }

    // MARK: Worker

    private static func worker(_ words: [String]) async throws {
        let endpoint = BrokerEndpoint(address: try word(words, 1))
        let thread = try SocketThread(ZeroMQContext())
        switch Kind(rawValue: try word(words, 2)) {
        case .opaque:
            BusBenchmark.serveInline(endpoint, thread: thread)
            tellReady()
            await untilStopped()
        case .tasks:
            tellReady()
            try await BusBenchmark.serveWithTasks([endpoint], thread: thread)
        case .json:
            var table = HandlerTable()
            table.on(EchoText.self) { request, _ in EchoedText(text: request.text) }
            let worker = BusWorker(
                table,
                identity: BusWorker.Identity(
                    daemon: "bench", instanceID: "bench", version: "1.0.0"),
                listener: ZeroMQListener([endpoint], thread: thread), clock: SystemWallClock(),
                pause: SystemPause(), credit: ServiceRegistration.creditMax)
            tellReady()
            try await worker.run()
        case nil: throw WiringProblem("no such kind of body")
        }
    }

    // MARK: Client

    private static func client(_ words: [String]) async throws {
        let endpoint = BrokerEndpoint(address: try word(words, 1))
        guard let kind = Kind(rawValue: try word(words, 2)),
            let outstanding = Int(try word(words, 3)), let seconds = Double(try word(words, 4))
        else { throw WiringProblem("a client takes kind, outstanding and seconds") }
        let thread = try SocketThread(ZeroMQContext())
        let caller = LinkCaller(
            link: ZeroMQLink([endpoint], thread: thread), pause: SystemPause(),
            random: ToolRandom.source)
        let measure: @Sendable (Int) async -> Report = { count in
            switch kind {
            case .opaque:
                report(
                    await BusBenchmark.callInline(
                        endpoint, thread: thread, outstanding: outstanding, count: count))
            case .tasks:
                report(
                    await BusBenchmark.callWithTasks(
                        [endpoint], thread: thread, outstanding: outstanding, count: count))
            case .json: await JSONCalls.measure(caller, outstanding: outstanding, count: count)
            }
        }
        // A short run tells how many calls fill the time.
        let trial = await measure(max(500, outstanding * 20))
        let result = await measure(max(1_000, Int(trial.perSecond * seconds)))
        let text = try JSONEncoder().encode(result)
        ToolProcess.writeOut("report \(String(decoding: text, as: UTF8.self))\n")
        thread.stop()
    }

    private static func report(_ result: BusBenchmark.Result) -> Report {
        Report(
            count: result.count, failedCount: result.failedCount, perSecond: result.perSecond,
            p50Microseconds: result.latencyMicroseconds(0.5),
            p99Microseconds: result.latencyMicroseconds(0.99))
    }

    // MARK: -

    /// How often a part looks whether the benchmark that started it still lives.
    private static let parentLook = Duration.seconds(1)

    private static func followParent() {
        let parent = getppid()
        Task.detached {
            while getppid() == parent { try await SystemPause().wait(parentLook) }
            _exit(1)
        }
    }

    private static func tellReady() {
        guard let text = Daemon.processEnvironment()[Daemon.readyVariable],
            let descriptor = Int32(text)
        else { return }
        _ = write(descriptor, "ready\n", 6)
        close(descriptor)
    }

    /// The supervisor ends these processes by SIGTERM, which the tool's main thread handles.
    private static func untilStopped() async {
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
    }
}

/// Typed calls, `outstanding` tasks at once.
private enum JSONCalls {
    @concurrent
    static func measure(
        _ caller: LinkCaller, outstanding: Int, count: Int
    ) async -> BusBenchParts.Report {
        let pause = SystemPause()
        let began = pause.steadyNow()
        let (latencies, failed) = await withTaskGroup(of: ([Int64], Int).self) { group in
            for task in 0..<outstanding {
                let share = count / outstanding + (task < count % outstanding ? 1 : 0)
                group.addTask { await calls(caller, share) }
            }
            return await group.reduce(into: ([Int64](), 0)) { sum, part in
                sum.0 += part.0
                sum.1 += part.1
            }
        }
        let seconds = Double((pause.steadyNow() - began).wholeMilliseconds) / 1_000
        let ordered = latencies.sorted()
        func share(_ part: Double) -> Int64 {
            ordered.isEmpty ? 0 : ordered[Int(Double(ordered.count - 1) * part)]
        }
        return BusBenchParts.Report(
            count: count, failedCount: failed, perSecond: Double(count) / max(0.001, seconds),
            p50Microseconds: share(0.5), p99Microseconds: share(0.99))
    }

    private static func calls(_ caller: LinkCaller, _ count: Int) async -> ([Int64], Int) {
        let pause = SystemPause()
        let request = EchoText(text: String(repeating: "x", count: 100))
        var latencies: [Int64] = []
        var failed = 0
        for _ in 0..<count {
            let began = pause.steadyNow()
            do throws(ServiceFailure) {
                _ = try await caller.call(request, CallOptions(timeout: .seconds(30)))
            } catch {
                failed += 1
            }
            let (seconds, attoseconds) = (pause.steadyNow() - began).components
            latencies.append(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        }
        return (latencies, failed)
    }
}
