import Bus
import Effects
import Foundation
import Messages
import Primitives
import ServiceTestKit
import TestKit
import Testing

@testable import SandboxService

/// The simulated operator's tokens, read as a judge of them would.
private struct ReadToken {
    let header: TokenHeader
    let claims: [String: Any]
    let input: [UInt8]
    let signature: [UInt8]

    init(_ minted: MintedAccessToken) throws {
        let parts = minted.accessToken.reveal().split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let head = try #require(Base64URL.decode(parts[0]))
        let body = try #require(Base64URL.decode(parts[1]))
        header = try JSONDecoder().decode(TokenHeader.self, from: Data(head))
        claims = try #require(
            try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        input = Array("\(parts[0]).\(parts[1])".utf8)
        signature = try #require(Base64URL.decode(parts[2]))
    }

    func isSigned(by key: PublicKey, _ signer: FakeSigner) throws -> Bool {
        signer.isValid(
            signature: signature, of: input, publicKey: try #require(Base64URL.decode(key.x)))
    }
}

@Suite("sandbox: access tokens", .closesBuses)
struct SandboxAccessTokenTests {
    private let clock = ManualClock()
    private let random = SeededRandom(seed: 3)

    private func serving(
        _ transport: TransportUnderTest,
        _ body: @escaping @Sendable (any BusCaller) async throws -> Void
    ) async throws {
        let bus = BusUnderTest(transport, clock: clock)
        let person = try #require(Principal(roles: .operator, name: "root"))
        let service = SandboxService(
            clock: clock, pause: clock, random: random,
            bus: bus.caller(person, random: random), phoneNumbers: FakePhoneNumberParser(),
            signer: FakeSigner())
        let worker = BusWorker(
            service.handlers,
            identity: BusWorker.Identity(daemon: "sandbox", instanceID: "1", version: "0"),
            listener: bus.listener(host: "sandbox"), clock: clock, pause: clock)
        try await bus.serving([worker]) {
            try await body(
                bus.caller(person, random: random, retry: RetryPolicy(attemptsMax: 1)))
        }
    }

    private static func request(
        number: String? = "+14155552671", simId: SIMID? = nil, amr: [String]? = nil,
        lifetimeSeconds: Int64? = nil, fault: AccessTokenFault? = nil
    ) -> MintAccessToken {
        MintAccessToken(
            owner: "acme", schemeCode: "FA1", scope: "a b", simId: simId, number: number,
            amr: amr, lifetimeSeconds: lifetimeSeconds, fault: fault)
    }

    @Test(
        "a token is signed by the published key and carries a carrier token of the phone",
        arguments: TransportUnderTest.allCases)
    func good(_ transport: TransportUnderTest) async throws {
        try await serving(transport) { person in
            let minted = try await person.call(Self.request())
            let token = try ReadToken(minted)
            let key = try #require(try await person.call(GetAccessKeys()).keys.first)
            #expect(token.header.kid == key.kid && token.header.alg == "EdDSA")
            #expect(try token.isSigned(by: key, FakeSigner()))
            #expect(token.claims["iss"] as? String == SandboxIssuer.issuer)
            #expect(token.claims["aud"] as? String == SandboxIssuer.audience)
            #expect(token.claims["scope"] as? String == "a b")
            #expect(token.claims["amr"] as? [String] == ["nba"])
            #expect(token.claims["owner"] as? String == "acme")
            #expect(token.claims["scheme_code"] as? String == "FA1")
            let issuedAt = try #require(token.claims["iat"] as? Int64)
            #expect(token.claims["exp"] as? Int64 == issuedAt + 300)
            #expect(minted.expiresAtMilliseconds == (issuedAt + 300) * 1000)
            let carrierToken = try #require(
                token.claims[SandboxIssuer.carrierTokenClaim] as? String)
            let text = String(decoding: token.input, as: UTF8.self)
            #expect(!text.contains("4155552671") && carrierToken.hasPrefix("CT"))
            let again = try ReadToken(try await person.call(Self.request()))
            #expect(token.claims["jti"] as? String != again.claims["jti"] as? String)
        }
    }

    @Test(
        "without a phone a token has neither amr nor carrier token",
        arguments: TransportUnderTest.allCases)
    func clientAlone(_ transport: TransportUnderTest) async throws {
        try await serving(transport) { person in
            let token = try ReadToken(try await person.call(Self.request(number: nil)))
            #expect(token.claims["amr"] == nil)
            #expect(token.claims[SandboxIssuer.carrierTokenClaim] == nil)
            let other = try ReadToken(
                try await person.call(Self.request(amr: ["sms"], lifetimeSeconds: 3_600)))
            #expect(other.claims["amr"] as? [String] == ["sms"])
        }
    }

    @Test("each fault is wrong in its own way alone", arguments: AccessTokenFault.allCases)
    func faults(_ fault: AccessTokenFault) async throws {
        let now = clock.now().millisecondsSince1970 / 1000
        try await serving(.inProcess) { person in
            let key = try #require(try await person.call(GetAccessKeys()).keys.first)
            let token = try ReadToken(try await person.call(Self.request(fault: fault)))
            let claims = token.claims
            let isRight: [AccessTokenFault: Bool] = [
                .expired: (claims["exp"] as? Int64 ?? 0) > now,
                .notYetValid: (claims["nbf"] as? Int64 ?? .max) <= now,
                .wrongSignature: fault == .unknownKey
                    ? true : try token.isSigned(by: key, FakeSigner()),
                .unknownKey: token.header.kid == key.kid,
                .wrongIssuer: claims["iss"] as? String == SandboxIssuer.issuer,
                .wrongAudience: claims["aud"] as? String == SandboxIssuer.audience,
                .noTokenID: claims["jti"] is String,
            ]
            #expect(Set(isRight.filter { !$0.value }.keys) == Set([fault]).subtracting([.none]))
        }
    }

    @Test(
        "a SIM that gives no carrier token wins no access token",
        arguments: TransportUnderTest.allCases)
    func noProof(_ transport: TransportUnderTest) async throws {
        try await serving(transport) { person in
            let sim = try await person.call(
                PutSIM(numbers: ["+14155552671"], fault: .noCellularData))
            for (request, code) in [
                (Self.request(number: nil, simId: sim.simId), ErrorCode.carrierUnavailable),
                (Self.request(number: nil, simId: SIMID(random: Array(0..<16))), .simNotFound),
                (Self.request(simId: sim.simId), .invalidParameters),
                (Self.request(number: "x"), .numberInvalid),
                (Self.request(lifetimeSeconds: 0), .invalidParameters),
            ] {
                do throws(ServiceFailure) {
                    _ = try await person.call(request)
                    Issue.record("\(code) expected")
                } catch {
                    #expect(error.code == code)
                }
            }
        }
    }
}
