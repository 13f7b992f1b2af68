import Bus
import Cryptography
import Effects
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import GatewayService

/// The surface over a fake bus whose token service knows one key, and a client that signs for it.
struct DypnsapiWorld: Sendable {
    enum Signing: CaseIterable, Sendable { case acs3, rpc, rpcForm }

    static let keyID = "LTAI5tExampleKeyId0001"
    static let secret = "ExampleSecretForTestsOnly0001"
    static let scheme = "FA10000000000001"
    static let otherScheme = "FA10000000000002"
    static let now = "2026-11-30T03:33:32Z"

    let bus = FakeBus()
    let gateway: Gateway
    let log = RecordingLog()

    init(
        failedCheckIsError: Bool = true,
        key: AuthenticatedKey = AuthenticatedKey(
            owner: "alice", defaultSchemeCode: DypnsapiWorld.scheme)
    ) throws {
        var configuration = GatewayConfiguration()
        configuration.failedCheckIsError = failedCheckIsError
        let edge = DypnsapiEdge(
            configuration: configuration, bus: bus, signer: SodiumSigner(), metrics: NoMetrics(),
            log: Log(log))
        gateway = Gateway(
            edges: [edge], proxies: try #require(TrustedProxies([])),
            random: SeededRandom(seed: 7), pause: ManualClock(), metrics: NoMetrics(),
            log: Log(log))
        bus.on(AuthenticateKey.self) { request, _ throws(ServiceFailure) in
            guard request.accessKeyId == Self.keyID else {
                throw ServiceFailure(.keyNotFound, "no such key")
            }
            guard Self.sign(request.stringToSign, request.algorithm) == request.signature else {
                throw ServiceFailure(.signatureMismatch, "another signature")
            }
            return key
        }
    }

    /// As in the token service.
    static func sign(
        _ text: String, _ algorithm: SignatureAlgorithm, secret: String = DypnsapiWorld.secret
    ) -> String {
        let authenticator = SodiumAuthenticator()
        let message = Array(text.utf8)
        switch algorithm {
        case .acs3HMACSHA256:
            return Hex.encode(
                authenticator.hmacSHA256(message, key: Secret(Array(secret.utf8))))
        case .hmacSHA1:
            let url = Base64URL.encode(
                authenticator.hmacSHA1(message, key: Secret(Array((secret + "&").utf8))))
            let body = url.replacing("-", with: "+").replacing("_", with: "/")
            return body + String(repeating: "=", count: (4 - body.utf8.count % 4) % 4)
        }
    }

    static func sha256(_ bytes: [UInt8]) -> String { Hex.encode(SodiumSigner().sha256(bytes)) }

    // MARK: A client

    /// - Parameter parameters: of the action; one without a value takes a standard one away.
    func call(
        _ action: String, _ parameters: [String: String?] = [:], _ signing: Signing = .acs3,
        method: String = "POST", headers: [(String, String)] = [], secret: String = Self.secret
    ) async -> DypnsapiReply {
        switch signing {
        case .acs3:
            await send(
                Self.acs3(
                    action, parameters.compactMapValues { $0 }, method: method, headers: headers,
                    secret: secret))
        case .rpc, .rpcForm:
            await send(
                Self.rpc(
                    action, parameters, method: method, headers: headers, secret: secret,
                    isForm: signing == .rpcForm))
        }
    }

    func send(_ request: HTTPRequest) async -> DypnsapiReply {
        DypnsapiReply(await gateway.answer(request))
    }

    static func encoded(_ parameters: [String: String]) -> String {
        parameters.map { PercentCoding.encode($0.key) + "=" + PercentCoding.encode($0.value) }
            .joined(separator: "&")
    }

