import Bus
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import GatewayService

/// What each action asks the services, and what it answers.
@Suite("dypnsapi: fusion authentication, numbers and schemes")
struct DypnsapiActionTests {
    typealias World = DypnsapiWorld
    private static let iOS: [String: String?] = [
        "SchemeCode": World.scheme, "Platform": "iOS", "BundleId": "com.example.app",
        "DurationSeconds": "900",
    ]
    private static let limited = AuthenticatedKey(
        owner: "alice", schemeCodes: [World.scheme, World.otherScheme],
        defaultSchemeCode: World.scheme)

    private func changed(_ name: String, _ value: String?) -> [String: String?] {
        var parameters = Self.iOS
        parameters.updateValue(value, forKey: name)
        return parameters
    }

    private func issuing(
        key: AuthenticatedKey = AuthenticatedKey(owner: "alice"),
        _ failure: ServiceFailure? = nil
    ) throws -> World {
        let world = try World(key: key)
        world.bus.on(IssueAuthToken.self) { _, _ throws(ServiceFailure) in
            if let failure { throw failure }
            return IssueAuthToken.Issued(
                authToken: "eyJ.token", tokenId: TokenID(random: Array(repeating: 1, count: 16)),
                expiresAtMilliseconds: 1)
        }
        return world
    }

    // MARK: GetFusionAuthToken

    @Test("a token for iOS and for Android; Model is the token itself")
    func tokens() async throws {
        let world = try issuing()
        let reply = await world.call("GetFusionAuthToken", Self.iOS)
        #expect(reply.status == 200 && reply.code == "OK")
        #expect(reply["Model"] == .text("eyJ.token"))
        #expect(reply["Success"] == .flag(true))
        let android = await world.call(
            "GetFusionAuthToken",
            [
                "SchemeCode": World.scheme, "Platform": "Android", "PackageName": "com.example",
                "PackageSign": "0123456789abcdef0123456789abcdef", "DurationSeconds": "43200",
            ], .rpc)
        #expect(android["Model"] == .text("eyJ.token"))
        let asked = world.bus.requests(IssueAuthToken.self)
        #expect(asked.map(\.platform) == [.ios, .android])
        #expect(asked.map(\.bundleId) == ["com.example.app", nil])
        #expect(asked.map(\.packageName) == [nil, "com.example"])
        #expect(asked.map(\.packageSign) == [nil, "0123456789abcdef0123456789abcdef"])
        #expect(asked.map(\.durationSeconds) == [900, 43_200])
        #expect(asked.allSatisfy { $0.schemeCode == World.scheme })
    }

    static let badTokens: [(String, String?, String)] = [
        ("SchemeCode", nil, "MissingSchemeCode"), ("SchemeCode", "", "MissingSchemeCode"),
        ("Platform", nil, "MissingPlatform"), ("Platform", "ios", "InvalidParameter.Platform"),
        ("BundleId", nil, "MissingBundleId"),
        ("DurationSeconds", nil, "MissingDurationSeconds"),
        ("DurationSeconds", "899", "InvalidParameter.DurationSeconds"),
        ("DurationSeconds", "43201", "InvalidParameter.DurationSeconds"),
        ("DurationSeconds", "-900", "InvalidParameter.DurationSeconds"),
        ("DurationSeconds", "9e2", "InvalidParameter.DurationSeconds"),
        ("DurationSeconds", "+900", "InvalidParameter.DurationSeconds"),
        ("DurationSeconds", "900.0", "InvalidParameter.DurationSeconds"),
        ("DurationSeconds", "99999999999999999999", "InvalidParameter.DurationSeconds"),
        ("Platform", "Android", "MissingPackageName"),
    ]

    @Test("parameters of a token that are missing or wrong", arguments: badTokens)
    func badToken(_ row: (name: String, value: String?, code: String)) async throws {
        let world = try issuing()
        let reply = await world.call("GetFusionAuthToken", changed(row.name, row.value))
        #expect(reply.status == 400)
        #expect(reply.code == row.code)
        #expect(world.bus.requests(IssueAuthToken.self).isEmpty)
    }

