import Bus
import Effects
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import GatewayService

/// Every row of the original's gateway errors, on both signatures where both can have it.
@Suite("dypnsapi: refusals")
struct DypnsapiRefusalTests {
    typealias World = DypnsapiWorld
    private static let describe = ["SchemeCode": World.scheme as String?]

    /// A world whose schemes exist.
    private func world(
        key: AuthenticatedKey = AuthenticatedKey(owner: "alice", defaultSchemeCode: World.scheme)
    ) throws -> World {
        let world = try World(key: key)
        world.bus.on(GetScheme.self) { request, _ throws(ServiceFailure) in
            Self.schemeRow(request.schemeCode)
        }
        return world
    }

    static func schemeRow(_ code: String, disabled: Bool = false) -> Scheme {
        Scheme(
            schemeCode: code, version: 1, name: "app", owner: "alice",
            app: AppIdentity(iosBundleId: "com.example.app"), policy: .standard,
            disabled: disabled, createdAtMilliseconds: 1, updatedAtMilliseconds: 1)
    }

    private func expect(
        _ reply: DypnsapiReply, _ status: Int, _ code: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(reply.status == status, sourceLocation: sourceLocation)
        #expect(reply.code == code, sourceLocation: sourceLocation)
        #expect(
            reply.headers["content-type"] == "application/json;charset=utf-8",
            sourceLocation: sourceLocation)
        let id = reply.headers["x-acs-request-id"]
        #expect(id != nil && id == reply["RequestId"]?.text, sourceLocation: sourceLocation)
        #expect(reply.message?.isEmpty == false, sourceLocation: sourceLocation)
        guard status >= 400 else { return }
        let names = reply.body?.names ?? []
        let missing = ["RequestId", "HostId", "Code", "Message", "Recommend"].filter {
            !names.contains($0)
        }
        #expect(missing.isEmpty, sourceLocation: sourceLocation)
    }

    @Test("a genuine call passes with either signature", arguments: World.Signing.allCases)
    func genuine(_ signing: World.Signing) async throws {
        let world = try world()
        let reply = await world.call("DescribeVerifyScheme", Self.describe, signing)
        #expect(reply.status == 200)
        #expect(reply.code == "OK" && reply.message == "OK")
        #expect(reply.headers["x-acs-request-id"] == reply["RequestId"]?.text)
        #expect(reply.headers["content-type"] == "application/json;charset=utf-8")
        let asked = world.bus.requests(AuthenticateKey.self)
        #expect(asked.map(\.action) == ["DescribeVerifyScheme"])
        #expect(world.bus.options(of: AuthenticateKey.self).map(\.onBehalfOf) == [nil])
        #expect(
            world.bus.options(of: GetScheme.self).map(\.onBehalfOf) == [.integrator("alice")])
    }

    @Test("GET is signed and served like POST", arguments: [World.Signing.acs3, .rpc])
    func get(_ signing: World.Signing) async throws {
        let reply = try await world().call(
            "DescribeVerifyScheme", Self.describe, signing, method: "GET")
        #expect(reply.status == 200)
    }

    @Test("a wrong secret: the message has a colon and then what was signed")
    func wrongSecret() async throws {
        for signing in World.Signing.allCases {
            let world = try world()
            let reply = await world.call(
                "DescribeVerifyScheme", Self.describe, signing, secret: "another")
            expect(reply, 400, "SignatureDoesNotMatch")
            let asked = try #require(world.bus.requests(AuthenticateKey.self).first)
            // As an old client library takes it apart.
            let parts = try #require(reply.message).split(
                separator: ":", omittingEmptySubsequences: false)
            #expect(parts.count == 2)
            #expect(parts.last.map(String.init) == asked.stringToSign)
            #expect(world.bus.requests(GetScheme.self).isEmpty)
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let failure: ServiceFailure
        let status: Int
        let code: String
        var testDescription: String { code }

        init(_ code: ErrorCode, _ status: Int, _ public: String, wait: Int64? = nil) {
            failure = ServiceFailure(
                code, "sealed value of row 7 lost", retryAfterMilliseconds: wait)
            self.status = status
            self.code = `public`
        }
    }

    static let ofKeys = [
        Row(.keyNotFound, 404, "InvalidAccessKeyId.NotFound"),
        Row(.keyInactive, 400, "InvalidAccessKeyId.Inactive"),
        Row(.signatureMismatch, 400, "SignatureDoesNotMatch"),
        Row(.nonceUsed, 400, "SignatureNonceUsed"),
        Row(.timestampExpired, 400, "InvalidTimeStamp.Expired"),
        Row(.rateLimited, 400, "Throttling.User", wait: 700),
        Row(.actionForbidden, 403, "Forbidden.RAM"),
        Row(.tokenInvalid, 400, "MissingSecurityToken"),
        Row(.tokenExpired, 400, "InvalidSecurityToken.Expired"),
        Row(.notAllowed, 500, "InternalError"),
        Row(.unavailable, 503, "ServiceUnavailable"),
        Row(.overloaded, 503, "ServiceUnavailable", wait: 50),
        Row(.workerLost, 503, "ServiceUnavailable"),
        Row(.deadlinePassed, 503, "ServiceUnavailable"),
        Row(.internalFault, 500, "InternalError"),
        Row(ErrorCode(rawValue: "never_heard_of"), 500, "InternalError"),
    ]

    @Test("what the token service says of a key", arguments: ofKeys)
    func keys(_ row: Row) async throws {
        for signing in World.Signing.allCases {
            let world = try world()
            world.bus.on(AuthenticateKey.self) { _, _ throws(ServiceFailure) in
                throw row.failure
            }
            let reply = await world.call("DescribeVerifyScheme", Self.describe, signing)
            expect(reply, row.status, row.code)
            // Our words stay inside.
            #expect(
                !reply.text.contains("sealed") && !reply.text.contains(row.failure.code.rawValue))
        }
    }

    @Test("throttling tells the wait in milliseconds, in both headers that clients read")
    func throttling() async throws {
        let world = try world()
        world.bus.on(AuthenticateKey.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.rateLimited, "used up", retryAfterMilliseconds: 700)
        }
        let reply = await world.call("DescribeVerifyScheme", Self.describe)
        #expect(reply.headers["x-acs-retry-after"] == "700")
        #expect(reply.headers["x-ratelimit-user"] == "Remain:0,TimeLeft:700")
        #expect(reply.headers["retry-after"] == "1")
    }

    @Test("a temporary key with another's security token is told apart from one without any")
    func securityTokens() async throws {
        let world = try world()
        world.bus.on(AuthenticateKey.self) { request, _ throws(ServiceFailure) in
            throw ServiceFailure(.tokenInvalid, "not of this key")
        }
        let acs3 = await world.call(
            "DescribeVerifyScheme", Self.describe, headers: [("x-acs-security-token", "other")])
        expect(acs3, 400, "InvalidSecurityToken.MismatchWithAccessKey")
        let rpc = await world.call(
            "DescribeVerifyScheme", ["SchemeCode": World.scheme, "SecurityToken": "other"], .rpc)
        expect(rpc, 400, "InvalidSecurityToken.MismatchWithAccessKey")
        let asked = world.bus.requests(AuthenticateKey.self)
        #expect(asked.map { $0.securityToken?.reveal() } == ["other", "other"])
    }

    // MARK: Form of the signature

    static let rpcForms: [(String, String?, Int, String)] = [
        ("Action", nil, 400, "MissingAction"),
        ("Action", "", 400, "MissingAction"),
        ("Action", "GetSmsAuthTokens", 404, "InvalidApi.NotFound"),
        ("Action", "describeVerifyScheme", 404, "InvalidApi.NotFound"),
        ("Version", nil, 400, "MissingVersion"),
        ("Version", "2014-05-26", 400, "InvalidVersion"),
        ("AccessKeyId", nil, 400, "MissingAccessKeyId"),
        ("AccessKeyId", String(repeating: "k", count: 65), 404, "InvalidAccessKeyId.NotFound"),
        ("AccessKeyId", "LTAI5tOther", 404, "InvalidAccessKeyId.NotFound"),
        ("Signature", "", 400, "MissingSignature"),
        ("SignatureMethod", nil, 400, "MissingSignatureMethod"),
        ("SignatureMethod", "HMAC-SHA256", 400, "InvalidSignatureMethod"),
        ("SignatureVersion", nil, 400, "MissingSignatureVersion"),
        ("SignatureVersion", "2.0", 400, "IncompleteSignature"),
        ("SignatureNonce", nil, 400, "MissingSignatureNonce"),
        (
            "SignatureNonce", String(repeating: "n", count: 129), 400,
            "InvalidParameter.SignatureNonce"
        ),
        ("Timestamp", nil, 400, "MissingTimestamp"),
        ("Timestamp", "2026-11-30 03:33:32", 400, "InvalidTimeStamp.Format"),
        ("Timestamp", "1796009612", 400, "InvalidTimeStamp.Format"),
        ("SchemeCode", nil, 400, "MissingSchemeCode"),
    ]

    @Test("an RPC call that lacks a part or has a wrong one", arguments: rpcForms)
    func rpcForm(_ row: (name: String, value: String?, status: Int, code: String)) async throws {
        var parameters = Self.describe
        parameters.updateValue(row.value, forKey: row.name)
        let reply = try await world().call("DescribeVerifyScheme", parameters, .rpc)
        expect(reply, row.status, row.code)
    }

    static let acs3Forms: [(String, String, Int, String)] = [
        ("x-acs-action", "", 400, "MissingAction"),
        ("x-acs-action", "Nonsense", 404, "InvalidApi.NotFound"),
        ("x-acs-version", "", 400, "MissingVersion"),
        ("x-acs-version", "2017-05-26", 400, "InvalidVersion"),
        ("x-acs-date", "", 400, "InvalidTimeStamp.Format"),
        ("x-acs-date", "2026-13-30T03:33:32Z", 400, "InvalidTimeStamp.Format"),
        ("x-acs-date", "2026-11-30T03:33:32+08:00", 400, "InvalidTimeStamp.Format"),
        ("x-acs-date", "2026-11-30T24:00:00Z", 400, "InvalidTimeStamp.Format"),
        ("x-acs-signature-nonce", "", 400, "MissingSignatureNonce"),
        (
            "x-acs-content-sha256",
            "0000000000000000000000000000000000000000000000000000000000000000", 400,
            "SignatureDoesNotMatch"
        ),
        (
            "x-acs-accesskey-id", "LTAI5tAnother", 400,
            "InvalidSecurityToken.MismatchWithAccessKey"
        ),
    ]

    @Test("an ACS3 call with a wrong field", arguments: acs3Forms)
    func acs3Form(_ row: (name: String, value: String, status: Int, code: String)) async throws {
        let reply = try await world().call(
            "DescribeVerifyScheme", Self.describe, headers: [(row.name, row.value)])
        expect(reply, row.status, row.code)
    }

    static let host = "host"
    static let all =
        "host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version"

    static let authorizations: [(String, String)] = [
        ("ACS3-HMAC-SM3 Credential=a,SignedHeaders=\(all),Signature=0", "InvalidSignatureMethod"),
        ("ACS3-RSA-SHA256 Credential=a,SignedHeaders=\(all),Signature=0", "InvalidSignatureMethod"),
        ("Bearer abc", "InvalidSignatureMethod"),
        ("ACS3-HMAC-SHA256", "IncompleteSignature"),
        ("ACS3-HMAC-SHA256 Credential=a,SignedHeaders=\(all)", "IncompleteSignature"),
        ("ACS3-HMAC-SHA256 Credential=a,Signature=0", "IncompleteSignature"),
        ("ACS3-HMAC-SHA256 SignedHeaders=\(all),Signature=0", "IncompleteSignature"),
        (
            "ACS3-HMAC-SHA256 Credential=a,Credential=b,SignedHeaders=\(all),Signature=0",
            "IncompleteSignature"
        ),
        ("ACS3-HMAC-SHA256 Credential=a,SignedHeaders=,Signature=0", "IncompleteSignature"),
        (
            "ACS3-HMAC-SHA256 Credential=a,SignedHeaders=\(all);absent,Signature=0",
            "IncompleteSignature"
        ),
        (
            "ACS3-HMAC-SHA256 Credential=a,SignedHeaders=\(all);host,Signature=0",
            "IncompleteSignature"
        ),
        (
            "ACS3-HMAC-SHA256 Credential=a,SignedHeaders=\(all);Accept,Signature=0",
            "IncompleteSignature"
        ),
    ]

    @Test("an authorization that breaks the form", arguments: authorizations)
    func authorization(_ row: (value: String, code: String)) async throws {
        let world = try world()
        let made = World.acs3("DescribeVerifyScheme", ["SchemeCode": World.scheme])
        let reply = await world.send(made.with("Authorization", row.value))
        expect(reply, 400, row.code)
        #expect(world.bus.requests(AuthenticateKey.self).isEmpty)
    }

    @Test(
        "each field that decides must be signed",
        arguments: DypnsapiRefusalTests.all.split(separator: ";").map(String.init))
    func unsigned(_ name: String) async throws {
        let world = try world()
        let made = World.acs3("DescribeVerifyScheme", ["SchemeCode": World.scheme])
        let value = try #require(made.headers["authorization"])
        let list = Self.all.split(separator: ";").filter { $0 != name }.joined(separator: ";")
        let reply = await world.send(
            made.with("Authorization", value.replacing(Self.all, with: list)))
        expect(reply, 400, "IncompleteSignature")
    }

    @Test("a security token beside the signature counts for nothing, and is refused")
    func unsignedToken() async throws {
        let world = try world()
        let made = World.acs3("DescribeVerifyScheme", ["SchemeCode": World.scheme])
        expect(
            await world.send(made.with("x-acs-security-token", "t")), 400, "IncompleteSignature")
    }

    @Test("spaces around the commas of an authorization are taken")
    func spaces() async throws {
        let made = World.acs3("DescribeVerifyScheme", ["SchemeCode": World.scheme])
        let value = try #require(made.headers["authorization"])
        let reply = try await world().send(
            made.with("Authorization", value.replacing(",", with: ", ")))
        #expect(reply.status == 200)
    }

    @Test("a signed field that is there twice is refused where it decides")
    func twice() async throws {
        let world = try world()
        let made = World.acs3("DescribeVerifyScheme", ["SchemeCode": World.scheme])
        var headers = made.headers
        headers.add("x-acs-date", World.now)
        let reply = await world.send(made.with(headers: headers))
        expect(reply, 400, "IncompleteSignature")
    }

    @Test("ACS3 signs the bytes of a form, and its parameters count")
    func acs3Form() async throws {
        let world = try world()
        let body = Array("SchemeCode=\(World.scheme)".utf8)
        let type = "application/x-www-form-urlencoded; charset=UTF-8"
        let form = World.acs3(
            "DescribeVerifyScheme", [:], body: body, headers: [("content-type", type)])
        #expect(await world.send(form).status == 200)
        let changed = HTTPRequest(head: form.head, body: Array("SchemeCode=FA1".utf8))
        expect(await world.send(changed), 400, "SignatureDoesNotMatch")
        expect(
            await world.send(form.with("content-type", "text/plain")), 400, "SignatureDoesNotMatch")
        // Not a form, or one by the word of a stranger: nobody reads it.
        let made = World.acs3("DescribeVerifyScheme", [:], body: body)
        expect(await world.send(made), 400, "MissingSchemeCode")
        expect(await world.send(made.with("content-type", type)), 400, "MissingSchemeCode")
    }

    @Test("a media type that a client adds after it has signed changes nothing")
    func unsignedType() async throws {
        let made = World.acs3("DescribeVerifyScheme", ["SchemeCode": World.scheme])
        for type in ["application/octet-stream", "application/x-www-form-urlencoded"] {
            #expect(try await world().send(made.with("content-type", type)).status == 200)
        }
    }

    @Test("an idempotency key beside an ACS3 signature is refused")
    func unsignedRequestKey() async throws {
        let world = try world()
        let made = World.acs3("DescribeVerifyScheme", ["SchemeCode": World.scheme])
        expect(await world.send(made.with("Idempotency-Key", "k")), 400, "IncompleteSignature")
        #expect(world.bus.requests(AuthenticateKey.self).isEmpty)
    }

    @Test("F049 another method, path, framing or size has an answer of this surface")
    func edges() async throws {
        let world = try world()
        func ask(_ method: String, _ path: String) async -> DypnsapiReply {
            DypnsapiReply(
                await world.gateway.answer(
                    HTTPRequest(head: HTTPRequestHead(method: method, path: path))))
        }
        expect(await ask("GET", "/"), 400, "MissingAction")
        expect(await ask("PUT", "/"), 405, "UnsupportedHTTPMethod")
        #expect(await ask("PUT", "/").headers["allow"] == "GET, POST")
        expect(await ask("POST", "/other"), 404, "InvalidApi.NotFound")
        let head = HTTPRequestHead(method: "POST", path: "/")
        expect(
            DypnsapiReply(world.gateway.refuse(.bodyTooLarge(bytesMax: 65_536), head)), 413,
            "InvalidParameter.TooLarge")
        expect(DypnsapiReply(world.gateway.refuse(.badFraming, head)), 400, "InvalidParameter")
        expect(DypnsapiReply(world.gateway.refuse(.unavailable, head)), 503, "ServiceUnavailable")
    }

    // MARK: Parameters

    @Test("a parameter that is there twice is refused, in query, in form and across both")
    func duplicates() async throws {
        let world = try world()
        func ask(_ query: String, _ body: String) async -> DypnsapiReply {
            await world.send(
                HTTPRequest(
                    head: HTTPRequestHead(
                        method: "POST", path: "/", query: query,
                        headers: ["content-type": "application/x-www-form-urlencoded"]),
                    body: Array(body.utf8)))
        }
        expect(await ask("Action=A&Action=B", ""), 400, "InvalidParameter.Action")
        expect(await ask("", "Signature=A&Signature=A"), 400, "InvalidParameter.Signature")
        expect(await ask("SchemeCode=A", "SchemeCode=B"), 400, "InvalidParameter.SchemeCode")
        // A name that no parameter has is not echoed.
        let hostile = await ask("%3Cscript%3E=1&%3Cscript%3E=2", "")
        expect(hostile, 400, "InvalidParameter")
        #expect(!hostile.text.contains("script"))
        #expect(world.bus.requests(AuthenticateKey.self).isEmpty)
    }

    @Test(
        "what is not form-encoded UTF-8 is refused",
        arguments: ["a=%zz", "a=%", "a=%ff%fe", "%c0%80=1"])
    func broken(_ text: String) async throws {
        let world = try world()
        let head = HTTPRequestHead(
            method: "POST", path: "/", query: text,
            headers: ["content-type": "application/x-www-form-urlencoded"])
        expect(await world.send(HTTPRequest(head: head)), 400, "InvalidParameter")
        let form = HTTPRequest(
            head: HTTPRequestHead(method: "POST", path: "/", headers: head.headers),
            body: Array(text.utf8))
        expect(await world.send(form), 400, "InvalidParameter")
    }

    @Test("257 parameters and 64 KiB to sign are too many")
    func bounds() async throws {
        let world = try world()
        let many = (0...256).map { "p\($0)=1" }.joined(separator: "&")
        let head = HTTPRequestHead(method: "POST", path: "/", query: many)
        expect(await world.send(HTTPRequest(head: head)), 400, "InvalidParameter")
        let large = await world.call(
            "DescribeVerifyScheme", ["Filler": String(repeating: "%", count: 20_000)], .rpc)
        expect(large, 400, "InvalidParameter.TooLarge")
        #expect(world.bus.requests(AuthenticateKey.self).isEmpty)
    }

    @Test("unknown parameters and headers, OwnerId and its kind are ignored")
    func unknown() async throws {
        var parameters = Self.describe
        parameters["OwnerId"] = "1"
        parameters["ResourceOwnerAccount"] = "x"
        parameters["ResourceOwnerId"] = "nonsense"
        parameters["CustomerId"] = "y"
        parameters["Whatever"] = "\u{1F600}"
        for signing in World.Signing.allCases {
            let reply = try await world().call(
                "DescribeVerifyScheme", parameters, signing,
                headers: [("x-sdk-client", "python/2.0.0"), ("x-acs-retry-attempts", "1")])
            #expect(reply.status == 200)
        }
    }

    @Test(
        "an idempotency key becomes the request key; a bad one is refused; without one there is none"
    )
    func requestKeys() async throws {
        let world = try world()
        _ = await world.call("DescribeVerifyScheme", Self.describe)
        _ = await world.call(
            "DescribeVerifyScheme", Self.describe, headers: [("Idempotency-Key", "k-1")])
        #expect(world.bus.options(of: GetScheme.self).map(\.requestKey) == [nil, "k-1"])
        for bad in ["", "a b", "é", String(repeating: "k", count: 129)] {
            let reply = await world.call(
                "DescribeVerifyScheme", Self.describe, headers: [("Idempotency-Key", bad)])
            expect(reply, 400, "InvalidParameter.Idempotency-Key")
        }
    }

    @Test("a failure of a service after the signature shows nothing of the inside")
    func inside() async throws {
        let rows: [(ErrorCode, Int, String)] = [
            (.unavailable, 503, "ServiceUnavailable"), (.workerLost, 503, "ServiceUnavailable"),
            (.deadlinePassed, 503, "ServiceUnavailable"), (.internalFault, 500, "InternalError"),
            (.methodNotFound, 500, "InternalError"), (.notAllowed, 403, "Forbidden.RAM"),
            (.conflict, 400, "IdempotentParameterMismatch"),
        ]
        for (code, status, shown) in rows {
            let world = try world()
            world.bus.on(GetScheme.self) { _, _ throws(ServiceFailure) in
                throw ServiceFailure(code, "token-7f3a: SQLite says no", field: "rows")
            }
            let reply = await world.call("DescribeVerifyScheme", Self.describe)
            expect(reply, status, shown)
            #expect(!reply.text.contains("SQLite") && !reply.text.contains("rows"))
        }
    }
}

extension HTTPRequest {
    func with(_ name: String, _ value: String) -> HTTPRequest {
        var headers = headers
        headers.set(name, value)
        return with(headers: headers)
    }

    func with(headers: HTTPHeaders) -> HTTPRequest {
        HTTPRequest(
            head: HTTPRequestHead(
                method: method, path: path, query: head.query, headers: headers),
            body: body)
    }
}