    static func acs3(
        _ action: String, _ parameters: [String: String], method: String = "POST",
        body: [UInt8] = [], headers given: [(String, String)] = [], secret: String = Self.secret
    ) -> HTTPRequest {
        let headers = given.map { ($0.0.lowercased(), $0.1) }
        var fields: [(String, String)] = [
            ("host", "127.0.0.1:18088"), ("x-acs-version", "2017-05-25"),
            ("x-acs-action", action), ("x-acs-date", now), ("x-acs-signature-nonce", "n-1"),
            ("accept", "application/json"), ("x-acs-content-sha256", sha256(body)),
        ]
        for (name, value) in headers {
            fields.removeAll { $0.0 == name }
            fields.append((name, value))
        }
        let signed = fields.map(\.0).filter {
            $0.hasPrefix("x-acs-") || ["host", "content-type", "idempotency-key"].contains($0)
        }.sorted()
        let query = encoded(parameters)
        let lines = signed.map { name in
            name + ":" + (fields.first { $0.0 == name }?.1 ?? "") + "\n"
        }
        let sorted = query.split(separator: "&").sorted {
            $0.prefix { $0 != "=" } < $1.prefix { $0 != "=" }
        }
        let canonical = [
            method, "/", sorted.joined(separator: "&"), lines.joined(),
            signed.joined(separator: ";"), sha256(body),
        ].joined(separator: "\n")
        let text = "ACS3-HMAC-SHA256\n" + sha256(Array(canonical.utf8))
        fields.append(
            (
                "Authorization",
                "ACS3-HMAC-SHA256 Credential=\(keyID),SignedHeaders="
                    + signed.joined(separator: ";")
                    + ",Signature=\(sign(text, .acs3HMACSHA256, secret: secret))"
            ))
        return HTTPRequest(
            head: HTTPRequestHead(
                method: method, path: "/", query: query,
                headers: HTTPHeaders(fields.map { HTTPHeaders.Field(name: $0.0, value: $0.1) })),
            body: body)
    }

    static func rpc(
        _ action: String, _ given: [String: String?], method: String = "POST",
        headers: [(String, String)] = [], secret: String = Self.secret, isForm: Bool = false
    ) -> HTTPRequest {
        var parameters: [String: String] = [
            "Action": action, "Version": "2017-05-25", "Format": "json", "AccessKeyId": keyID,
            "SignatureMethod": "HMAC-SHA1", "SignatureVersion": "1.0", "SignatureNonce": "n-1",
            "Timestamp": now, "SignatureType": "",
        ]
        for (name, value) in given { parameters[name] = value }
        let sorted = encoded(parameters).split(separator: "&").sorted {
            $0.prefix { $0 != "=" } < $1.prefix { $0 != "=" }
        }
        let text = "\(method)&%2F&" + PercentCoding.encode(sorted.joined(separator: "&"))
        if given["Signature"] == nil {
            parameters["Signature"] = sign(text, .hmacSHA1, secret: secret)
        }
        var fields = headers + [("Host", "127.0.0.1:18088")]
        if isForm { fields.append(("content-type", "application/x-www-form-urlencoded")) }
        return HTTPRequest(
            head: HTTPRequestHead(
                method: method, path: "/", query: isForm ? nil : encoded(parameters),
                headers: HTTPHeaders(fields.map { HTTPHeaders.Field(name: $0.0, value: $0.1) })),
            body: isForm ? Array(encoded(parameters).utf8) : [])
    }
}

/// An answer, its body read strictly.
struct DypnsapiReply {
    let status: Int
    let headers: HTTPHeaders
    let body: JSONTree?
    let bytes: [UInt8]

    init(_ response: HTTPResponse) {
        status = response.status
        headers = response.headers
        bytes = response.bytes ?? []
        body = try? StrictJSON.read(bytes)
    }

    subscript(_ path: String...) -> JSONTree? {
        path.reduce(body) { tree, name in
            guard case .object(let members)? = tree else { return nil }
            return members.first { $0.name == name }?.value
        }
    }

    var code: String? { self["Code"]?.text }
    var message: String? { self["Message"]?.text }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONTree {
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    var names: [String] {
        if case .object(let members) = self { members.map(\.name) } else { [] }
    }
}
