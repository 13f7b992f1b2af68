import Bus
import Messages
import Primitives
import SceneService
import ServiceTestKit
import TestKit
import Testing

/// As in production: sockets, SQLite, libsodium, libphonenumber. Tokens are signed by the world.
@Suite("The scene service on real adapters", .closesBuses)
struct RealAdapterTests {
    @Test("a login by SMS code goes on after a restart, and ends passed")
    func smoke() async throws {
        let world = SceneWorld(.sockets)
        try await RealAdapters.running(SceneTables.schemas) { real in
            let app = try world.client()
            try await world.serving(service(world, real)) {
                try await app.start("100001")
                try await app.submit(NodeInput(otherLogin: true))
                try await app.send("+86 138 0000 0001")
                #expect(app.view?.state == .waiting)
            }
            try await world.serving(service(world, real)) {
                let view = try await app.code(world.neighbours.lastCode)
                #expect(world.neighbours.verify(view.maskToken))
                #expect(try await app.proceed(true).state == .passed)
                #expect(world.neighbours.sentNumbers == ["+8613800000001"])
            }
        }
    }

    private func service(_ world: SceneWorld, _ real: RealAdapters) -> SceneService {
        SceneService(
            store: real.store, sealer: real.sealer("scene"),
            digests: SceneService.Digests(
                answers: real.digest("answer"), runKeys: real.digest("run-key"),
                risk: real.digest("risk"), splits: real.digest("splits")),
            signer: FakeSigner(), clock: world.clock, pause: world.clock, random: real.random,
            bus: world.neighbours.bus, phoneNumbers: real.phoneNumbers)
    }
}
