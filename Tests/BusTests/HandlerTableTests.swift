import Effects
import Foundation
import Messages
import Primitives
import TestKit
import Testing

@testable import Bus

@Suite("A handler table turns bytes into typed calls and outcomes into bytes")
struct HandlerTableTests {
    private let clock = ManualClock()

    private func table() -> HandlerTable {
        var table = HandlerTable()
        table.on(EchoText.self) { request, _ in EchoedText(text: request.text) }
        table.on(GetRunStatus.self) { _, _ in RunStatus(passed: false) }
        table.on(IssueAuthToken.self) { request, _ throws(ServiceFailure) in
            throw ServiceFailure(
                .rateLimited, "slower", field: "schemeCode", retryAfterMilliseconds: 1500)
        }
        return table
    }

    private func header(_ roles: Roles = .integrator) -> BusHeader {
        BusHeader(
            kind: .request, requestID: Array(repeating: 7, count: 16),
            principal: Principal(roles: roles, name: "shop"))
    }

    private func answer(
        _ body: String, service: String = "echo", roles: Roles = .integrator
    ) async throws -> (status: BusStatus, json: [String: Any]) {
        let reply = await table().answer(
            service: service, header: header(roles), body: Array(body.utf8), arrivedAt: .zero
        ).reply
        let json = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any]
        return (reply.status, try #require(json))
    }

    private func code(_ json: [String: Any]) -> Int? {
        (json["error"] as? [String: Any])?["code"] as? Int
    }

    private func detail(_ json: [String: Any]) -> [String: Any] {
        (json["error"] as? [String: Any])?["data"] as? [String: Any] ?? [:]
    }

