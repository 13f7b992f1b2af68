import Bus
import Majordomo
import Primitives
import Testing

@testable import ZeroMQTransport

@Suite("Drain over sockets")
struct DrainTests {
    @Test("a handler that does not end is told to, and cannot hold the drain beyond its bound")
    func bounded() async throws {
        let bus = try TestBus.start()
        let thread = try SocketThread(bus.context)
        var times = WorkerMachine.Times()
        times.drainMax = .milliseconds(50)
        let listener = ZeroMQListener([bus.ipc], thread: thread, times: times)
        let link = ZeroMQLink([bus.ipc], thread: thread)
        let (started, ended) = (Lock(false), Lock(false))
        let serving = Task {
            try await listener.serve(
                [ServiceRegistration(service: "echo", instanceID: "i", version: "1")]
            ) { _, _, body in
                started.withLock { $0 = true }
                while !Task.isCancelled { await Task.yield() }
                ended.withLock { $0 = true }
                return BusReply(status: .ok, body: body)
            }
        }
        let calling = Task { await link.call("echo", [1]) }
        while !started.withLock(\.self) { await Task.yield() }
        await listener.drain()
        let wasTold = ended.withLock { $0 }
        #expect(wasTold)
        try await serving.value
        calling.cancel()
        #expect(await calling.value.status != .ok)
        thread.stop()
        await bus.server.stopAndWait()
    }
}
