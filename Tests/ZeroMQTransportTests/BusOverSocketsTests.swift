import Bus
import Glibc
import Majordomo
import Primitives
import Testing

@testable import ZeroMQTransport

/// Our client, broker and worker over real sockets of one process.
@Suite("Our client, broker and worker over sockets", .timeLimit(.minutes(1)))
struct BusOverSocketsTests {
    @Test("a request goes over ipc to a worker and its answer comes back, with who called")
    func echoOverIPC() async throws {
        let bus = try TestBus.start()
        try await bus.serving("echo") { worker in
            let reply = await worker.link.call("echo", Array("hello".utf8))
            #expect(reply.status == .ok)
            #expect(String(decoding: reply.body, as: UTF8.self) == "operator:owner hello")
        }
    }

    @Test("a request goes over tcp with CURVE")
    func echoOverCurve() async throws {
        let bus = try TestBus.start()
        try await bus.serving("echo") { worker in
            let thread = try SocketThread(bus.context)
            defer { thread.stop() }
            let link = ZeroMQLink([bus.tcp(bus.integrator)], thread: thread)
            let reply = await link.call("echo", Array("hello".utf8))
            #expect(String(decoding: reply.body, as: UTF8.self) == "integrator:shop hello")
        }
    }

    @Test("a stranger's key is refused, and its calls end as not allowed")
    func stranger() async throws {
        let bus = try TestBus.start()
        try await bus.serving("echo") { _ in
            let thread = try SocketThread(bus.context)
            defer { thread.stop() }
            let link = ZeroMQLink([bus.tcp(.generate())], thread: thread)
            let reply = await link.call("echo", [1], milliseconds: 10_000)
            #expect(reply.status == .notAllowed)
        }
        #expect(bus.server.refusedCount > 0)
    }

    @Test("a key may call what its role may, and loses it with the next message after a reload")
    func policy() async throws {
        let bus = try TestBus.start()
        try await bus.serving("echo") { _ in
            let thread = try SocketThread(bus.context)
            defer { thread.stop() }
            let link = ZeroMQLink([bus.tcp(bus.integrator)], thread: thread)
            #expect(await link.call("token", [1]).status == .notAllowed)
            #expect(await link.call("echo", [1]).status == .ok)
            bus.server.reload(TestBus.policy(bus.integrator, mayCall: []))
            #expect(await link.call("echo", [1]).status == .notAllowed)
        }
    }

