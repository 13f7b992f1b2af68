import Bus
import Glibc
import Majordomo
import Primitives
import Testing

@testable import ZeroMQTransport

/// Our client, broker and worker over real sockets of one process.
@Suite(.timeLimit(.minutes(1)))
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
}
