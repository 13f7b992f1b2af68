import Bus
import Messages
import Primitives
import SandboxService
import ServiceTestKit
import TestKit
import Testing

/// As on a developer's machine: sockets, libsodium, libphonenumber. The sandbox has no store.
@Suite("The sandbox on real adapters", .closesBuses)
struct RealAdapterTests {
    @Test("an SMS arrives at a number however it is typed")
    func smoke() async throws {
        let clock = ManualClock()
        let bus = BusUnderTest(.sockets, clock: clock)
        let number = try #require(PhoneNumber(e164: "+14155552671"))
        let daemon = try #require(Principal(roles: .service, name: "smscode"))
        let person = try #require(Principal(roles: .operator, name: "root"))
        try await RealAdapters.running([]) { real in
            let sandbox = SandboxService(
                clock: clock, pause: clock, random: real.random,
                bus: bus.caller(daemon, random: real.random), phoneNumbers: real.phoneNumbers,
                signer: real.signer)
            let worker = BusWorker(
                sandbox.handlers,
                identity: BusWorker.Identity(
                    daemon: "fusion-sandbox", instanceID: "i", version: "test"),
                listener: bus.listener(host: "i"), clock: clock, pause: clock)
            try await bus.serving([worker]) {
                let submitted = try await bus.caller(daemon, random: real.random).call(
                    SubmitSMS(reference: "r", number: number, text: Secret("hello")))
                #expect(submitted.accepted)
                let inbox = try await bus.caller(person, random: real.random).call(
                    ReadInbox(number: "001 415 555 2671"))
                #expect(inbox.messages.map(\.text) == ["hello"])
            }
        }
    }
}
