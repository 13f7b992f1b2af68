import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import TokenService

/// Signs calls as an SDK does.
struct Signer: Sendable {
    let keyID: String
    let secret: Secret<String>
    var securityToken: Secret<String>?
    let authenticator: any MessageAuthenticator

    init(_ created: CreatedAccessKey, _ authenticator: any MessageAuthenticator) {
        keyID = created.accessKeyId
        secret = created.accessKeySecret
        securityToken = created.securityToken
        self.authenticator = authenticator
    }

    func request(
        nonce: String, at time: WallTime, action: String = "SendSmsVerifyCode",
        text: String = "ACS3-HMAC-SHA256\nabc"
    ) -> AuthenticateKey {
        let key = Secret(Array(secret.reveal().utf8))
        return AuthenticateKey(
            accessKeyId: keyID, securityToken: securityToken, algorithm: .acs3HMACSHA256,
            stringToSign: text,
            signature: Hex.encode(authenticator.hmacSHA256(Array(text.utf8), key: key)),
            nonce: nonce, timestampMilliseconds: time.millisecondsSince1970, action: action)
    }
}

@Suite("Access keys over the bus", .closesBuses)
struct AccessKeyTests {
    @Test(
        "a key is made, shown once, listed without its secret, revoked",
        arguments: TransportUnderTest.allCases)
    func life(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let olga = world.caller(TokenWorld.olga)
            let created = try await olga.call(CreateAccessKey(owner: "alice", name: "app server"))
            #expect(created.accessKeyId.hasPrefix("LTAI5t") && created.accessKeyId.count == 24)
            let secret = created.accessKeySecret.reveal()
            #expect(secret.count == 30 && created.securityToken == nil)
            #expect(!dump(of: world.disk).contains(secret))

            let list = try await olga.call(ListAccessKeys(owner: "alice"))
            #expect(list.keys.map(\.accessKeyId) == [created.accessKeyId])
            #expect(list.keys.first?.active == true && list.keys.first?.name == "app server")
            #expect(try await olga.call(ListAccessKeys(owner: "bob")).keys.isEmpty)

            let revoke = RevokeAccessKey(accessKeyId: created.accessKeyId)
            #expect(try await olga.call(revoke).changed)
            #expect(try await !olga.call(revoke).changed)
            #expect(try await olga.call(ListAccessKeys()).keys.first?.active == false)
            let absent = await failure { () async throws(ServiceFailure) in
                try await olga.call(RevokeAccessKey(accessKeyId: "LTAI5t"))
            }
            #expect(absent?.code == .keyNotFound)
            #expect(!world.log.lines.contains { $0.contains(secret) })
        }
    }

    @Test("a list is paged in order of the ids", arguments: TransportUnderTest.allCases)
    func list(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let olga = world.caller(TokenWorld.olga)
            var made: [String] = []
            for number in 0..<7 {
                made.append(
                    try await olga.call(CreateAccessKey(owner: "o\(number % 2)")).accessKeyId)
            }
            var (seen, after) = ([String](), String?.none)
            repeat {
                let page = try await olga.call(ListAccessKeys(after: after, limit: 3))
                seen += page.keys.map(\.accessKeyId)
                after = page.next
            } while after != nil
            #expect(seen == made.sorted())
        }
    }

    @Test("a key's schemes exist and are its owner's", arguments: TransportUnderTest.allCases)
    func scope(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let olga = world.caller(TokenWorld.olga)
            let alices = try await olga.call(
                CreateScheme(name: "a", owner: "alice", app: exampleApp)
            ).schemeCode
            let bobs = try await olga.call(
                CreateScheme(name: "b", owner: "bob", app: exampleApp)
            ).schemeCode
            func refusal(_ codes: [String]?, _ standard: String?) async -> String? {
                await failure { () async throws(ServiceFailure) in
                    try await olga.call(
                        CreateAccessKey(
                            owner: "alice", schemeCodes: codes, defaultSchemeCode: standard))
                }.map { "\($0.code) \($0.field ?? "")" }
            }
            #expect(await refusal([alices], alices) == nil)
            #expect(await refusal(nil, alices) == nil)
            #expect(await refusal([alices, bobs], nil) == "scheme_not_found schemeCodes[1]")
            #expect(await refusal(nil, bobs) == "scheme_not_found defaultSchemeCode")
            #expect(await refusal(["FA1"], nil) == "scheme_not_found schemeCodes[0]")
            #expect(await refusal([], nil) == "invalid_parameters schemeCodes")
        }
    }

    @Test(
        "a temporary key does no more than its parent, and ends with it",
        arguments: TransportUnderTest.allCases)
    func temporary(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let olga = world.caller(TokenWorld.olga)
            let gateway = world.caller(TokenWorld.gateway)
            let parent = try await olga.call(
                CreateAccessKey(owner: "alice", actions: ["SendSmsVerifyCode", "GetMobile"]))
            func make(_ actions: [String]?) async throws(ServiceFailure) -> CreatedAccessKey {
                try await olga.call(
                    CreateTemporaryKey(
                        accessKeyId: parent.accessKeyId, durationSeconds: 900, actions: actions))
            }
            let more = await failure { () async throws(ServiceFailure) in
                try await make(["GetMobile", "VerifyMobile"])
            }
            #expect(more?.code == .notAllowed)
            let triple = try await make(["SendSmsVerifyCode"])
            #expect(triple.accessKeyId.hasPrefix("STS."))
            #expect(
                triple.expiresAtMilliseconds
                    == (world.clock.now() + .seconds(900)).millisecondsSince1970)
            let securityToken = try #require(triple.securityToken?.reveal())
            #expect(!dump(of: world.disk).contains(securityToken))

            var signer = Signer(triple, world.authenticator)
            func outcome(_ signer: Signer, _ nonce: String, _ action: String = "SendSmsVerifyCode")
                async -> ErrorCode?
            {
                await failure { () async throws(ServiceFailure) in
                    try await gateway.call(
                        signer.request(nonce: nonce, at: world.clock.now(), action: action))
                }?.code
            }
            #expect(await outcome(signer, "1") == nil)
            #expect(await outcome(signer, "2", "GetMobile") == .actionForbidden)
            signer.securityToken = Secret(securityToken + "x")
            #expect(await outcome(signer, "3") == .tokenInvalid)
            signer.securityToken = nil
            #expect(await outcome(signer, "4") == .tokenInvalid)
            var parents = Signer(parent, world.authenticator)
            parents.securityToken = Secret(securityToken)
            #expect(await outcome(parents, "5") == .tokenInvalid)

            signer.securityToken = Secret(securityToken)
            world.clock.advance(.seconds(899))
            #expect(await outcome(signer, "6") == nil)
            world.clock.advance(.seconds(1))
            #expect(await outcome(signer, "7") == .tokenExpired)

            let second = Signer(try await make(nil), world.authenticator)
            #expect(await outcome(second, "8", "GetMobile") == nil)
            _ = try await olga.call(RevokeAccessKey(accessKeyId: parent.accessKeyId))
            #expect(await outcome(second, "9", "GetMobile") == .keyInactive)
            let afterwards = await failure { () async throws(ServiceFailure) in try await make(nil)
            }
            #expect(afterwards?.code == .keyInactive)
        }
    }
}
