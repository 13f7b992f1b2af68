import Bus
import Messages
import Primitives
import TestKit
import Testing

@testable import FusionctlCommands

@Suite("sandbox token")
struct SandboxTokenTests {
    private let tool = Tool()

    init() {
        tool.machine.set { $0.defaultScheme = "FA1" }
        tool.machine.bus.on(GetScheme.self) { request, _ throws(ServiceFailure) in
            Scheme(
                schemeCode: request.schemeCode, version: 1, name: "n", owner: "acme",
                app: AppIdentity(), policy: SchemePolicy(), disabled: false,
                createdAtMilliseconds: 0, updatedAtMilliseconds: 0)
        }
        tool.machine.bus.on(MintAccessToken.self) { request, _ throws(ServiceFailure) in
            MintedAccessToken(
                accessToken: Secret("a.b.c"), tokenType: "Bearer", scope: request.scope,
                expiresAtMilliseconds: 1)
        }
    }

    @Test("a person gets the token alone, a machine all of it; short scopes are written out")
    func mints() async throws {
        #expect(
            await tool.run(
                "sandbox", "token", "--scope", "verify,read,openid", "--number", "+14155552671",
                "--amr", "sms,otp", "--seconds", "60", "--fault", "expired") == .done)
        #expect(tool.terminal.lastResult == "a.b.c")
        let request = try #require(tool.machine.bus.requests(MintAccessToken.self).first)
        #expect(
            request.scope
                == "number-verification:verify number-verification:device-phone-number:read openid")
        #expect(request.owner == "acme" && request.schemeCode == "FA1")
        #expect(request.amr == ["sms", "otp"] && request.lifetimeSeconds == 60)
        #expect(request.fault == .expired && request.number == "+14155552671")
        #expect(await tool.run("sandbox", "token", "--scope", "send-validate", "--json") == .done)
        let document = JSONValue(Array(tool.terminal.lastResult.utf8))
        #expect(document?["accessToken"] == .text("a.b.c"))
        #expect(document?["scope"] == .text("one-time-password-sms:send-validate"))
    }

    @Test("without a scope, with an unknown fault or another's id it says what to write")
    func usage() async {
        #expect(await tool.run("sandbox", "token") == .usage)
        #expect(await tool.run("sandbox", "token", "--scope", "x", "--fault", "odd") == .usage)
        #expect(tool.terminal.progress.last?.contains("wrong_signature") == true)
        #expect(await tool.run("sandbox", "token", "--scope", "x", "--sim", "1") == .usage)
        #expect(tool.machine.bus.requests(MintAccessToken.self).isEmpty)
    }
}
