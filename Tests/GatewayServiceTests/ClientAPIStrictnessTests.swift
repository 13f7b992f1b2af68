import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

/// Bodies as strangers send them: an answer of 400 or 415 that names the place, and no call.
@Suite("Client API: strict bodies")
struct ClientAPIStrictnessTests {
    private let world: ClientAPIWorld
    private static let input = "\(ClientAPIWorld.run)/input"

    init() throws { world = try ClientAPIWorld() }

    private func refused(
        _ body: String, path: String = input, headers: HTTPHeaders = ClientAPIWorld.known
    ) async throws -> Problem {
        let answer = await world.ask("POST", path, headers, body)
        #expect(world.bus.requests(SubmitInput.self).isEmpty)
        #expect(world.bus.requests(StartScene.self).isEmpty)
        return try ClientAPIWorld.problem(answer)
    }

    @Test(
        "a place of the body is named as a dotted path",
        arguments: [
            (#"{"step":1,"input":{"code":"1"},"extra":1}"#, "extra"),
            (#"{"step":1,"input":{"code":"1","more":{}}}"#, "input.more"),
            (#"{"step":1,"input":{"Code":"1"}}"#, "input.Code"),
            (#"{"step":"1","input":{}}"#, "step"), (#"{"step":1.5,"input":{}}"#, "step"),
            (#"{"step":1e2,"input":{}}"#, "step"), (#"{"step":true,"input":{}}"#, "step"),
            (#"{"step":99999999999999999999,"input":{}}"#, "step"),
            (#"{"step":null,"input":{}}"#, "step"), (#"{"input":{}}"#, "step"),
            (#"{"step":1}"#, "input"), (#"{"step":1,"input":[]}"#, "input"),
            (#"{"step":1,"input":"code"}"#, "input"),
            (#"{"step":1,"input":{"send":"true"}}"#, "input.send"),
            (#"{"step":1,"input":{"send":1}}"#, "input.send"),
            (#"{"step":1,"input":{"carrierToken":{"a":1}}}"#, "input.carrierToken"),
            (#"{"step":1,"input":{"failed":"80801"}}"#, "input.failed"),
            (#"{"step":1,"step":2,"input":{}}"#, "step"),
            (#"{"step":1,"input":{"code":"1","c\u006fde":"2"}}"#, "input.code"),
            ("[]", "body"), ("1", "body"), ("null", "body"), (#""x""#, "body"),
        ])
    func places(_ body: String, _ field: String) async throws {
        let problem = try await refused(body)
        #expect(problem.status == 400 && problem.code == "invalid_parameters")
        #expect(problem.field == field)
        #expect(problem.detail.hasPrefix("\(field): "))
    }

    @Test("a name of the caller's is repeated for a hundred bytes and no more")
    func names() async throws {
        for mark in ["\u{301}", "😀", "x"] {
            let name = "a" + String(repeating: mark, count: 4_000)
            let problem = try await refused(#"{"step":1,"input":{},"\#(name)":1}"#)
            let bytesCount = try #require(problem.field).utf8.count
            #expect((90...100).contains(bytesCount))
        }
    }

    @Test(
        "F084 F086 F087 a code is text: a number, null or a list is refused, not read as digits",
        arguments: ["12345", "012345", "1e5", "-1", "null", "[1]", "{}", "0x1234"])
    func codes(_ code: String) async throws {
        let problem = try await refused(#"{"step":1,"input":{"code":\#(code)}}"#)
        #expect(problem.status == 400)
    }

    @Test("F084 F086 leading zeros of a code stay", arguments: ["012345", "0012345", "000000"])
    func zeros(_ code: String) async throws {
        let answer = await world.ask(
            "POST", Self.input, ClientAPIWorld.known, #"{"step":1,"input":{"code":"\#(code)"}}"#)
        #expect(answer.status == 200)
        #expect(world.bus.requests(SubmitInput.self).first?.input.code == code)
    }

    @Test(
        "what is not JSON is refused as such",
        arguments: [
            "", " ", "{", "{}}", #"{"step":1,}"#, #"{step:1}"#, "{'step':1}", "nul", "tru",
            #"{"step":01,"input":{}}"#, #"{"step":+1,"input":{}}"#, #"{"step":.5}"#,
            #"{"step":1.,"input":{}}"#, #"{"step":NaN}"#, "{\"a\":\"\u{1}\"}",
            #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\ud800"}"#, #"{"a":"\ud800\u0041"}"#,
            #"{"a":"\udc00"}"#, "// \n{}", "{} {}", "\u{feff}{}", #"{"a":"b"#, #"{"a" 1}"#, "[1,]",
        ])
    func syntax(_ body: String) async throws {
        let problem = try await refused(body)
        #expect(problem.status == 400 && problem.field == "body")
    }

    @Test("bytes that are not UTF-8 are refused, in UTF-16 too")
    func encodings() async throws {
        for bytes: [UInt8] in [
            Array(#"{"step":1,"input":{"code":""#.utf8) + [0xff] + Array(#""}}"#.utf8),
            [0x7b, 0x00, 0x7d, 0x00], [0xfe, 0xff, 0x00, 0x7b, 0x00, 0x7d],
            [0x22, 0xed, 0xa0, 0x80, 0x22], [0xc0, 0x80],
        ] {
            let answer = await world.ask("POST", Self.input, ClientAPIWorld.known, bytes)
            #expect(try ClientAPIWorld.problem(answer).status == 400)
        }
    }

    @Test("nesting has a bound")
    func depth() async throws {
        let deep = String(repeating: "[", count: 20_000)
        let problem = try await refused(#"{"step":1,"input":"# + deep)
        #expect(problem.status == 400 && problem.detail.contains("16"))
        let level16 =
            String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        #expect(try await refused(level16).detail == "body: must be an object")
        #expect(try await refused("[\(level16)]").detail.contains("16 levels"))
    }

    @Test("escapes are read as what they stand for")
    func escapes() async throws {
        let answer = await world.ask(
            "POST", Self.input, ClientAPIWorld.known,
            #" {"st\u0065p" : 1 ,"input":{"code":"\u0661\ud83d\ude00\/\"\\\n"}} "#)
        #expect(answer.status == 200)
        #expect(world.bus.requests(SubmitInput.self).first?.input.code == "\u{661}😀/\"\\\n")
    }

    @Test(
        "the type of a body must be JSON in UTF-8, and the body as it is",
        arguments: [
            "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1",
            "application/jsonp", "application/problem+json", "",
        ])
    func types(_ type: String) async throws {
        var headers = ClientAPIWorld.known
        headers.set("Content-Type", type)
        let problem = try await refused(#"{"step":1,"input":{"code":"1"}}"#, headers: headers)
        #expect(problem.status == 415 && problem.code == "media_type_unsupported")
        #expect(problem.field == "Content-Type")
    }

    @Test("a body without a type, with two, or compressed is refused")
    func headers() async throws {
        let body = #"{"templateId":"100001"}"#
        let scenes = "/client/v1/scenes"
        let none = try await refused(body, path: scenes, headers: ClientAPIWorld.bearer)
        #expect(none.status == 415)
        var twice = ClientAPIWorld.known
        twice.add("Content-Type", "application/json")
        #expect(try await refused(body, path: scenes, headers: twice).status == 415)
        var packed = ClientAPIWorld.known
        packed.set("Content-Encoding", "gzip")
        let problem = try await refused(body, path: scenes, headers: packed)
        #expect(problem.status == 415 && problem.field == "Content-Encoding")
    }

    @Test(
        "the usual spellings of the type are taken",
        arguments: [
            "application/json", "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"", "application/json;",
        ])
    func spellings(_ type: String) async {
        var headers = ClientAPIWorld.known
        headers.set("Content-Type", type)
        let answer = await world.ask(
            "POST", "/client/v1/scenes", headers, #"{"templateId":"100001"}"#)
        #expect(answer.status == 201)
    }

    @Test("a stop takes an empty object and nothing else", arguments: [#"{"a":1}"#, "[]", "x"])
    func stops(_ body: String) async throws {
        let answer = await world.ask(
            "POST", "\(ClientAPIWorld.run)/stop", ClientAPIWorld.known, body)
        #expect(try ClientAPIWorld.problem(answer).status == 400)
        #expect(world.bus.requests(StopScene.self).isEmpty)
    }

    @Test("a name of the sender's own is not repeated at length")
    func longNames() async throws {
        let name = String(repeating: "n", count: 5_000)
        let problem = try await refused(#"{"\#(name)":1}"#)
        #expect(problem.field?.count == 100)
    }
}
