import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing
import TokenService

@Suite("Auth tokens over the bus", .closesBuses)
struct AuthTokenTests {
    @Test(
        "a token is issued, is active, verifies offline, and names its scheme and app",
        arguments: TransportUnderTest.allCases)
    func issueAndIntrospect(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport, real: true)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let scheme = try await alice.call(CreateScheme(name: "app", app: exampleApp))
            let issued = try await alice.call(IssueAuthToken.ios(scheme.schemeCode))
            #expect(
                issued.expiresAtMilliseconds
                    == (world.clock.now() + .seconds(1800)).millisecondsSince1970)

            let state = try await alice.call(IntrospectAuthToken(authToken: issued.authToken))
            #expect(state.active && state.reason == nil)
            #expect(state.schemeCode == scheme.schemeCode && state.owner == "alice")
            #expect(state.app == "com.example.app" && state.platform == .ios)
            #expect(state.tokenId == issued.tokenId)

            let keys = try await alice.call(GetSigningKeys())
            let claims = try AuthTokenReader.verify(
                issued.authToken, keys: keys, signer: world.signer, now: world.clock.now())
            #expect(claims.sub == scheme.schemeCode && claims.jti == issued.tokenId)
            #expect(claims.exp - claims.iat == 1800 && claims.app == "com.example.app")
        }
    }

    @Test(
        "only the scheme's own app gets a token, on each platform",
        arguments: TransportUnderTest.allCases)
    func appMustMatch(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            func refusal(_ request: IssueAuthToken) async -> String? {
                await failure { () async throws(ServiceFailure) in try await alice.call(request) }
                    .map { "\($0.code) \($0.field ?? "")" }
            }
            #expect(
                await refusal(.ios(code, bundleId: "com.example.other"))
                    == "app_mismatch bundleId")
            let sign = "01:23:45:67:89:AB:CD:EF:01:23:45:67:89:AB:CD:EF"
            func android(_ name: String, _ sign: String) -> IssueAuthToken {
                IssueAuthToken(
                    schemeCode: code, platform: .android, packageName: name, packageSign: sign,
                    durationSeconds: 900)
            }
            #expect(await refusal(android("com.example.app", sign)) == nil)
            #expect(await refusal(android("com.example.b", sign)) == "app_mismatch packageName")
            #expect(
                await refusal(android("com.example.app", "ff")) == "app_mismatch packageSign")
            func web(_ origin: String) -> IssueAuthToken {
                IssueAuthToken(
                    schemeCode: code, platform: .web, origin: origin, durationSeconds: 900)
            }
            #expect(await refusal(web("https://example.com")) == nil)
            #expect(await refusal(web("https://example.com.evil.test")) == "app_mismatch origin")
            #expect(await refusal(.ios(code, seconds: 899)) == "invalid_parameters durationSeconds")
            #expect(
                await refusal(.ios(code, seconds: 43_201)) == "invalid_parameters durationSeconds")
        }
    }

    @Test(
        "another owner's scheme does not exist, and its tokens are unknown",
        arguments: TransportUnderTest.allCases)
    func foreignOwner(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let bob = world.caller(TokenWorld.bob)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            let token = try await alice.call(IssueAuthToken.ios(code)).authToken

            let refused = await failure { () async throws(ServiceFailure) in
                try await bob.call(IssueAuthToken.ios(code))
            }
            let absent = await failure { () async throws(ServiceFailure) in
                try await bob.call(IssueAuthToken.ios("FA00000000000000"))
            }
            #expect(refused?.code == .schemeNotFound && refused == absent)
            let state = try await bob.call(IntrospectAuthToken(authToken: token))
            #expect(!state.active && state.reason == .unknown && state.owner == nil)
            let notRevoked = await failure { () async throws(ServiceFailure) in
                try await bob.call(RevokeAuthToken(authToken: token))
            }
            #expect(notRevoked?.code == .tokenInvalid)
            #expect(try await alice.call(IntrospectAuthToken(authToken: token)).active)
        }
    }

    @Test(
        "the bound number is for services only, and never for one the gateway speaks for",
        arguments: TransportUnderTest.allCases)
    func boundNumber(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let policy = SchemePolicy(defaultRegion: "CN")
            let code = try await alice.call(
                CreateScheme(name: "app", app: exampleApp, policy: policy)
            ).schemeCode
            let token = try await alice.call(
                IssueAuthToken.ios(code, boundNumber: "130 0000 0000")
            ).authToken
            let question = IntrospectAuthToken(authToken: token)

            let toScene = try await world.caller(TokenWorld.scene).call(question)
            #expect(toScene.boundNumber?.e164 == "+8613000000000")
            #expect(try await alice.call(question).boundNumber == nil)
            #expect(try await world.caller(TokenWorld.olga).call(question).boundNumber == nil)
            let gateway = world.caller(TokenWorld.gateway)
            #expect(try await gateway.call(question).boundNumber == nil)
            let onBehalf = CallOptions(onBehalfOf: OnBehalfOf(role: "service", name: "scene"))
            #expect(try await gateway.call(question, onBehalf).boundNumber == nil)

            let refused = await failure { () async throws(ServiceFailure) in
                try await alice.call(IssueAuthToken.ios(code, boundNumber: "12"))
            }
            #expect(refused?.code == .numberInvalid && refused?.field == "boundNumber")
            #expect(!dump(of: world.disk).contains("13000000000"))
            #expect(!dump(of: world.disk).contains(token))
        }
    }

    @Test(
        "revoked, expired, switched off and broken tokens are inactive, each with its reason",
        arguments: TransportUnderTest.allCases)
    func inactivity(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            func reason(_ token: String) async throws -> TokenInactivity? {
                try await alice.call(IntrospectAuthToken(authToken: token)).reason
            }
            let first = try await alice.call(IssueAuthToken.ios(code, seconds: 900)).authToken
            let second = try await alice.call(IssueAuthToken.ios(code))

            #expect(try await alice.call(RevokeAuthToken(authToken: first)).changed)
            #expect(try await reason(first) == .revoked)
            #expect(try await !alice.call(RevokeAuthToken(authToken: first)).changed)
            #expect(try await reason(second.authToken) == nil)

            _ = try await alice.call(DisableScheme(schemeCode: code))
            #expect(try await reason(second.authToken) == .schemeDisabled)
            let refused = await failure { () async throws(ServiceFailure) in
                try await alice.call(IssueAuthToken.ios(code))
            }
            #expect(refused?.code == .schemeDisabled)
            _ = try await alice.call(DisableScheme(schemeCode: code, disabled: false))
            #expect(try await reason(second.authToken) == nil)

            #expect(try await reason("a.b") == .malformed)
            #expect(try await reason(second.authToken + "A") == .unknown)
            world.clock.advance(.seconds(1800))
            #expect(try await reason(second.authToken) == .expired)
            #expect(try await !alice.call(RevokeAuthToken(tokenId: second.tokenId)).changed)
        }
    }

    @Test(
        "revoking by id: an id that was never issued is token_invalid",
        arguments: TransportUnderTest.allCases)
    func revokeByID(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            let issued = try await alice.call(IssueAuthToken.ios(code))
            #expect(try await alice.call(RevokeAuthToken(tokenId: issued.tokenId)).changed)
            let absent = await failure { () async throws(ServiceFailure) in
                try await alice.call(
                    RevokeAuthToken(tokenId: TokenID(random: [UInt8](repeating: 7, count: 16))))
            }
            #expect(absent?.code == .tokenInvalid && absent?.field == "tokenId")
            let neither = await failure { () async throws(ServiceFailure) in
                try await alice.call(RevokeAuthToken())
            }
            #expect(neither?.code == .invalidParameters)
        }
    }

    @Test(
        "F026 one request key gives one token, also after a restart and a rotation",
        arguments: TransportUnderTest.allCases)
    func sameKeySameToken(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport, real: true)
        let options = CallOptions(requestKey: "k-1")
        let (code, first) = try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            return (code, try await alice.call(IssueAuthToken.ios(code), options))
        }
        let again = TokenWorld(transport, real: true, disk: world.disk)
        again.clock.advance(.seconds(5))
        try await again.serving {
            _ = try await again.caller(TokenWorld.olga).call(RotateSigningKey())
            let alice = again.caller(TokenWorld.alice)
            let second = try await alice.call(IssueAuthToken.ios(code), options)
            #expect(second.authToken == first.authToken)
            #expect(second.expiresAtMilliseconds == first.expiresAtMilliseconds)
            #expect(again.disk.count(in: "auth_token") == 1)
            let conflict = await failure { () async throws(ServiceFailure) in
                try await alice.call(IssueAuthToken.ios(code, seconds: 900), options)
            }
            #expect(conflict?.code == .conflict)
            #expect(
                try await alice.call(IntrospectAuthToken(authToken: second.authToken)).active)
        }
    }

    @Test(
        "32 parallel deliveries of one request issue one token",
        arguments: TransportUnderTest.allCases)
    func parallelIssue(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving(instances: 2) {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        try await world.caller(TokenWorld.alice, seed: UInt64(number)).call(
                            IssueAuthToken.ios(code), CallOptions(requestKey: "one")
                        ).authToken
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            #expect(world.disk.count(in: "auth_token") == 1)
        }
    }

    @Test(
        "F144 the sweep leaves nothing of ended tokens, nonces and answers",
        arguments: TransportUnderTest.allCases)
    func sweep(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            _ = try await alice.call(
                IssueAuthToken.ios(code, boundNumber: "+8613000000000"),
                CallOptions(requestKey: "k"))
            world.clock.advance(.seconds(31 * 24 * 3600))
            _ = try await world.store().sweep(now: world.clock.now(), limit: 1_000)
            for table in ["auth_token", "answer", "nonce"] {
                #expect(world.disk.count(in: table) == 0, "\(table)")
            }
            #expect(world.disk.count(in: "scheme") == 1)
            #expect(world.disk.count(in: "scheme_version") == 1)
        }
    }
}

/// Everything that a dump of the store would show.
func dump(of disk: MemoryDisk) -> String {
    TokenTables.schemas.map { schema in
        disk.dump(schema.name).map { "\($0.key) \(String(decoding: $0.body, as: UTF8.self))" }
            .joined(separator: "\n")
    }.joined(separator: "\n")
}
