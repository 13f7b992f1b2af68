import Bus
import Messages
import Primitives
import SMSCodeService
import ServiceTestKit
import TestKit
import Testing

/// As in production: sockets, SQLite, libsodium, libphonenumber.
@Suite("The code service on real adapters", .closesBuses)
struct RealAdapterTests {
    @Test("a code is sent to a number as typed, guessed wrong, and passes once after a restart")
    func smoke() async throws {
        let world = World(.sockets)
        try await RealAdapters.running(SMSCodeTables.schemas) { real in
            try await world.serving(service(world, real), host: "first") { world in
                let sent = try await world.send("+1 (415) 555-2671")
                #expect(sent.delivery == .sent)
                let wrong = world.wrong(world.provider.code(for: World.number))
                #expect(try await world.check(wrong).result == .rejected)
            }
            try await world.serving(service(world, real), host: "second") { world in
                let code = world.provider.code(for: World.number)
                let checked = try await world.check(code, "0014155552671", key: "k")
                #expect(checked.result == .accepted)
                #expect(try await world.check(code, "0014155552671", key: "k") == checked)
                #expect(try await world.check(code).result == .alreadyUsed)
                #expect(world.provider.submissions.count == 1)
            }
        }
    }

    private func service(_ world: World, _ real: RealAdapters) -> SMSCodeService {
        var configuration = SMSCodeConfiguration()
        configuration.receivingNumbers = ["10690001"]
        return SMSCodeService(
            store: real.store, answers: real.answers(world.clock), clock: world.clock,
            pause: world.clock, random: real.random, bus: world.caller(.service, "smscode"),
            phoneNumbers: real.phoneNumbers, numberDigest: real.digest("number"),
            guessDigest: real.digest("guess"), codes: real.codes("smscode.code"),
            sealer: real.sealer("smscode"), providers: [world.provider], instanceID: "i1",
            configuration: configuration)
    }
}