    static let issueFailures: [(ErrorCode, String?, Int, String)] = [
        (.schemeNotFound, "schemeCode", 400, "VerifySchemeNotExist"),
        (.schemeDisabled, "schemeCode", 400, "SchemeNotPassed"),
        (.appMismatch, "bundleId", 200, "isv.INVALID_APP"),
        (.invalidParameters, "bundleId", 400, "InvalidParameter.BundleId"),
        (.invalidParameters, "somethingOfOurs", 400, "InvalidParameter"),
    ]

    @Test("what the token service refuses", arguments: issueFailures)
    func issueFailure(
        _ row: (failure: ErrorCode, field: String?, status: Int, code: String)
    ) async throws {
        let world = try issuing(ServiceFailure(row.failure, "is wrong", field: row.field))
        let reply = await world.call("GetFusionAuthToken", Self.iOS)
        #expect(reply.status == row.status)
        #expect(reply.code == row.code)
        #expect(!reply.text.contains("somethingOfOurs"))
        if row.status == 200 { #expect(reply["Success"] == .flag(false)) }
    }

    @Test("a scheme outside the key's is Forbidden.RAM before anyone is asked")
    func limitedKey() async throws {
        let world = try issuing(
            key: AuthenticatedKey(owner: "alice", schemeCodes: [World.scheme]))
        #expect(await world.call("GetFusionAuthToken", Self.iOS).status == 200)
        let reply = await world.call(
            "GetFusionAuthToken", changed("SchemeCode", World.otherScheme))
        #expect(reply.status == 403 && reply.code == "Forbidden.RAM")
        #expect(world.bus.requests(IssueAuthToken.self).count == 1)
        for action in ["DeleteVerifyScheme", "DescribeVerifyScheme"] {
            let other = await world.call(action, ["SchemeCode": World.otherScheme])
            #expect(other.code == "Forbidden.RAM")
        }
        let new = await world.call(
            "CreateSchemeConfig",
            ["SchemeName": "n", "Platform": "iOS", "IosBundleId": "com.example"])
        #expect(new.code == "Forbidden.RAM")
    }

    // MARK: VerifyWithFusionAuthToken

    private func verifying(
        _ verified: Verified, key: AuthenticatedKey = AuthenticatedKey(owner: "alice")
    ) throws -> World {
        let world = try World(key: key)
        world.bus.on(VerifyMaskToken.self) { request, _ throws(ServiceFailure) in
            guard request.schemeCode == nil || request.schemeCode == verified.schemeCode else {
                return Verified(result: .unknown, reason: .maskTokenInvalid)
            }
            return verified
        }
        return world
    }

    @Test(
        "PASS has the number, and a score only where there is one",
        arguments: [
            ("+8613000000000", "13000000000", 20), ("+14155552671", "14155552671", nil),
            ("+85251234567", "85251234567", nil), ("+861051234567", "861051234567", 0),
        ] as [(String, String, Int?)])
    func pass(_ row: (number: String, shown: String, score: Int?)) async throws {
        let world = try verifying(
            Verified(
                result: .pass, phoneNumber: PhoneNumber(e164: row.number),
                phoneScore: row.score, schemeCode: World.scheme))
        let reply = await world.call(
            "VerifyWithFusionAuthToken", ["VerifyToken": "Abc+/=~ 中文&x"])
        #expect(reply["Model", "VerifyResult"] == .text("PASS"))
        #expect(reply["Model", "PhoneNumber"] == .text(row.shown))
        #expect(reply["Model", "PhoneScore"] == row.score.map { .integer(Int64($0)) })
        let asked = try #require(world.bus.requests(VerifyMaskToken.self).first)
        #expect(asked.maskToken.reveal() == "Abc+/=~ 中文&x")
        #expect(asked.schemeCode == nil)
    }

    @Test(
        "everything else is UNKNOWN, with our reason beside it, and no number",
        arguments: [VerificationResult.unknown, .reject])
    func notPass(_ result: VerificationResult) async throws {
        let world = try verifying(
            Verified(
                result: result, reason: .codeExpired,
                phoneNumber: PhoneNumber(e164: "+8613000000000"),
                schemeCode: World.scheme))
        let reply = await world.call("VerifyWithFusionAuthToken", ["VerifyToken": "m"], .rpc)
        #expect(reply.status == 200 && reply.code == "OK")
        #expect(reply["Model", "VerifyResult"] == .text("UNKNOWN"))
        #expect(reply["Model", "Reason"] == .text("code_expired"))
        #expect(reply["Model", "PhoneNumber"] == nil)
    }

    @Test("a key that is held to schemes verifies only their tokens")
    func limitedVerify() async throws {
        let pass = Verified(
            result: .pass, phoneNumber: PhoneNumber(e164: "+8613000000000"),
            schemeCode: World.otherScheme)
        let world = try verifying(pass, key: Self.limited)
        let reply = await world.call(
            "VerifyWithFusionAuthToken", ["VerifyToken": "m"],
            headers: [("Idempotency-Key", "k")])
        #expect(reply["Model", "VerifyResult"] == .text("PASS"))
        let keys = world.bus.options(of: VerifyMaskToken.self).map(\.requestKey)
        #expect(Set(keys).count == 2 && keys.allSatisfy { $0?.utf8.count == 64 })
        let other = try verifying(
            Verified(result: .pass, schemeCode: "FA10000000000003"), key: Self.limited)
        let refused = await other.call("VerifyWithFusionAuthToken", ["VerifyToken": "m"])
        #expect(refused["Model", "VerifyResult"] == .text("UNKNOWN"))
        #expect(refused["Model", "Reason"] == .text("mask_token_invalid"))
    }

    @Test("a mask token that is missing, or longer than any")
    func maskTokens() async throws {
        let world = try World()
        world.bus.on(VerifyMaskToken.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.invalidParameters, "takes 1 to 256 bytes", field: "maskToken")
        }
        #expect(await world.call("VerifyWithFusionAuthToken").code == "MissingVerifyToken")
        let long = await world.call(
            "VerifyWithFusionAuthToken", ["VerifyToken": String(repeating: "m", count: 300)])
        #expect(long.status == 400 && long.code == "InvalidParameter.VerifyToken")
    }

