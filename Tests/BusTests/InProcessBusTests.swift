import Bus
import Effects
import Messages
import Primitives
import TestKit
import Testing

/// Requests in the order they arrived, each held until released.
private actor Gate {
    private var arrived: [String] = []
    private var held: [CheckedContinuation<Void, Never>] = []
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func hold(_ text: String) async {
        arrived.append(text)
        let ready = waiters.filter { $0.count <= arrived.count }
        waiters.removeAll { $0.count <= arrived.count }
        for waiter in ready { waiter.continuation.resume() }
        await withCheckedContinuation { held.append($0) }
    }

    func waitUntil(arrivedCount count: Int) async {
        if arrived.count >= count { return }
        await withCheckedContinuation { waiters.append((count, $0)) }
    }

    func releaseAll() {
        let all = held
        held = []
        for continuation in all { continuation.resume() }
    }
}

@Suite("The in-process bus keeps the contract of the real one")
struct InProcessBusTests {
    private let clock = ManualClock()
    private let operatorPrincipal = Principal(roles: .operator, name: "op")

    private func worker(
        _ bus: InProcessBus, host: String = "a", _ table: HandlerTable, credit: Int = 64
    ) -> (BusWorker, any BusListener) {
        let listener = bus.listener(host: host)
        return (
            BusWorker(
                table,
                identity: BusWorker.Identity(daemon: "echo", instanceID: host, version: "1.0.0"),
                listener: listener, clock: clock, pause: clock, credit: credit), listener
        )
    }

    private func caller(_ bus: InProcessBus, seed: UInt64 = 1) throws -> LinkCaller {
        LinkCaller(
            link: bus.link(as: try #require(operatorPrincipal)), pause: clock,
            random: SeededRandom(seed: seed), retry: RetryPolicy(attemptsMax: 1))
    }

    @Test("a typed call goes and comes back; ping, info and stats answer under each name")
    func call() async throws {
        let bus = InProcessBus(pause: clock)
        var table = HandlerTable()
        table.on(EchoText.self) { request, _ in EchoedText(text: request.text) }
        let (worker, _) = worker(bus, table)
        let caller = try caller(bus)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.run() }
            let echoed = try await caller.call(EchoText(text: "grüße"))
            #expect(echoed.text == "grüße")
            let ping = await caller.callRaw(
                method: "echo.ping", service: "echo@a",
                body: Array(#"{"jsonrpc":"2.0","id":1,"method":"echo.ping"}"#.utf8), CallOptions())
            #expect(ping.status == .ok)
            await worker.drain()
            try await group.waitForAll()
        }
    }

    @Test("nobody there: the request waits, then fails; nothing hangs")
    func absent() async throws {
        let bus = InProcessBus(pause: clock)
        let caller = try caller(bus)
        let clock = clock
        async let failure = #expect(throws: ServiceFailure.self) {
            try await caller.call(EchoText(text: ""), CallOptions(timeout: .seconds(20)))
        }
        while clock.sleepersCount < 2 { await Task.yield() }
        clock.advance(.seconds(5))
        #expect(await failure?.code == .unavailable)
    }

    @Test("a worker that dies with a request in hand: the request goes to another one, once")
    func requeue() async throws {
        let bus = InProcessBus(pause: clock)
        let caller = try caller(bus)
        let (gateA, gateB) = (Gate(), Gate())
        func table(_ name: String, _ gate: Gate) -> HandlerTable {
            var table = HandlerTable()
            table.on(EchoText.self) { request, context in
                await gate.hold(request.text)
                return EchoedText(text: "\(name) \(context.attempt)")
            }
            return table
        }
        let (first, _) = worker(bus, host: "a", table("a", gateA))
        let (second, _) = worker(bus, host: "b", table("b", gateB))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            async let reply = caller.call(EchoText(text: "x"))
            await gateA.waitUntil(arrivedCount: 1)
            group.addTask { try await second.run() }
            bus.crash(host: "a")
            await gateB.waitUntil(arrivedCount: 1)
            await gateA.releaseAll()
            await gateB.releaseAll()
            let text = try await reply.text
            #expect(text == "b 2")
            group.cancelAll()
        }
    }

    @Test("a lost reply ends in a deadline, a doubled one in a single answer")
    func fates() async throws {
        struct Lossy: MessageFates {
            func request(service: String) -> MessageFate {
                MessageFate(arrivals: [.zero, .zero])
            }
            func reply(service: String) -> MessageFate { MessageFate(arrivals: [.zero, .zero]) }
        }
        let bus = InProcessBus(pause: clock, fates: Lossy())
        var table = HandlerTable()
        let calls = Lock(0)
        table.on(EchoText.self) { request, _ in
            calls.withLock { $0 += 1 }
            return EchoedText(text: request.text)
        }
        let (worker, _) = worker(bus, table)
        let caller = try caller(bus)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.run() }
            let echoed = try await caller.call(EchoText(text: "once"))
            #expect(echoed.text == "once")
            while calls.withLock({ $0 }) < 2 { await Task.yield() }
            group.cancelAll()
        }
    }

    @Test("cancelling the caller ends the call at once")
    func cancellation() async throws {
        let bus = InProcessBus(pause: clock)
        let caller = try caller(bus)
        let outcome = await withTaskGroup(of: ErrorCode?.self) { group in
            group.addTask {
                do throws(ServiceFailure) {
                    _ = try await caller.call(EchoText(text: ""))
                    return nil
                } catch {
                    return error.code
                }
            }
            group.cancelAll()
            return await group.next() ?? nil
        }
        #expect(outcome == .unavailable)
    }
}
