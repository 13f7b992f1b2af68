import Cryptography
import Effects
import HTTPTypes
import Messages
import Primitives
import Testing

@testable import GatewayService

/// Requests as official clients sent them, with invented keys, and two documented samples.
@Suite("dypnsapi: what official clients sign")
struct DypnsapiVectorTests {
    struct ACS3: Sendable, CustomTestStringConvertible {
        let name: String
        let action: String
        let query: String
        let date: String
        let nonce: String
        var isTemporary = false
        /// SHA-256 of the canonical request.
        let hash: String
        let signature: String
        var testDescription: String { name }
    }

    static let token =
        "BundleId=com.example.app&DurationSeconds=900&Platform=iOS&SchemeCode=FA100000000000000201"
    static let agent = "AlibabaCloud (Linux; x86_64) Python/3.11.7 Core/0.4.3 TeaDSL/2"
    static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    static let acs3Vectors: [ACS3] = [
        ACS3(
            name: "2.0.0 GetFusionAuthToken", action: "GetFusionAuthToken", query: token,
            date: "2026-11-30T03:33:32Z", nonce: "7cebc4f0869a8f6c8683a7feb1a9fc69",
            hash: "a8489f4d0b6409cd474de4895ca051d26a3cc3da64c0671d97a0ab0b4ab4eee9",
            signature: "de02cb431a0d639872f238fb0fdc27cee3bbafcdae06d1153130fe6562c6ccc7"),
        ACS3(
            name: "2.0.0 SendSmsVerifyCode", action: "SendSmsVerifyCode",
            query: "AutoRetry=1&CodeLength=6&CodeType=1&CountryCode=86&DuplicatePolicy=1"
                + "&Interval=60&OutId=o-1&PhoneNumber=13000000000&ReturnVerifyCode=True"
                + "&SchemeName=%E6%B5%8B%E8%AF%95%E6%96%B9%E6%A1%88"
                + "&SignName=%E6%B5%8B%E8%AF%95%E7%AD%BE%E5%90%8D&SmsUpExtendCode=1213123"
                + "&TemplateCode=100001&TemplateParam=%7B%22code%22%3A%22%23%23code%23%23%22%2C"
                + "%22min%22%3A%225%22%7D&ValidTime=300",
            date: "2026-11-30T03:33:32Z", nonce: "9eb193426b2afc5338efa2ebf7c90b53",
            hash: "d69bf6ca80537e8b1d9849d97ef8668037539f97ef0c2564841a68e9f984f2fe",
            signature: "6c424cee971bc9b349d72de3bcfccfc5f94ee769789d8cf3861e19ef25f1c8e6"),
        ACS3(
            name: "2.0.0 VerifyWithFusionAuthToken, a space as +",
            action: "VerifyWithFusionAuthToken",
            query: "VerifyToken=Abc%2B%2F%3D~+%E4%B8%AD%E6%96%87%26x",
            date: "2026-11-30T03:33:32Z", nonce: "b7935ceb62c67eb086929f106dd274bb",
            hash: "7866056894a9c2847f0ba5adbf4c746edbaff8c16325148b6fcd966ea1fed25b",
            signature: "67eee62cdbfc871c69d6d287bd1f456dc7f298b612510660d54320c3dcc6a71f"),
        ACS3(
            name: "2.0.0 with a temporary key", action: "GetFusionAuthToken", query: token,
            date: "2026-11-30T03:33:32Z", nonce: "5394d451dffdcc77d0602a721f7862b5",
            isTemporary: true,
            hash: "16b15023b5fdf7919bfc9fb48e8a026d7eb01252ab0013a1fa74948fcd5301e4",
            signature: "4ca46b0463a869f729f6d31ef549b625ee0014b6306efc2dd5359922dd7a4e50"),
        ACS3(
            name: "2.0.0, answered with an error", action: "GetFusionAuthToken", query: token,
            date: "2026-11-30T03:33:32Z", nonce: "46b38965e033dd8bfd74f8603a760aea",
            hash: "3d2327474320713e436da0dd17b4b0f034ca4cff4215e20efa480c3eff176548",
            signature: "65e9a83863ff90e93c0bf42a34df982ed495581c9b80350a2d64ecf9eed13a82"),
        ACS3(
            name: "2.0.0, answered with SignatureDoesNotMatch", action: "GetFusionAuthToken",
            query: token, date: "2026-11-30T03:33:32Z",
            nonce: "eab438a132ee980496daad4ade415f43",
            hash: "3b744ce055157f4b4a30698596d7108021842e5575326515ddf4a714393f1e20",
            signature: "e36eed673325ca1e5ccdbc8e1cd682b772b9e6cb621e26c0e08528b5f4bd060c"),
    ]

