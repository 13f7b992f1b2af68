import Bus
import Cryptography
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import TokenService

@Suite("Signed calls of the HTTP edge", .closesBuses)
struct KeyAuthenticationTests {
    /// Runs `body` with a fresh key of `alice` and a caller of the gateway.
    private func withKey(
        _ transport: TransportUnderTest,
        callsPerSecondMax: Int? = nil, actions: [String]? = nil, instances: Int = 1,
        _ body: @Sendable (TokenWorld, Signer, any BusCaller) async throws -> Void
    ) async throws {
        let world = TokenWorld(transport)
        try await world.serving(instances: instances) {
            let created = try await world.caller(TokenWorld.olga).call(
                CreateAccessKey(
                    owner: "alice", actions: actions, callsPerSecondMax: callsPerSecondMax))
            try await body(
                world, Signer(created, world.authenticator), world.caller(TokenWorld.gateway))
        }
    }

    private func code(
        _ gateway: any BusCaller, _ request: AuthenticateKey, _ options: CallOptions = CallOptions()
    ) async -> ErrorCode? {
        await failure { () async throws(ServiceFailure) in
            try await gateway.call(request, options)
        }?.code
    }

    @Test(
        "a right signature tells owner and scope; a wrong one, another key, another text do not",
        arguments: TransportUnderTest.allCases)
    func signatures(_ transport: TransportUnderTest) async throws {
        try await withKey(transport) { world, signer, gateway in
            let now = world.clock.now()
            let right = signer.request(nonce: "n1", at: now)
            let key = try await gateway.call(right)
            #expect(key.owner == "alice")

            func changed(_ signature: String, _ id: String? = nil, _ text: String? = nil)
                -> AuthenticateKey
            {
                AuthenticateKey(
                    accessKeyId: id ?? right.accessKeyId, algorithm: right.algorithm,
                    stringToSign: text ?? right.stringToSign, signature: signature, nonce: "n2",
                    timestampMilliseconds: right.timestampMilliseconds, action: right.action)
            }
            #expect(
                await code(gateway, changed(right.signature.uppercased())) == .signatureMismatch)
            #expect(await code(gateway, changed("")) == .signatureMismatch)
            #expect(await code(gateway, changed(right.signature + "0")) == .signatureMismatch)
            #expect(await code(gateway, changed(right.signature, nil, "x")) == .signatureMismatch)
            #expect(await code(gateway, changed(right.signature, "LTAI5tNone")) == .keyNotFound)
            #expect(await code(gateway, changed(right.signature, "STS.None")) == .keyNotFound)
            // None of these used the nonce up.
            #expect(await code(gateway, changed(right.signature)) == nil)
        }
    }

    @Test(
        "F029 of one nonce, over all instances and in parallel, exactly one call passes",
        arguments: TransportUnderTest.allCases)
    func nonces(_ transport: TransportUnderTest) async throws {
        try await withKey(transport, instances: 2) { world, signer, _ in
            let request = signer.request(nonce: "once", at: world.clock.now())
            let outcomes = await withTaskGroup(of: ErrorCode?.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        await code(
                            world.caller(TokenWorld.gateway, seed: UInt64(number)), request,
                            CallOptions(instanceID: number % 2 == 0 ? "a" : "b"))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == nil } == 1)
            #expect(outcomes.count { $0 == .nonceUsed } == 31)
        }
    }

    @Test(
        "a nonce belongs to its key, and is refused until its timestamp is refused too",
        arguments: TransportUnderTest.allCases)
    func nonceLifetime(_ transport: TransportUnderTest) async throws {
        try await withKey(transport) { world, signer, gateway in
            let other = Signer(
                try await world.caller(TokenWorld.olga).call(CreateAccessKey(owner: "bob")),
                world.authenticator)
            // As early as it may come: 15 minutes before its time.
            let time = world.clock.now() + TokenService.timestampWindow
            let request = signer.request(nonce: "n", at: time)
            #expect(await code(gateway, request) == nil)
            #expect(await code(gateway, other.request(nonce: "n", at: time)) == nil)
            for _ in 0..<30 {
                _ = try await world.store().sweep(now: world.clock.now(), limit: 100)
                #expect(await code(gateway, request) == .nonceUsed)
                world.clock.advance(.seconds(60))
            }
            #expect(await code(gateway, request) == .nonceUsed)
            world.clock.advance(.milliseconds(1))
            #expect(await code(gateway, request) == .timestampExpired)
        }
    }

    @Test(
        "a timestamp lies within 15 minutes of now, on either side",
        arguments: TransportUnderTest.allCases)
    func timestamps(_ transport: TransportUnderTest) async throws {
        try await withKey(transport) { world, signer, gateway in
            let now = world.clock.now()
            let window = TokenService.timestampWindow
            let beyond = window + .milliseconds(1)
            #expect(await code(gateway, signer.request(nonce: "1", at: now - window)) == nil)
            #expect(await code(gateway, signer.request(nonce: "2", at: now + window)) == nil)
            for (nonce, time) in [("3", now - beyond), ("4", now + beyond)] {
                #expect(
                    await code(gateway, signer.request(nonce: nonce, at: time))
                        == .timestampExpired)
            }
            for time in [Int64.min, .max] {
                let request = signer.request(
                    nonce: "5", at: WallTime(millisecondsSince1970: time))
                #expect(await code(gateway, request) == .timestampExpired)
            }
        }
    }

    @Test(
        "a request that is delivered twice gets its answer twice",
        arguments: TransportUnderTest.allCases)
    func redelivery(_ transport: TransportUnderTest) async throws {
        try await withKey(transport) { world, signer, gateway in
            let request = signer.request(nonce: "n", at: world.clock.now())
            let options = CallOptions(requestKey: "k")
            let first = try await gateway.call(request, options)
            #expect(try await gateway.call(request, options) == first)
            #expect(await code(gateway, request) == .nonceUsed)

            // Without a key of its own the bus request id names it: the same seed, the same id.
            let again = signer.request(nonce: "m", at: world.clock.now())
            for _ in 0..<2 {
                #expect(await code(world.caller(TokenWorld.gateway, seed: 4_711), again) == nil)
            }
            #expect(await code(world.caller(TokenWorld.gateway, seed: 4_712), again) == .nonceUsed)
        }
    }

    @Test(
        "calls per second are counted exactly, over all instances",
        arguments: TransportUnderTest.allCases)
    func callsPerSecond(_ transport: TransportUnderTest) async throws {
        try await withKey(transport, callsPerSecondMax: 5, instances: 2) { world, signer, gateway in
            let now = world.clock.now()
            let outcomes = await withTaskGroup(of: ErrorCode?.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        await code(
                            world.caller(TokenWorld.gateway, seed: UInt64(number)),
                            signer.request(nonce: "n\(number)", at: now),
                            CallOptions(
                                requestKey: "k\(number)",
                                instanceID: number % 2 == 0 ? "a" : "b"))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == nil } == 5)
            #expect(outcomes.count { $0 == .rateLimited } == 15)
            world.clock.advance(.milliseconds(250))
            let refused = await failure { () async throws(ServiceFailure) in
                try await gateway.call(signer.request(nonce: "x", at: now))
            }
            #expect(refused?.code == .rateLimited && refused?.retryAfterMilliseconds == 750)
            world.clock.advance(.milliseconds(750))
            // A refused call used no nonce up.
            #expect(await code(gateway, signer.request(nonce: "x", at: now)) == nil)
        }
    }

    @Test("a lagging clock does not open a second again; one that was set back long does")
    func windowAndClocks() {
        let start = WallTime(millisecondsSince1970: 1_800_000_000_500)
        var window = CallWindow(keyID: "k", now: start)
        #expect(window.count(limit: 1, now: start) == .counted)
        let lagging = start - .seconds(3)
        #expect(
            window.count(limit: 1, now: lagging) == .usedUp(retryAfter: .milliseconds(3_500)))
        #expect(window.count(limit: 1, now: start + .milliseconds(500)) == .counted)
        #expect(window.count(limit: 1, now: start - .seconds(3_600)) == .counted)
        #expect(window.count(limit: 0, now: start) == .usedUp(retryAfter: .milliseconds(500)))
    }

    @Test(
        "a revoked key is refused at once on every instance, although its secret is known there",
        arguments: TransportUnderTest.allCases)
    func revocation(_ transport: TransportUnderTest) async throws {
        try await withKey(transport, instances: 2) { world, signer, gateway in
            for instance in ["a", "b"] {
                let request = signer.request(nonce: instance, at: world.clock.now())
                #expect(await code(gateway, request, CallOptions(instanceID: instance)) == nil)
            }
            _ = try await world.caller(TokenWorld.olga).call(
                RevokeAccessKey(accessKeyId: signer.keyID), CallOptions(instanceID: "a"))
            for instance in ["a", "b"] {
                let request = signer.request(nonce: "\(instance)2", at: world.clock.now())
                #expect(
                    await code(gateway, request, CallOptions(instanceID: instance)) == .keyInactive)
            }
        }
    }

    @Test("a key with named actions covers no other", arguments: TransportUnderTest.allCases)
    func actions(_ transport: TransportUnderTest) async throws {
        try await withKey(transport, actions: ["GetMobile"]) { world, signer, gateway in
            let now = world.clock.now()
            #expect(
                await code(gateway, signer.request(nonce: "1", at: now, action: "GetMobile")) == nil
            )
            #expect(
                await code(gateway, signer.request(nonce: "2", at: now, action: "getMobile"))
                    == .actionForbidden)
        }
    }

    @Test("only the gateway asks, and forms have bounds", arguments: TransportUnderTest.allCases)
    func bounds(_ transport: TransportUnderTest) async throws {
        try await withKey(transport) { world, signer, gateway in
            let now = world.clock.now()
            for principal in [TokenWorld.alice, TokenWorld.olga, TokenWorld.scene] {
                let request = signer.request(nonce: "1", at: now)
                #expect(await code(world.caller(principal), request) == .notAllowed)
            }
            for nonce in ["", String(repeating: "n", count: 129)] {
                #expect(
                    await code(gateway, signer.request(nonce: nonce, at: now)) == .invalidParameters
                )
            }
            let long = signer.request(
                nonce: "1", at: now, text: String(repeating: "x", count: 65_537))
            #expect(await code(gateway, long) == .invalidParameters)
        }
    }

    @Test(
        "a token of another issuer is fresh once, over instances and after a restart",
        arguments: TransportUnderTest.allCases)
    func consume(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        let until = (world.clock.now() + .seconds(300)).millisecondsSince1970
        let token = ConsumeToken(issuer: "carrier", tokenId: "t1", untilMilliseconds: until)
        try await world.serving(instances: 2) {
            let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        try await world.caller(TokenWorld.gateway, seed: UInt64(number)).call(token)
                            .fresh
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
        }
        let again = TokenWorld(transport, disk: world.disk)
        try await again.serving {
            let gateway = again.caller(TokenWorld.gateway)
            let afterRestart = try await gateway.call(token)
            #expect(!afterRestart.fresh)
            // Lengths are part of the name: "carrier" + "t1" is not "carriert" + "1".
            let other = ConsumeToken(issuer: "carriert", tokenId: "1", untilMilliseconds: until)
            let options = CallOptions(requestKey: "k")
            #expect(try await gateway.call(other, options).fresh)
            #expect(try await gateway.call(other, options).fresh)
            let far = ConsumeToken(issuer: "c", tokenId: "t", untilMilliseconds: .max)
            let refused = await failure { () async throws(ServiceFailure) in
                try await gateway.call(far)
            }
            #expect(refused?.code == .invalidParameters)
            let old = ConsumeToken(issuer: "c", tokenId: "t", untilMilliseconds: .min)
            #expect(try await gateway.call(old).fresh)
            #expect(try await !gateway.call(old).fresh)
        }
    }
}
