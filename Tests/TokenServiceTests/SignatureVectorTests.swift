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

/// Strings to sign and signatures as official clients sent them, with invented keys.
@Suite("Signatures of official clients", .closesBuses)
struct SignatureVectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let keyID: String
        let secret: String
        var securityToken: String?
        let algorithm: SignatureAlgorithm
        let text: String
        let signature: String
        var testDescription: String { name }
    }

    private static let acs3 = "ACS3-HMAC-SHA256\n"
    private static let key = "LTAI5tExampleKeyId0001"
    private static let secret = "ExampleSecretForTestsOnly0001"

    static let vectors: [Vector] = [
        Vector(
            name: "documented sample, RunInstances", keyID: "YourAccessKeyId",
            secret: "YourAccessKeySecret", algorithm: .acs3HMACSHA256,
            text:
                acs3 + "7ea06492da5221eba5297e897ce16e55f964061054b7695beedaac1145b1e259",
            signature: "06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"),
        Vector(
            name: "client 2.0.0, SendSmsVerifyCode", keyID: key, secret: secret,
            algorithm: .acs3HMACSHA256,
            text:
                acs3 + "d69bf6ca80537e8b1d9849d97ef8668037539f97ef0c2564841a68e9f984f2fe",
            signature: "6c424cee971bc9b349d72de3bcfccfc5f94ee769789d8cf3861e19ef25f1c8e6"),
        Vector(
            name: "client 2.0.0 with STS, GetFusionAuthToken", keyID: "STS.ExampleKeyId0001",
            secret: "ExampleStsSecret0001", securityToken: "ExampleSecurityToken/+==",
            algorithm: .acs3HMACSHA256,
            text:
                acs3 + "16b15023b5fdf7919bfc9fb48e8a026d7eb01252ab0013a1fa74948fcd5301e4",
            signature: "4ca46b0463a869f729f6d31ef549b625ee0014b6306efc2dd5359922dd7a4e50"),
        Vector(
            name: "client 1.2.2, GetFusionAuthToken", keyID: key, secret: secret,
            algorithm: .hmacSHA1,
            text: """
                POST&%2F&AccessKeyId%3DLTAI5tExampleKeyId0001%26Action%3DGetFusionAuthToken%26\
                BundleId%3Dcom.example.app%26DurationSeconds%3D900%26Format%3Djson%26\
                Platform%3DiOS%26SchemeCode%3DFA100000000000000201%26\
                SignatureMethod%3DHMAC-SHA1%26\
                SignatureNonce%3Deba584eb0c4de2a3b0a430308b708fd3%26SignatureVersion%3D1.0%26\
                Timestamp%3D2026-11-30T03%253A35%253A30Z%26Version%3D2017-05-25
                """,
            signature: "OjpLAFH1hWbPfAh6oUyvM9LUgM0="),
    ]

    @Test(
        "is accepted, and not with another last character", arguments: TransportUnderTest.allCases,
        vectors)
    func vector(_ transport: TransportUnderTest, _ vector: Vector) async throws {
        let world = TokenWorld(transport, real: true)
        try await put(vector, in: world)
        try await world.serving {
            let gateway = world.caller(TokenWorld.gateway)
            func request(_ signature: String) -> AuthenticateKey {
                AuthenticateKey(
                    accessKeyId: vector.keyID,
                    securityToken: vector.securityToken.map { Secret($0) },
                    algorithm: vector.algorithm, stringToSign: vector.text, signature: signature,
                    nonce: "n", timestampMilliseconds: world.clock.now().millisecondsSince1970,
                    action: "Any")
            }
            let wrong = await failure { () async throws(ServiceFailure) in
                try await gateway.call(request(vector.signature.dropLast() + "?"))
            }
            #expect(wrong?.code == .signatureMismatch)
            let right = try await gateway.call(request(vector.signature))
            #expect(right.owner == "alice")
        }
    }

    @Test("base64 has the padding that the RPC form sends")
    func base64() {
        #expect(Base64.encode([]) == "")
        #expect(Base64.encode(Array("f".utf8)) == "Zg==")
        #expect(Base64.encode(Array("fo".utf8)) == "Zm8=")
        #expect(Base64.encode(Array("foo".utf8)) == "Zm9v")
        #expect(Base64.encode([0xfb, 0xff]) == "+/8=")
    }

    /// Writes the key's rows as `key.create` and `key.create_temporary` would.
    private func put(_ vector: Vector, in world: TokenWorld) async throws {
        let store = world.store()
        let now = world.clock.now()
        let parentID = vector.securityToken == nil ? vector.keyID : "LTAI5tParent"
        func sealed(_ context: String) -> StoredBytes {
            StoredBytes(world.cryptography.seal(Array(vector.secret.utf8), context: context))
        }
        let parent = APIKey(
            id: parentID, request: CreateAccessKey(owner: "alice"),
            secret: sealed(APIKey.context(parentID)), createdAt: now)
        let temporary = vector.securityToken.map {
            TemporaryKey(
                id: vector.keyID, parentID: parentID, schemeCodes: nil, actions: nil,
                secret: sealed(TemporaryKey.context(vector.keyID)),
                securityToken: world.cryptography.digest($0), createdAt: now,
                expiresAt: now + .seconds(900))
        }
        try await store.decide { rows throws(ServiceFailure) in
            rows.put(TokenTables.apiKey, parent)
            if let temporary { rows.put(TokenTables.temporaryKey, temporary) }
        }
    }
}
