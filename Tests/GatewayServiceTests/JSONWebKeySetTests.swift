import Bus
import Effects
import Foundation
import GatewayService
import Messages
import Primitives
import TestKit
import Testing

@Suite("Keys of issuers of access tokens")
struct JSONWebKeySetTests {
    private static let ed = #"{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"\#(base64(32))"}"#
    private static let ec =
        #"{"kty":"EC","crv":"P-256","kid":"ec","alg":"ES256","x":"\#(base64(32))","y":"\#(base64(32))"}"#
    private static let rsa =
        #"{"kty":"RSA","kid":"rsa","use":"sig","n":"\#(base64(256))","e":"AQAB"}"#

    private static func base64(_ count: Int) -> String {
        Base64URL.encode(Array(repeating: 0x81, count: count))
    }

    private func parsed(_ keys: String...) -> JSONWebKeySet? {
        JSONWebKeySet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }

    @Test("Ed25519, P-256 and RSA keys are read; each takes the algorithms of its kind")
    func kinds() throws {
        let set = try #require(parsed(Self.ed, Self.ec, Self.rsa))
        #expect(set.problems.isEmpty)
        let taken = Dictionary(
            uniqueKeysWithValues: set.keys.map { key in
                (key.keyID, AccessTokenAlgorithm.allCases.filter(key.takes))
            })
        #expect(
            taken == [
                "ed": [.edDSA, .ed25519], "ec": [.es256], "rsa": [.rs256, .ps256],
            ])
    }

    @Test("a key's own alg narrows it")
    func narrowed() throws {
        let key = try #require(
            parsed(Self.rsa.replacing(#""use""#, with: #""alg":"PS256","use""#))?["rsa"])
        #expect(AccessTokenAlgorithm.allCases.filter(key.takes) == [.ps256])
    }

    @Test("keys for something else and of other kinds are passed over in silence")
    func passedOver() throws {
        let set = try #require(
            parsed(
                Self.ed, Self.rsa.replacing("\"sig\"", with: "\"enc\""),
                #"{"kty":"oct","kid":"o","k":"AAAA"}"#,
                #"{"kty":"EC","crv":"P-521","kid":"p","x":"AA","y":"AA"}"#,
                Self.ec.replacing("ES256", with: "ECDH-ES")))
        #expect(set.keys.map(\.keyID) == ["ed"] && set.problems.isEmpty)
    }

    @Test("signing keys that cannot be used are named with the reason")
    func problems() throws {
        let short = Self.rsa.replacing(Self.base64(256), with: Self.base64(255))
        let set = try #require(
            parsed(
                short, Self.ed.replacing(#""kid":"ed","#, with: ""), Self.ec, Self.ec,
                Self.ed.replacing(Self.base64(32), with: Self.base64(31)),
                Self.ed.replacing(#""kid""#, with: #""alg":"ES256","kid""#)))
        #expect(set.keys.map(\.keyID) == ["ec"])
        #expect(set.problems.count == 5)
        #expect(set.problems.first?.contains("2040 bits") == true)
        #expect(JSONWebKeySet(Array("{}".utf8)) == nil)
        #expect(JSONWebKeySet(Array("no".utf8)) == nil)
    }

    @Test("a leading zero of a modulus adds no bits")
    func leadingZero() throws {
        let padded = Base64URL.encode([0] + Array(repeating: 0x81, count: 255))
        let set = try #require(parsed(Self.rsa.replacing(Self.base64(256), with: padded)))
        #expect(set.keys.isEmpty && set.problems.count == 1)
    }

    @Test("a file is read again at a reload; one that cannot be used leaves the keys")
    func file() async throws {
        let content = Lock(#"{"keys":[\#(Self.ed)]}"#)
        let keys = try KeySetFile(path: "issuer.json", log: .silent) { path in
            #expect(path == "issuer.json")
            return Array(content.withLock(\.self).utf8)
        }
        #expect(try await keys.key("ed") != nil)
        #expect(try await keys.key("ec") == nil)
        content.withLock { $0 = #"{"keys":[\#(Self.ec)]}"# }
        try keys.reload()
        #expect(try await keys.key("ed") == nil)
        #expect(try await keys.key("ec") != nil)
        for broken in ["", #"{"keys":[]}"#] {
            content.withLock { $0 = broken }
            #expect(throws: KeySetFile.Problem.self) { try keys.reload() }
        }
        #expect(try await keys.key("ec") != nil)
        #expect(throws: KeySetFile.Problem.self) {
            _ = try KeySetFile(path: "x", log: .silent) { _ in [] }
        }
    }

    @Test("the sandbox's keys are asked for every 5 s, for an unknown key once a second")
    func sandbox() async throws {
        let bus = FakeBus()
        let clock = ManualClock()
        let published = Lock("a")
        bus.on(GetAccessKeys.self) { _, _ throws(ServiceFailure) in
            PublicKeySet(keys: [
                PublicKey(
                    kty: "OKP", crv: "Ed25519", x: Self.base64(32),
                    kid: published.withLock(\.self), use: "sig", alg: "EdDSA")
            ])
        }
        func asked() -> Int { bus.requests(GetAccessKeys.self).count }
        let keys = SandboxKeys(bus: bus, pause: clock)
        #expect(try await keys.key("a") != nil)
        #expect(try await keys.key("a") != nil)
        #expect(asked() == 1)
        published.withLock { $0 = "b" }
        for _ in 0..<10 { #expect(try await keys.key("b") == nil) }
        #expect(asked() == 1)
        clock.advance(.seconds(1))
        #expect(try await keys.key("b") != nil)
        #expect(asked() == 2)
        clock.advance(.seconds(5))
        #expect(try await keys.key("b") != nil)
        #expect(asked() == 3)
    }

    @Test("the sandbox is an issuer only where there may be one")
    func production() throws {
        func names(_ bus: FakeBus?) throws -> [String] {
            try CamaraIssuers([], sandbox: bus, pause: ManualClock(), log: .silent) { _ in [] }
                .issuers.map(\.name)
        }
        #expect(try names(nil).isEmpty)
        #expect(try names(FakeBus()) == [SandboxIssuer.issuer])
    }

    @Test("issuers are configured completely, once each, with one claim for the device")
    func configuration() throws {
        var issuer = CamaraIssuer()
        issuer.issuer = "https://operator.example"
        issuer.jwksFile = "etc/operator.json"
        issuer.owner = "acme"
        issuer.schemeCode = "FA1"
        var configuration = GatewayConfiguration()
        configuration.camaraIssuers = [issuer]
        #expect(configuration.problems().isEmpty)
        configuration.camaraIssuers = [issuer, issuer]
        #expect(configuration.problems().count == 1)
        issuer.carrierTokenClaim = "a"
        issuer.numberClaim = "b"
        issuer.messages = ["no mark"]
        configuration.camaraIssuers = [issuer, CamaraIssuer()]
        #expect(configuration.problems().count == 6)
    }
}