    @Test("a call by hand gets its result under its own id")
    func result() async throws {
        let (status, json) = try await answer(
            #"{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":{"text":"hi"}}"#)
        #expect(status == .ok)
        #expect(json["id"] as? String == "1")
        #expect((json["result"] as? [String: Any])?["text"] as? String == "hi")
    }

    @Test(
        "a deadline in the body counts beside the broker's own",
        arguments: [("0", true), ("-1", true), ("1", false), ("2000", false)])
    func bodyDeadline(_ milliseconds: String, isOver: Bool) async throws {
        var header = header()
        header.timeLeftMilliseconds = 30_000
        let body =
            #"{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":{"text":"hi"},"#
            + #""meta":{"timeoutMilliseconds":\#(milliseconds)}}"#
        var table = HandlerTable()
        table.on(EchoText.self) { _, context in
            EchoedText(text: "\(context.timeLeft(ManualClock()) ?? .zero)")
        }
        let reply = await table.answer(
            service: "echo", header: header, body: Array(body.utf8), arrivedAt: .zero
        ).reply
        let text = String(decoding: reply.body, as: UTF8.self)
        #expect(text.contains("deadline_passed") == isOver)
        #expect(reply.status == (isOver ? .refused : .ok))
        if milliseconds == "2000" { #expect(text.contains("2.0 seconds")) }
    }

    @Test(
        "ids of any JSON-RPC form come back as they were", arguments: ["7", "\"x\"", "null", "1.5"])
    func ids(_ id: String) async throws {
        let reply = await table().answer(
            service: "echo", header: header(),
            body: Array(
                "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"echo.echo\",\"params\":{\"text\":\"\"}}"
                    .utf8),
            arrivedAt: .zero
        ).reply
        #expect(String(decoding: reply.body, as: UTF8.self).contains("\"id\":\(id)"))
    }

    @Test("a request without an id is answered with a null id")
    func missingID() async throws {
        let (status, json) = try await answer(
            #"{"jsonrpc":"2.0","method":"echo.echo","params":{"text":"hi"}}"#)
        #expect(status == .ok)
        #expect(json["id"] is NSNull)
    }

    @Test(
        "what is not JSON is -32700",
        arguments: ["", "{", "\u{0}", "{\"jsonrpc\":\"2.0\",}x", "nonsense"])
    func notJSON(_ body: String) async throws {
        #expect(code(try await answer(body).json) == -32700)
    }

    @Test("bytes that are not UTF-8 and deep nesting are -32700")
    func notText() async throws {
        let deep = String(repeating: "[", count: 100_000)
        for body in [[0xff, 0xfe, 0x00], Array(deep.utf8)] as [[UInt8]] {
            let reply = await table().answer(
                service: "echo", header: header(), body: body, arrivedAt: .zero
            ).reply
            #expect(String(decoding: reply.body, as: UTF8.self).contains("-32700"))
        }
    }

    @Test(
        "what is not a request object is -32600, a batch among it",
        arguments: [
            "[]", "1", "\"x\"", "null", "{}", #"[{"jsonrpc":"2.0","id":1,"method":"echo.echo"}]"#,
            #"{"jsonrpc":"1.0","id":1,"method":"echo.echo"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":5}"#,
            #"{"jsonrpc":"2.0","id":{},"method":"echo.echo"}"#,
            #"{"jsonrpc":2.0,"id":1,"method":"echo.echo"}"#,
        ])
    func notARequest(_ body: String) async throws {
        #expect(code(try await answer(body).json) == -32600)
    }

    @Test("a lone surrogate in a text is refused by name")
    func loneSurrogate() async throws {
        let (_, json) = try await answer(
            #"{"jsonrpc":"2.0","id":1,"method":"echo.echo","params":{"text":"\ud800"}}"#)
        #expect(code(json) == -32602 || code(json) == -32700)
    }

    @Test("an unknown method is -32601 with its id")
    func unknownMethod() async throws {
        let (status, json) = try await answer(#"{"jsonrpc":"2.0","id":3,"method":"echo.nothing"}"#)
        #expect(status == .refused)
        #expect(code(json) == -32601)
        #expect(json["id"] as? Int == 3)
    }

    @Test("a method that came under another service name is refused; an instance name is not")
    func wrongService() async throws {
        let body = #"{"jsonrpc":"2.0","id":3,"method":"echo.echo","params":{"text":""}}"#
        #expect(code(try await answer(body, service: "token").json) == -32601)
        #expect(try await answer(body, service: "echo@i1").status == .ok)
    }

    @Test(
        "parameters of the wrong shape are -32602 and name the field",
        arguments: [
            (#"{}"#, "text"), (#"{"text":5}"#, "text"), (#"{"text":null}"#, "text"),
            (#"{"text":["a"]}"#, "text"),
            (#"{"text":"a","delayMilliseconds":"9"}"#, "delayMilliseconds"),
            (#"{"text":"a","delayMilliseconds":99999}"#, "delayMilliseconds"), ("[]", "params"),
            ("null", "params"), ("7", "params"),
        ])
    func wrongParameters(_ parameters: String, _ field: String) async throws {
        let (_, json) = try await answer(
            #"{"jsonrpc":"2.0","id":1,"method":"echo.echo","params":\#(parameters)}"#)
        #expect(code(json) == -32602)
        #expect(detail(json)["field"] as? String == field)
        #expect(json["id"] as? Int == 1)
    }

    @Test("absent parameters read as an empty object")
    func absentParameters() async throws {
        let (_, json) = try await answer(#"{"jsonrpc":"2.0","id":1,"method":"echo.echo"}"#)
        #expect(code(json) == -32602)
        #expect(detail(json)["field"] as? String == "text")
    }

    @Test("a role that the method does not admit is told so")
    func roles() async throws {
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"verification.internal.run_status","params":{"runId":"run_00000000000000000000000000","step":1}}"#
        let (_, refused) = try await answer(body, service: "verification.internal")
        #expect(detail(refused)["reason"] as? String == "not_allowed")
        #expect(
            try await answer(body, service: "verification.internal", roles: .service).status == .ok)
    }

    @Test("only the gateway calls on behalf of others")
    func onBehalfOf() async throws {
        let body =
            #"{"jsonrpc":"2.0","id":1,"method":"echo.echo","params":{"text":""},"meta":{"onBehalfOf":{"role":"integrator","name":"a"}}}"#
        #expect(detail(try await answer(body).json)["reason"] as? String == "not_allowed")
        #expect(
            detail(try await answer(body, roles: .operator).json)["reason"] as? String
                == "not_allowed")
        #expect(try await answer(body, roles: .gateway).status == .ok)
    }

    @Test("a refusal carries its reason, field and wait")
    func refusal() async throws {
        let (status, json) = try await answer(
            #"{"jsonrpc":"2.0","id":1,"method":"token.issue","params":{"schemeCode":"FA1","platform":"ios","bundleId":"b","durationSeconds":900}}"#,
            service: "token")
        #expect(status == .refused)
        #expect(code(json) == -32000)
        #expect(detail(json)["reason"] as? String == "rate_limited")
        #expect(detail(json)["field"] as? String == "schemeCode")
        #expect(detail(json)["retryAfterMilliseconds"] as? Int == 1500)
    }

    @Test("random bytes never stop the table")
    func fuzz() async {
        let random = SeededRandom(seed: 11)
        let valid = Array(
            #"{"jsonrpc":"2.0","id":"1","method":"echo.echo","params":{"text":"hi"},"meta":{"requestKey":"k"}}"#
                .utf8)
        for round in 0..<3_000 {
            var body = valid
            for _ in 0...Int(random.uniform(below: 4)) {
                body[Int(random.uniform(below: UInt32(body.count)))] = random.bytes(1)[0]
            }
            if round.isMultiple(of: 3) {
                body = Array(body.prefix(Int(random.uniform(below: UInt32(body.count)))))
            }
            let reply = await table().answer(
                service: "echo", header: header(), body: body, arrivedAt: .zero
            ).reply
            #expect(!reply.body.isEmpty)
        }
    }
}
