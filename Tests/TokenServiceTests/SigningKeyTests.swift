import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import TokenService

@Suite("Signing keys", .closesBuses)
struct SigningKeyTests {
    private let start = WallTime(millisecondsSince1970: 1_800_000_000_000)

    private func record(_ name: String, _ createdAt: WallTime) -> SigningKeyRecord {
        SigningKeyRecord(
            keyID: name, publicKey: StoredBytes([1]), seed: StoredBytes([2]), createdAt: createdAt,
            retiredAt: nil)
    }

    @Test(
        "a retired key is published until no token of it can live, and kept while answers name it")
    func overlap() {
        var set = SigningKeySet(first: record("one", start))
        #expect(
            set.rotate(to: record("two", start + .seconds(10)), now: start + .seconds(10))
                == .rotated)
        let retiredAt = start + .seconds(10)
        #expect(set.current?.keyID == "two")
        let lastToken = retiredAt + .seconds(43_200) + .seconds(60)
        #expect(set.published(at: lastToken).map(\.keyID) == ["two", "one"])
        #expect(
            set.published(at: retiredAt + SigningKeySet.publishedFor).map(\.keyID) == ["two"])
        #expect(set.rotate(to: record("three", lastToken), now: lastToken) == .rotated)
        #expect(set.keys.map(\.keyID) == ["three", "two", "one"])
        let later = retiredAt + SigningKeySet.keptFor
        #expect(set.rotate(to: record("four", later), now: later) == .rotated)
        #expect(set.keys.map(\.keyID) == ["four", "three", "two"])
    }

    @Test("rotations within 48 hours are bounded, and a full set changes nothing")
    func bound() {
        var set = SigningKeySet(first: record("0", start))
        for number in 1..<SigningKeySet.countMax {
            #expect(set.rotate(to: record("\(number)", start), now: start) == .rotated)
        }
        let before = set
        #expect(set.rotate(to: record("more", start), now: start) == .full)
        #expect(set == before)
    }

    @Test("a clock that went back retires a key no earlier than it was made")
    func clockBack() {
        var set = SigningKeySet(first: record("one", start))
        _ = set.rotate(to: record("two", start - .seconds(9_000)), now: start - .seconds(9_000))
        #expect(set.key("one")?.retiredAt == start)
    }

    @Test(
        "two instances that start together agree on one key", arguments: TransportUnderTest.allCases
    )
    func firstStart(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport, real: true)
        try await world.serving(instances: 4) {
            let sets = try await withThrowingTaskGroup(of: [String].self) { group in
                for instance in ["a", "b", "c", "d"] {
                    group.addTask {
                        try await world.caller(TokenWorld.alice).call(
                            GetSigningKeys(), CallOptions(instanceID: instance)
                        ).keys.map(\.kid)
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(sets.count == 1 && sets.first?.count == 1)
        }
    }

    @Test(
        "after a rotation on one instance the other shows and accepts the new key at once",
        arguments: TransportUnderTest.allCases)
    func rotationAcrossInstances(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport, real: true)
        try await world.serving(instances: 2) {
            let alice = world.caller(TokenWorld.alice)
            let (a, b) = (CallOptions(instanceID: "a"), CallOptions(instanceID: "b"))
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            let old = try await alice.call(IssueAuthToken.ios(code), b).authToken
            let oldKey = try #require(CompactToken(old)?.keyID)

            let rotated = try await world.caller(TokenWorld.olga).call(RotateSigningKey(), a)
            #expect(rotated.kid != oldKey && rotated.publishedKids == [rotated.kid, oldKey])
            let new = try await alice.call(IssueAuthToken.ios(code), a).authToken
            #expect(CompactToken(new)?.keyID == rotated.kid)
            // `b` has not heard of the rotation: it looks the unknown key up.
            for instance in [b, a] {
                for token in [new, old] {
                    let state = try await alice.call(
                        IntrospectAuthToken(authToken: token), instance)
                    #expect(state.active)
                }
            }
            #expect(
                try await alice.call(GetSigningKeys(), b).keys.map(\.kid)
                    == [rotated.kid, oldKey])
            world.clock.advance(SigningKeys.freshFor)
            let later = try await alice.call(IssueAuthToken.ios(code), b).authToken
            #expect(CompactToken(later)?.keyID == rotated.kid)
        }
    }

    @Test(
        "the key id is the RFC 7638 thumbprint of the published key",
        arguments: TransportUnderTest.allCases)
    func thumbprint(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport, real: true)
        try await world.serving {
            let key = try #require(
                try await world.caller(TokenWorld.alice).call(GetSigningKeys()).keys.first)
            #expect(key.kty == "OKP" && key.crv == "Ed25519" && key.use == "sig")
            #expect(key.alg == "EdDSA" && Base64URL.decode(key.x)?.count == 32)
            let text = "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"\(key.x)\"}"
            #expect(key.kid == Base64URL.encode(world.signer.sha256(Array(text.utf8))))
        }
    }

    @Test("only operators rotate", arguments: TransportUnderTest.allCases)
    func rotateIsForOperators(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            for principal in [TokenWorld.alice, TokenWorld.scene, TokenWorld.gateway] {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await world.caller(principal).call(RotateSigningKey())
                }
                #expect(refused?.code == .notAllowed)
            }
        }
    }
}