    // MARK: Numbers by a token of the carrier

    @Test("a number in the app and in a page, in the shape of each")
    func numbers() async throws {
        let world = try World()
        let id = VerificationID(random: Array(repeating: 2, count: 16))
        world.bus.on(GetNumber.self) { request, _ throws(ServiceFailure) in
            guard let number = PhoneNumber(e164: "+8613000000000") else {
                throw ServiceFailure(.internalFault, "no number")
            }
            return GotNumber(verificationId: id, number: number)
        }
        world.bus.on(MatchNumber.self) { _, _ throws(ServiceFailure) in
            MatchedNumber(verificationId: id, result: .reject)
        }
        let app = await world.call("GetMobile", ["AccessToken": "a", "OutId": "o"], .rpcForm)
        #expect(app["GetMobileResultDTO", "Mobile"] == .text("13000000000"))
        #expect(app["Success"] == nil)
        let page = await world.call("GetPhoneWithToken", ["SpToken": "s"])
        #expect(page["Data", "Mobile"] == .text("13000000000"))
        let inApp = await world.call(
            "VerifyMobile", ["AccessCode": "c", "PhoneNumber": "13000000000"])
        #expect(inApp["GateVerifyResultDTO", "VerifyResult"] == .text("REJECT"))
        #expect(inApp["GateVerifyResultDTO", "VerifyId"] == .text(id.text))
        let inPage = await world.call(
            "VerifyPhoneWithToken", ["SpToken": "s2", "PhoneNumber": "+14155552671"])
        #expect(inPage["GateVerify", "VerifyResult"] == .text("REJECT"))
        #expect(
            world.bus.requests(GetNumber.self).map { $0.carrierToken.reveal() } == ["a", "s"])
        #expect(
            world.bus.requests(GetNumber.self).map(\.schemeCode) == [World.scheme, World.scheme])
        #expect(
            world.bus.requests(MatchNumber.self).map(\.number) == [
                "+86 13000000000", "+14155552671",
            ])
    }

    @Test("a token that is no good, a carrier that is away")
    func carrierFailures() async throws {
        let world = try World()
        let failure = Lock(ServiceFailure(.tokenInvalid, "used", field: "carrierToken"))
        world.bus.on(GetNumber.self) { _, _ throws(ServiceFailure) in
            throw failure.withLock { $0 }
        }
        world.bus.on(MatchNumber.self) { _, _ throws(ServiceFailure) in
            throw failure.withLock { $0 }
        }
        let match = ["AccessCode": "c", "PhoneNumber": "13000000000"] as [String: String?]
        for reply in [
            await world.call("GetMobile", ["AccessToken": "a"]),
            await world.call("VerifyMobile", match),
        ] {
            #expect(reply.status == 200 && reply.code == "isv.TOKEN_INVALID")
            #expect(reply["Success"] == .flag(false))
        }
        failure.withLock { $0 = ServiceFailure(.carrierUnavailable, "away") }
        #expect(await world.call("GetMobile", ["AccessToken": "a"]).code == "ServiceUnavailable")
        let unknown = await world.call("VerifyMobile", match)
        #expect(unknown.code == "OK")
        #expect(unknown["GateVerifyResultDTO", "VerifyResult"] == .text("UNKNOWN"))
        failure.withLock {
            $0 = ServiceFailure(.invalidParameters, "too long", field: "carrierToken")
        }
        #expect(
            await world.call("VerifyMobile", match).code == "InvalidParameter.AccessCode")
    }

    @Test(
        "the number operations of the app take POST only", arguments: ["GetMobile", "VerifyMobile"])
    func postOnly(_ action: String) async throws {
        let reply = try await World().call(
            action, ["AccessToken": "a", "AccessCode": "a", "PhoneNumber": "1"], method: "GET")
        #expect(reply.status == 400 && reply.code == "UnsupportedHTTPMethod")
    }

    @Test("a page gets an auth token of its origin for an hour")
    func pageToken() async throws {
        let world = try issuing(key: Self.limited)
        let reply = await world.call(
            "GetAuthToken",
            [
                "Url": "https://app.example/login", "Origin": "https://app.example/",
                "SceneCode": World.otherScheme,
            ])
        #expect(reply["TokenInfo", "JwtToken"] == .text("eyJ.token"))
        #expect(reply["TokenInfo", "AccessToken"] == .text("eyJ.token"))
        let asked = try #require(world.bus.requests(IssueAuthToken.self).first)
        #expect(asked.platform == .web && asked.origin == "https://app.example")
        #expect(asked.durationSeconds == 3_600 && asked.schemeCode == World.otherScheme)
        #expect(await world.call("GetAuthToken", ["Url": "u"]).code == "MissingOrigin")
        #expect(await world.call("GetAuthToken", ["Origin": "o"]).code == "MissingUrl")
        let outside = await world.call(
            "GetAuthToken", ["Url": "u", "Origin": "o", "SceneCode": "FA10000000000003"])
        #expect(outside.code == "Forbidden.RAM")
    }

    @Test("which scheme serves a call that names none")
    func defaultSchemes() async throws {
        let keys: [(AuthenticatedKey, String?)] = [
            (AuthenticatedKey(owner: "a", defaultSchemeCode: "FA1"), "FA1"),
            (AuthenticatedKey(owner: "a", schemeCodes: ["FA2"]), "FA2"),
            (AuthenticatedKey(owner: "a", schemeCodes: ["FA2", "FA3"]), nil),
            (AuthenticatedKey(owner: "a"), nil),
        ]
        for (key, scheme) in keys {
            let world = try issuing(key: key)
            let reply = await world.call("GetAuthToken", ["Url": "u", "Origin": "o"])
            #expect(world.bus.requests(IssueAuthToken.self).first?.schemeCode == scheme)
            #expect(reply.code == (scheme == nil ? "MissingSchemeCode" : "OK"))
        }
    }

    // MARK: Schemes

    @Test("schemes are made, described and ended")
    func schemes() async throws {
        let world = try World()
        let isDisabled = Lock(false)
        world.bus.on(CreateScheme.self) { _, _ throws(ServiceFailure) in
            DypnsapiRefusalTests.schemeRow(World.otherScheme)
        }
        world.bus.on(GetScheme.self) { request, _ throws(ServiceFailure) in
            DypnsapiRefusalTests.schemeRow(
                request.schemeCode, disabled: isDisabled.withLock { $0 })
        }
        world.bus.on(DisableScheme.self) { request, _ throws(ServiceFailure) in
            isDisabled.withLock { $0 = true }
            return DypnsapiRefusalTests.schemeRow(request.schemeCode, disabled: true)
        }
        let fusion = await world.call(
            "CreateSchemeConfig",
            [
                "SchemeName": "shop", "Platform": "Android", "AndroidPackageName": "com.shop",
                "AndroidPackageSign": "0123456789abcdef0123456789abcdef", "AppName": "Shop",
            ])
        #expect(fusion["Model", "SchemeCode"] == .text(World.otherScheme))
        let web = await world.call(
            "CreateVerifyScheme",
            [
                "SchemeName": "shop", "AppName": "Shop", "OsType": "Web",
                "Origin": "https://shop.example", "Url": "https://shop.example/",
            ], .rpc)
        #expect(web["GateVerifySchemeDTO", "SchemeCode"] == .text(World.otherScheme))
        #expect(web["HttpStatusCode"] == .integer(200))
        let made = world.bus.requests(CreateScheme.self)
        #expect(made.map(\.name) == ["shop", "shop"])
        #expect(made.map(\.owner) == [nil, nil])
        #expect(made.map(\.app.androidPackageName) == ["com.shop", nil])
        #expect(made.map(\.app.webOrigin) == [nil, "https://shop.example"])
        let code = ["SchemeCode": World.otherScheme as String?]
        let found = await world.call("DescribeVerifyScheme", code)
        #expect(
            found["SchemeQueryResultDTO", "AppEncryptInfo"] == .text(World.otherScheme))
        #expect(await world.call("DeleteVerifyScheme", code)["Result"] == .flag(true))
        let gone = await world.call("DescribeVerifyScheme", code)
        #expect(gone.status == 400 && gone.code == "SceneQueryFail")
    }

    @Test("schemes that cannot be made")
    func schemeFailures() async throws {
        let world = try World()
        let failure = Lock(ServiceFailure(.tooMany, "100", field: "owner"))
        world.bus.on(CreateScheme.self) { _, _ throws(ServiceFailure) in
            throw failure.withLock { $0 }
        }
        let parameters: [String: String?] = [
            "SchemeName": "shop", "AppName": "Shop", "OsType": "iOS", "BundleId": "com shop",
        ]
        #expect(
            await world.call("CreateVerifyScheme", parameters).code == "SchemeNumberOverLimit")
        failure.withLock {
            $0 = ServiceFailure(.invalidParameters, "takes names", field: "app.iosBundleId")
        }
        #expect(
            await world.call("CreateVerifyScheme", parameters).code == "InvalidParameter.BundleId")
        let fusion: [String: String?] = [
            "SchemeName": "shop", "Platform": "iOS", "IosBundleId": "com shop",
        ]
        #expect(
            await world.call("CreateSchemeConfig", fusion).code == "InvalidParameter.IosBundleId")
        failure.withLock { $0 = ServiceFailure(.invalidParameters, "is long", field: "name") }
        #expect(
            await world.call("CreateSchemeConfig", fusion).code == "InvalidParameter.SchemeName")
        var other = parameters
        other.updateValue("Symbian", forKey: "OsType")
        #expect(await world.call("CreateVerifyScheme", other).code == "InvalidParameter.OsType")
        world.bus.on(GetScheme.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.schemeNotFound, "none")
        }
        #expect(
            await world.call("DescribeVerifyScheme", ["SchemeCode": "FA1"]).code
                == "SceneQueryFail")
    }

    @Test("every parameter that an action requires is asked for by name")
    func required() async throws {
        for action in DypnsapiAction.allCases {
            for name in action.required {
                var parameters = Dictionary(
                    uniqueKeysWithValues: action.required.map { ($0, "x" as String?) })
                parameters.updateValue(nil, forKey: name)
                let reply = try await World().call(action.rawValue, parameters)
                #expect(reply.status == 400 && reply.code == "Missing\(name)")
            }
        }
    }
}
