import Bus
import Messages
import Primitives
import ServiceTestKit
import TestKit
import Testing
import VerificationService

/// As in production: sockets, SQLite, libsodium, libphonenumber.
@Suite("The verification service on real adapters", .closesBuses)
struct RealAdapterTests {
    @Test("evidence of each kind gives one PASS, which its request key gets again after a restart")
    func smoke() async throws {
        let world = World()
        try await RealAdapters.running(VerificationTables.schemas) { real in
            for (index, evidence) in [Evidence.carrier, .code, .upgoing].enumerated() {
                let options = CallOptions(requestKey: "k\(index)")
                let opened = Lock<OpenedVerification?>(nil)
                let first = Lock<Verified?>(nil)
                try await world.serve([service(world, real)], over: .sockets) { callers in
                    let answer = try await callers.scene.call(
                        world.open(evidence, step: index + 1))
                    opened.withLock { $0 = answer }
                    let verified = try await callers.owner.call(
                        VerifyMaskToken(maskToken: answer.maskToken, number: "138 0000 0001"),
                        options)
                    #expect(verified.result == .pass && verified.phoneNumber == World.number)
                    first.withLock { $0 = verified }
                }
                let token = try #require(opened.withLock(\.self)?.maskToken)
                try await world.serve([service(world, real)], over: .sockets) { callers in
                    let again = try await callers.owner.call(
                        VerifyMaskToken(maskToken: token, number: "138 0000 0001"), options)
                    #expect(again == first.withLock(\.self))
                    let other = try await callers.owner.call(VerifyMaskToken(maskToken: token))
                    #expect(other.reason == .alreadyUsed)
                }
            }
        }
    }

    private func service(_ world: World, _ real: RealAdapters) -> VerificationService {
        VerificationService(
            store: real.store, answers: real.answers(world.clock), tokens: real.digest("tokens"),
            sealer: real.sealer("verification"), signer: real.signer,
            phoneNumbers: real.phoneNumbers, bus: world.bus,
            carrier: BusCarrierGateway(bus: world.bus), clock: world.clock, pause: world.clock,
            random: real.random)
    }
}
