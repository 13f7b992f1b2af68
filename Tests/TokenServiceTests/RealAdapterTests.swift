import Bus
import Messages
import Primitives
import ServiceTestKit
import TestKit
import Testing
import TokenService

/// As in production: sockets, SQLite, libsodium, libphonenumber.
@Suite("The token service on real adapters", .closesBuses)
struct RealAdapterTests {
    @Test("a token is issued, verified offline, carried over a restart, and revoked")
    func smoke() async throws {
        let world = TokenWorld(.sockets, real: true)
        try await RealAdapters.running(TokenTables.schemas) { real in
            let options = CallOptions(requestKey: "k-1")
            let (code, first) = try await world.bus.serving([worker(world, real, "a")]) {
                let alice = world.caller(TokenWorld.alice)
                let code = try await alice.call(CreateScheme(name: "app", app: exampleApp))
                    .schemeCode
                let issued = try await alice.call(
                    IssueAuthToken.ios(code, boundNumber: "+1 (415) 555-2671"), options)
                let claims = try AuthTokenReader.verify(
                    issued.authToken, keys: try await alice.call(GetSigningKeys()),
                    signer: real.signer, now: world.clock.now())
                #expect(claims.sub == code && claims.jti == issued.tokenId)
                return (code, issued)
            }
            try await world.bus.serving([worker(world, real, "b")]) {
                let alice = world.caller(TokenWorld.alice)
                let again = try await alice.call(
                    IssueAuthToken.ios(code, boundNumber: "+1 (415) 555-2671"), options)
                #expect(again.authToken == first.authToken)
                let scene = world.caller(TokenWorld.scene)
                let state = try await scene.call(IntrospectAuthToken(authToken: first.authToken))
                #expect(state.active && state.boundNumber?.e164 == "+14155552671")
                _ = try await alice.call(RevokeAuthToken(tokenId: first.tokenId))
                let ended = try await scene.call(IntrospectAuthToken(authToken: first.authToken))
                #expect(!ended.active && ended.reason == .revoked)
            }
        }
    }

    private func worker(_ world: TokenWorld, _ real: RealAdapters, _ name: String) -> BusWorker {
        let service = TokenService(
            store: real.store, answers: real.answers(world.clock), sealer: real.sealer("token"),
            digest: real.digest("token"), signer: real.signer, authenticator: real.authenticator,
            phoneNumbers: real.phoneNumbers, clock: world.clock, pause: world.clock,
            random: real.random)
        return BusWorker(
            service.handlers,
            identity: BusWorker.Identity(
                daemon: "fusion-token", instanceID: name, version: "test"),
            listener: world.bus.listener(host: name), clock: world.clock, pause: world.clock)
    }
}