    @Test("ACS3-HMAC-SHA256", arguments: acs3Vectors)
    func acs3(_ vector: ACS3) throws {
        let keyID = vector.isTemporary ? "STS.ExampleKeyId0001" : DypnsapiWorld.keyID
        var fields: [(String, String)] = [
            ("Accept-Encoding", "identity"), ("host", "127.0.0.1:18088"),
            ("x-acs-version", "2017-05-25"), ("x-acs-action", vector.action),
            ("user-agent", Self.agent), ("x-acs-date", vector.date),
            ("x-acs-signature-nonce", vector.nonce), ("accept", "application/json"),
            ("x-acs-content-sha256", Self.emptyHash),
            ("x-acs-credentials-provider", vector.isTemporary ? "static_sts" : "static_ak"),
        ]
        if vector.isTemporary {
            fields += [
                ("x-acs-accesskey-id", keyID),
                ("x-acs-security-token", "ExampleSecurityToken/+=="),
            ]
        }
        let signed = fields.map(\.0).filter { $0 != "Accept-Encoding" }.sorted()
        fields.append(
            (
                "Authorization",
                "ACS3-HMAC-SHA256 Credential=\(keyID),SignedHeaders="
                    + signed.joined(separator: ";") + ",Signature=\(vector.signature)"
            ))
        fields.append(("Content-Length", "0"))
        let made = try signature(of: request(query: vector.query, fields))
        #expect(made.accessKeyID == keyID)
        #expect(made.algorithm == .acs3HMACSHA256)
        #expect(made.stringToSign == "ACS3-HMAC-SHA256\n" + vector.hash)
        #expect(made.signature == vector.signature)
        #expect(made.nonce == vector.nonce)
        #expect(made.timestamp.millisecondsSince1970 == 1_796_009_612_000)
        #expect(
            made.securityToken?.reveal()
                == (vector.isTemporary ? "ExampleSecurityToken/+==" : nil))
        let secret = vector.isTemporary ? "ExampleStsSecret0001" : DypnsapiWorld.secret
        #expect(
            DypnsapiWorld.sign(made.stringToSign, .acs3HMACSHA256, secret: secret)
                == vector.signature)
    }

    @Test("the documented sample of ACS3, RunInstances")
    func documentedACS3() throws {
        let fields = [
            ("host", "ecs.cn-shanghai.aliyuncs.com"), ("x-acs-action", "RunInstances"),
            ("x-acs-content-sha256", Self.emptyHash), ("x-acs-date", "2023-10-26T10:22:32Z"),
            ("x-acs-signature-nonce", "3156853299f313e23d1673dc12e1703d"),
            ("x-acs-version", "2014-05-26"),
            (
                "Authorization",
                "ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;"
                    + "x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,"
                    + "Signature="
                    + "06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"
            ),
        ]
        let query =
            "ImageId=win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd&RegionId=cn-shanghai"
        let made = try signature(of: request(query: query, fields))
        #expect(
            made.stringToSign
                == "ACS3-HMAC-SHA256\n"
                + "7ea06492da5221eba5297e897ce16e55f964061054b7695beedaac1145b1e259")
        #expect(
            DypnsapiWorld.sign(
                made.stringToSign, .acs3HMACSHA256, secret: "YourAccessKeySecret")
                == made.signature)
    }

    struct RPC: Sendable, CustomTestStringConvertible {
        let name: String
        let query: String
        var form: String?
        let text: String
        let signature: String
        let nonce: String
        var testDescription: String { name }
    }

    static let rpcVectors: [RPC] = [
        RPC(
            name: "1.2.2 GetFusionAuthToken",
            query: "Action=GetFusionAuthToken&Format=json&Version=2017-05-25"
                + "&Timestamp=2026-11-30T03%3A35%3A30Z"
                + "&SignatureNonce=eba584eb0c4de2a3b0a430308b708fd3&BundleId=com.example.app"
                + "&DurationSeconds=900&Platform=iOS&SchemeCode=FA100000000000000201"
                + "&SignatureMethod=HMAC-SHA1&SignatureVersion=1.0"
                + "&AccessKeyId=LTAI5tExampleKeyId0001"
                + "&Signature=OjpLAFH1hWbPfAh6oUyvM9LUgM0%3D",
            text: "POST&%2F&AccessKeyId%3DLTAI5tExampleKeyId0001%26Action%3DGetFusionAuthToken"
                + "%26BundleId%3Dcom.example.app%26DurationSeconds%3D900%26Format%3Djson"
                + "%26Platform%3DiOS%26SchemeCode%3DFA100000000000000201"
                + "%26SignatureMethod%3DHMAC-SHA1"
                + "%26SignatureNonce%3Deba584eb0c4de2a3b0a430308b708fd3%26SignatureVersion%3D1.0"
                + "%26Timestamp%3D2026-11-30T03%253A35%253A30Z%26Version%3D2017-05-25",
            signature: "OjpLAFH1hWbPfAh6oUyvM9LUgM0=",
            nonce: "eba584eb0c4de2a3b0a430308b708fd3"),
        RPC(
            name: "1.0.0 GetMobile, parameters in a form",
            query: "Action=GetMobile&Format=json&Version=2017-05-25"
                + "&Timestamp=2026-11-30T03%3A39%3A59Z"
                + "&SignatureNonce=a4cc1c94b0b8aae6c1eda1443413c9bd&SignatureMethod=HMAC-SHA1"
                + "&SignatureVersion=1.0&AccessKeyId=LTAI5tExampleKeyId0001"
                + "&Signature=9M4EQLUFa949CLwKNrmpuhOElD0%3D",
            form: "AccessToken=tok+en%2B%2F%3D%E4%B8%AD&OutId=o1",
            text: "POST&%2F&AccessKeyId%3DLTAI5tExampleKeyId0001"
                + "%26AccessToken%3Dtok%2520en%252B%252F%253D%25E4%25B8%25AD%26Action%3DGetMobile"
                + "%26Format%3Djson%26OutId%3Do1%26SignatureMethod%3DHMAC-SHA1"
                + "%26SignatureNonce%3Da4cc1c94b0b8aae6c1eda1443413c9bd%26SignatureVersion%3D1.0"
                + "%26Timestamp%3D2026-11-30T03%253A39%253A59Z%26Version%3D2017-05-25",
            signature: "9M4EQLUFa949CLwKNrmpuhOElD0=",
            nonce: "a4cc1c94b0b8aae6c1eda1443413c9bd"),
        RPC(
            name: "core 2.16.1 SendSmsVerifyCode, an empty value is signed",
            query: "PhoneNumber=13000000000&SignName=%E6%B5%8B%E8%AF%95%E7%AD%BE%E5%90%8D"
                + "&TemplateCode=100001&TemplateParam=%7B%22code%22%3A%22%23%23code%23%23%22%2C"
                + "%22min%22%3A%225%22%7D&CodeLength=6&ReturnVerifyCode=True"
                + "&SchemeName=%E6%B5%8B%E8%AF%95%E6%96%B9%E6%A1%88&Version=2017-05-25"
                + "&Action=SendSmsVerifyCode&Format=JSON&RegionId=cn-hangzhou"
                + "&Timestamp=2026-11-30T03%3A34%3A04Z&SignatureMethod=HMAC-SHA1"
                + "&SignatureType=&SignatureVersion=1.0"
                + "&SignatureNonce=d179e3a4de52915aad24a97dc208a18c"
                + "&AccessKeyId=LTAI5tExampleKeyId0001"
                + "&Signature=eVfMeLPUy82xzQt5kbpP5a4Zv9I%3D",
            text: "POST&%2F&AccessKeyId%3DLTAI5tExampleKeyId0001%26Action%3DSendSmsVerifyCode"
                + "%26CodeLength%3D6%26Format%3DJSON%26PhoneNumber%3D13000000000"
                + "%26RegionId%3Dcn-hangzhou%26ReturnVerifyCode%3DTrue"
                + "%26SchemeName%3D%25E6%25B5%258B%25E8%25AF%2595%25E6%2596%25B9%25E6%25A1%2588"
                + "%26SignName%3D%25E6%25B5%258B%25E8%25AF%2595%25E7%25AD%25BE%25E5%2590%258D"
                + "%26SignatureMethod%3DHMAC-SHA1"
                + "%26SignatureNonce%3Dd179e3a4de52915aad24a97dc208a18c%26SignatureType%3D"
                + "%26SignatureVersion%3D1.0%26TemplateCode%3D100001"
                + "%26TemplateParam%3D%257B%2522code%2522%253A%2522%2523%2523code%2523%2523%2522"
                + "%252C%2522min%2522%253A%25225%2522%257D"
                + "%26Timestamp%3D2026-11-30T03%253A34%253A04Z%26Version%3D2017-05-25",
            signature: "eVfMeLPUy82xzQt5kbpP5a4Zv9I=",
            nonce: "d179e3a4de52915aad24a97dc208a18c"),
    ]

    @Test("RPC signature 1.0", arguments: rpcVectors)
    func rpc(_ vector: RPC) throws {
        var fields = [("Host", "127.0.0.1:18088")]
        if vector.form != nil {
            fields.append(("content-type", "application/x-www-form-urlencoded"))
        }
        let made = try signature(
            of: request(query: vector.query, fields, body: vector.form ?? ""))
        #expect(made.stringToSign == vector.text)
        #expect(made.signature == vector.signature)
        #expect(made.algorithm == .hmacSHA1)
        #expect(made.nonce == vector.nonce)
        #expect(made.accessKeyID == DypnsapiWorld.keyID)
        #expect(DypnsapiWorld.sign(made.stringToSign, .hmacSHA1) == vector.signature)
    }

    @Test("the documented sample of the RPC signature, DescribeRegions")
    func documentedRPC() throws {
        let query =
            "Timestamp=2016-02-23T12%3A46%3A24Z&Format=XML&AccessKeyId=testid"
            + "&Action=DescribeRegions&SignatureMethod=HMAC-SHA1"
            + "&SignatureNonce=3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf&Version=2014-05-26"
            + "&SignatureVersion=1.0&Signature=OLeaidS1JvxuMvnyHOwuJ%2BuX5qY%3D"
        let made = try signature(of: request(method: "GET", query: query, []))
        #expect(made.signature == "OLeaidS1JvxuMvnyHOwuJ+uX5qY=")
        #expect(
            DypnsapiWorld.sign(made.stringToSign, .hmacSHA1, secret: "testsecret")
                == made.signature)
    }

    // MARK: -

    private func request(
        method: String = "POST", query: String, _ fields: [(String, String)], body: String = ""
    ) -> HTTPRequest {
        HTTPRequest(
            head: HTTPRequestHead(
                method: method, path: "/", query: query,
                headers: HTTPHeaders(fields.map { HTTPHeaders.Field(name: $0.0, value: $0.1) })),
            body: Array(body.utf8))
    }

    private func signature(of request: HTTPRequest) throws -> DypnsapiSignature {
        let parameters = try DypnsapiParameters(request)
        switch try DypnsapiSigning(request.headers, parameters) {
        case .rpc: return try DypnsapiSignature(rpc: parameters, method: request.method)
        case .acs3(let value):
            return try DypnsapiSignature(
                acs3: value, request, parameters, sha256: DypnsapiWorld.sha256)
        }
    }
}