    @Test("thousands of calls at once all come back with their own answer")
    func many() async throws {
        let bus = try TestBus.start()
        try await bus.serving("echo") { serving in
            let wrong = await withTaskGroup(of: Int.self) { group in
                for task in 0..<100 {
                    group.addTask {
                        var wrong = 0
                        for number in 0..<50 {
                            let text = "\(task)/\(number)"
                            let reply = await serving.link.call("echo", Array(text.utf8))
                            let answer = String(decoding: reply.body, as: UTF8.self)
                            if answer != "operator:owner \(text)" { wrong += 1 }
                        }
                        return wrong
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(wrong == 0)
        }
    }

    @Test("a cancelled call ends at once, and its late answer harms nobody")
    func cancellation() async throws {
        let bus = try TestBus.start()
        let gate = Gate()
        let slow: BusHandler = { _, _, body in
            if body == [0] { await gate.wait() }
            return BusReply(status: .ok, body: body)
        }
        try await bus.serving("echo", handler: slow) { serving in
            let call = Task { await serving.link.call("echo", [0], milliseconds: 60_000) }
            await gate.waitForVisitor()
            call.cancel()
            #expect(await call.value.status == .cancelled)
            gate.open()
            #expect(await serving.link.call("echo", [1]).body == [1])
        }
    }

    @Test("more than queue and window hold is refused at once as overloaded")
    func overload() async throws {
        var limits = BrokerLimits()
        limits.queuedPerServiceMax = 5
        let bus = try TestBus.start(limits: limits)
        let gate = Gate()
        let slow: BusHandler = { _, _, body in
            if body != [99] { await gate.wait() }
            return BusReply(status: .ok, body: body)
        }
        try await bus.serving("echo", credit: 2, handler: slow) { serving in
            // Answered: the worker is registered.
            #expect(await serving.link.call("echo", [99]).status == .ok)
            let replies = await withTaskGroup(of: BusReply.self) { group in
                for number in 0..<20 {
                    group.addTask { await serving.link.call("echo", [UInt8(number)]) }
                }
                var replies: [BusReply] = []
                while let reply = await group.next() {
                    replies.append(reply)
                    // 2 in hand and 5 waiting: the other 13 come back first.
                    if replies.count == 13 { gate.open() }
                }
                return replies
            }
            #expect(replies.prefix(13).allSatisfy { $0.status == .overloaded })
            #expect(replies.prefix(13).allSatisfy { $0.retryAfterMilliseconds == 100 })
            #expect(replies.dropFirst(13).allSatisfy { $0.status == .ok })
        }
    }

    @Test("a deadline ends the call, with or without an answer of the broker")
    func deadline() async throws {
        let bus = try TestBus.start()
        let gate = Gate()
        let never: BusHandler = { _, _, body in
            await gate.wait()
            return BusReply(status: .ok, body: body)
        }
        try await bus.serving("echo", handler: never) { serving in
            let reply = await serving.link.call("echo", [1], milliseconds: 100)
            #expect(reply.status == .deadlinePassed)
            gate.open()
        }
        let thread = try SocketThread(bus.context)
        defer { thread.stop() }
        let nobody = ZeroMQLink(
            [BrokerEndpoint(address: "ipc:///tmp/fusion-test-none.ipc")], thread: thread)
        #expect(await nobody.call("echo", [1], milliseconds: 50).status == .deadlinePassed)
    }

    @Test("a body above the bound is refused before it costs anything")
    func bodyBound() async throws {
        let bus = try TestBus.start()
        try await bus.serving("echo") { serving in
            let body = [UInt8](repeating: 0, count: (1 << 20) + 1)
            #expect(await serving.link.call("echo", body).status == .malformed)
        }
    }

    @Test("client and worker find a restarted broker again by themselves")
    func restart() async throws {
        let path = TestContext.path()
        let bus = try TestBus.start(at: path)
        try await bus.serving("echo") { serving in
            #expect(await serving.link.call("echo", [1]).status == .ok)
            let first = bus.server
            await first.stopAndWait()
            let second = try BrokerServer.start(bus.settings, context: bus.context)
            let reply = await serving.link.call("echo", [2], milliseconds: 10_000)
            #expect(reply.status == .ok)
            await second.drain()
            await second.stopAndWait()
        }
    }

    @Test("a call on a broker that ends is told so at once, not at its deadline")
    func brokerLost() async throws {
        let bus = try TestBus.start()
        let gate = Gate()
        let slow: BusHandler = { _, _, body in
            await gate.wait()
            return BusReply(status: .ok, body: body)
        }
        try await bus.serving("echo", handler: slow) { serving in
            let call = Task { await serving.link.call("echo", [0], milliseconds: 60_000) }
            await gate.waitForVisitor()
            bus.server.stop()
            #expect(await call.value.status == .workerLost)
            gate.open()
        }
    }

    @Test("draining a worker loses nothing: every call is answered by it or by the next one")
    func drain() async throws {
        let bus = try TestBus.start()
        try await bus.serving("echo") { serving in
            let thread = try SocketThread(bus.context)
            defer { thread.stop() }
            let leaving = ZeroMQListener([bus.ipc], thread: thread)
            let registration = ServiceRegistration(
                service: "echo", instanceID: "i2", version: "1", isRetrySafe: false)
            let hasServed = Lock(false)
            let task = Task {
                try await leaving.serve([registration]) { _, _, body in
                    hasServed.withLock { $0 = true }
                    await Task.yield()
                    return BusReply(status: .ok, body: body)
                }
            }
            // A worker in service: its grant came before its first request.
            while !hasServed.withLock({ $0 }) { _ = await serving.link.call("echo", [1]) }
            let failed = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        var failed = 0
                        for _ in 0..<100 {
                            if await serving.link.call("echo", [1]).status != .ok { failed += 1 }
                        }
                        return failed
                    }
                }
                group.addTask {
                    await leaving.drain()
                    return 0
                }
                return await group.reduce(0, +)
            }
            #expect(failed == 0)
            try await task.value
        }
    }

    @Test("draining a broker answers what is in flight and refuses the rest")
    func brokerDrain() async throws {
        let bus = try TestBus.start()
        let gate = Gate()
        let slow: BusHandler = { _, _, body in
            await gate.wait()
            return BusReply(status: .ok, body: body)
        }
        try await bus.serving("echo", handler: slow) { serving in
            let call = Task { await serving.link.call("echo", [7]) }
            await gate.waitForVisitor()
            async let drained: Void = bus.server.drain()
            while await serving.link.call("mmi.health", []).isServing { await Task.yield() }
            #expect(await serving.link.call("echo", [8]).status == .overloaded)
            gate.open()
            #expect(await call.value.body == [7])
            await drained
        }
    }
}

extension BusReply {
    fileprivate var isServing: Bool {
        String(decoding: body, as: UTF8.self).contains(#""state":"serving","services""#)
    }
}

/// Holds handlers until it is opened, and tells when the first one has come.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var hasVisitor = false
        var visitors: [CheckedContinuation<Void, Never>] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Lock(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let (watchers, isOpen) = state.withLock { state in
                state.hasVisitor = true
                if !state.isOpen { state.visitors.append(continuation) }
                defer { state.watchers = [] }
                return (state.watchers, state.isOpen)
            }
            for watcher in watchers { watcher.resume() }
            if isOpen { continuation.resume() }
        }
    }

    func waitForVisitor() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if !state.hasVisitor { state.watchers.append(continuation) }
                return state.hasVisitor
            }
            if isThere { continuation.resume() }
        }
    }

    func open() {
        let visitors = state.withLock { state in
            state.isOpen = true
            defer { state.visitors = [] }
            return state.visitors
        }
        for visitor in visitors { visitor.resume() }
    }
}
