import Bus
import Messages
import Primitives
import SceneService
import ServiceTestKit
import Storage
import TestKit
import Testing

/// Who may start, move and read a run.
@Suite(.closesBuses) struct AccessTests {
    @Test(
        "a wrong run key, another app's token and an unknown run get the same answer",
        arguments: TransportUnderTest.allCases)
    func probing(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let caller = world.caller()
            let (runId, runKey) = (app.runId, app.runKey)
            let attempts: [(RunID, Secret<String>, Secret<String>)] = [
                (runId, Secret("wrong"), app.token),
                (runId, runKey, try world.token(app: "com.example.other")),
                (RunID(random: Array(1...16)), runKey, app.token),
            ]
            var failures: [ServiceFailure?] = []
            for (runId, runKey, token) in attempts {
                failures.append(
                    await failure { () async throws(ServiceFailure) in
                        try await caller.call(
                            StopScene(authToken: token, runId: runId, runKey: runKey))
                    })
            }
            #expect(failures.allSatisfy { $0 == failures[0] })
            #expect(failures.first??.code == .runNotFound)
            #expect(try await app.get().state == .waiting)
        }
    }

    @Test(
        "a stored answer is told only to who has the run key",
        arguments: TransportUnderTest.allCases)
    func replayNeedsKey(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await MoveTests.atCodeNode(world)
            try await app.send(MoveTests.phone)
            let step = app.step
            try await app.code(world.neighbours.lastCode, key: "k1")
            let (runId, code) = (app.runId, world.neighbours.lastCode)
            let stranger = try world.token()
            let caller = world.caller()
            let refused = await failure { () async throws(ServiceFailure) in
                try await caller.call(
                    SubmitInput(
                        authToken: stranger, runId: runId, runKey: Secret("guess"), step: step,
                        input: NodeInput(code: code)), CallOptions(requestKey: "k1"))
            }
            #expect(refused?.code == .runNotFound)
        }
    }

    @Test(
        "another token of the same scheme and app carries a run on",
        arguments: TransportUnderTest.allCases)
    func newToken(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let (runId, runKey) = (app.runId, app.runKey)
            let view = try await world.caller().call(
                GetScene(runId: runId, authToken: try world.token(), runKey: runKey))
            #expect(view.runId == runId)
        }
    }

    @Test(
        "an inactive token stops every scene call",
        arguments: TransportUnderTest.allCases,
        [
            (TokenInactivity.revoked, ErrorCode.tokenRevoked),
            (.expired, .tokenExpired), (.unknown, .tokenInvalid), (.malformed, .tokenInvalid),
            (.schemeDisabled, .schemeDisabled),
        ])
    func inactive(_ transport: TransportUnderTest, _ given: (TokenInactivity, ErrorCode))
        async throws
    {
        let (reason, code) = given
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let compact = try #require(CompactToken(app.token.reveal()))
            let claims = try AuthTokenReader.genuineClaims(
                compact, keys: world.neighbours.state.withLock(\.keys), signer: FakeSigner())
            world.neighbours.state.withLock { $0.inactive[claims.jti] = reason }
            let refused = await failure { () async throws(ServiceFailure) in
                try await app.proceed(false)
            }
            #expect(refused?.code == code)
        }
    }

    @Test(
        "a forged or expired token is refused before the token service is asked",
        arguments: TransportUnderTest.allCases)
    func offline(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            let forged = SceneClient(
                caller: app.caller, token: Secret(app.token.reveal() + "A"), device: nil,
                capabilities: nil, address: nil)
            let wrong = await failure { () async throws(ServiceFailure) in
                try await forged.start("100001")
            }
            #expect(wrong?.code == .tokenInvalid)
            world.clock.advance(.seconds(43_200))
            let late = await failure { () async throws(ServiceFailure) in
                try await app.start("100001")
            }
            #expect(late?.code == .tokenExpired)
            #expect(world.neighbours.bus.requests(IntrospectAuthToken.self).isEmpty)
        }
    }

    @Test(
        "unknown keys ask for the key set at a bounded rate", arguments: TransportUnderTest.allCases
    )
    func unknownKeys(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let signer = FakeSigner()
            let pair = signer.generateKeyPair()
            for index in 0..<20 {
                let now = world.clock.now().millisecondsSince1970 / 1_000
                let claims = AuthTokenClaims(
                    iss: "x", sub: SceneWorld.schemeCode, jti: TokenID(random: Array(1...16)),
                    iat: now, exp: now + 900, platform: .ios, app: "com.example.app")
                let text = try CompactToken.compose(
                    claims, keyID: "unknown-\(index)", seed: pair.seed, signer: signer)
                let client = SceneClient(
                    caller: world.caller(), token: Secret(text ?? ""), device: nil,
                    capabilities: nil, address: nil)
                let refused = await failure { () async throws(ServiceFailure) in
                    try await client.start("100001")
                }
                #expect(refused?.code == .tokenInvalid)
            }
            #expect(world.neighbours.bus.requests(GetSigningKeys.self).count == 1)
            world.clock.advance(.seconds(5))
            _ = try await world.client().start("100001")
            #expect(world.neighbours.bus.requests(GetSigningKeys.self).count == 1)
        }
    }

    @Test(
        "an integrator starts and reads runs of its own schemes only",
        arguments: TransportUnderTest.allCases)
    func owners(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let token = try world.token()
            let mine = try await world.caller(SceneWorld.alice).call(
                StartScene(authToken: token, templateId: "100001", deviceId: "d"))
            let theirs = await failure { () async throws(ServiceFailure) in
                try await world.caller(SceneWorld.bob).call(
                    StartScene(authToken: token, templateId: "100001", deviceId: "d"))
            }
            #expect(theirs?.code == .notAllowed)
            let read = GetScene(runId: mine.runId)
            #expect(try await world.caller(SceneWorld.alice).call(read).runId == mine.runId)
            #expect(try await world.caller(SceneWorld.olga).call(read).runId == mine.runId)
            for stranger in [SceneWorld.bob, SceneWorld.gateway] {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await world.caller(stranger).call(read)
                }
                #expect(refused?.code == .notAllowed)
            }
        }
    }

    @Test(
        "only the gateway states an address; 300 starts an hour, by IPv4 and by IPv6 /64",
        arguments: TransportUnderTest.allCases)
    func addresses(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        var configuration = SceneConfiguration()
        configuration.startsByAddressPerHour = 3
        try await world.serving(world.service(configuration: configuration)) {
            func start(_ address: String, by principal: Principal = SceneWorld.gateway) async
                -> ErrorCode?
            {
                await failure { () async throws(ServiceFailure) in
                    let token: Secret<String>
                    do { token = try world.token() } catch { return }
                    _ = try await world.caller(principal).call(
                        StartScene(authToken: token, templateId: "100001", address: address))
                }?.code
            }
            #expect(await start("192.0.2.1", by: SceneWorld.alice) == .notAllowed)
            for _ in 0..<3 { #expect(await start("192.0.2.1") == nil) }
            #expect(await start("192.0.2.1") == .addressLimit)
            #expect(await start("::ffff:192.0.2.1") == .addressLimit)
            #expect(await start("192.0.2.2") == nil)
            for host in 1...3 { #expect(await start("2001:db8:0:1::\(host)") == nil) }
            #expect(await start("2001:db8:0:1:ffff::9") == .addressLimit)
            #expect(await start("2001:db8:0:2::1") == nil)
            for loopback in ["127.0.0.1", "::1", "127.8.8.8", "::ffff:127.0.0.1"] {
                for _ in 0..<4 { #expect(await start(loopback) == nil) }
            }
            for _ in 0..<3 { #expect(await start(ClientAddress.unknown) == nil) }
            #expect(await start(ClientAddress.unknown) == .addressLimit)
            world.clock.advance(.seconds(3_600))
            #expect(await start("192.0.2.1") == nil)
        }
    }

    @Test(
        "an unknown template is refused, a disabled scheme too",
        arguments: TransportUnderTest.allCases)
    func unknownTemplate(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            let unknown = await failure { () async throws(ServiceFailure) in
                try await app.start("100009")
            }
            #expect(unknown?.code == .templateNotFound)
            world.update(.standard, disabled: true)
            let disabled = await failure { () async throws(ServiceFailure) in
                try await app.start("100001")
            }
            #expect(disabled?.code == .schemeDisabled)
        }
    }

    @Test(
        "F141 F142 no code, token, key or full number in any log line or stored row",
        arguments: TransportUnderTest.allCases)
    func secrets(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let phone = "+8613800000001"
        try await world.serving {
            let app = try world.client(bound: phone, address: "192.0.2.77")
            try await app.start("100002")
            try await app.send()
            let code = world.neighbours.lastCode
            let won = try await app.code(code)
            world.neighbours.verify(won.maskToken)
            try await app.halfway(true)
            try await app.send("+8613800000002")
            try await app.proceed(false)
            let secrets = [
                phone, "13800000001", "13800000002", code, app.token.reveal(), "192.0.2.77",
                app.runKey.reveal(), won.maskToken?.reveal() ?? "none", "device-1",
                app.view?.node?.upgoing?.text ?? "none",
            ]
            let dump = ["run", "run_event", "risk_window", "answer", "outbox"].flatMap { table in
                world.disk.dump(table).map {
                    "\($0.key) \(String(decoding: $0.body, as: UTF8.self))"
                }
            }
            #expect(!dump.isEmpty)
            for secret in secrets {
                #expect(secret.count >= 6)
                #expect(!dump.contains { $0.contains(secret) }, "a stored row shows \(secret)")
                #expect(!world.log.lines.contains { $0.contains(secret) })
            }
        }
    }
}
