import Bus
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import FusionctlCommands

@Suite("The demo over HTTP")
struct HTTPDemoTests {
    private let web = FakeHTTP()
    private let scene = ScriptedScene()
    private let keys = DemoKeys(random: SeededRandom(seed: 3))

    private func app() -> HTTPApp {
        let gateway = FakeGateway(bus: scene.bus)
        web.answer { call throws(HTTPCallFailure) in try await gateway.answer(call) }
        return HTTPApp(http: web, address: FakeGateway.address + "/", keys: keys)
    }

    @Test("the same stories end alike, over HTTP as over the bus")
    func same() async {
        for script in [DemoScript.oneClick, .continueRefused] {
            let overBus = await ScriptedScene().play(script)
            let overHTTP = await scene.play(script, app: app())
            #expect(overHTTP.error == nil)
            #expect(overHTTP.outcome == overBus.outcome)
            #expect(overHTTP.nodes.map(\.outcome) == overBus.nodes.map(\.outcome))
            #expect(overHTTP.resultCodes == overBus.resultCodes)
        }
    }

    @Test("the run key is a header and never part of an address")
    func runKey() async {
        _ = await scene.play(.oneClick, app: app())
        #expect(web.calls.count > 3)
        #expect(web.calls.allSatisfy { !$0.url.contains("key") && !$0.url.contains("?") })
        #expect(web.calls.dropFirst(2).allSatisfy { $0.headers["x-run-key"] == "key" })
    }

    @Test("a gateway that is not there, or speaks no JSON, is found out")
    func broken() async {
        let app = HTTPApp(http: web, address: FakeGateway.address, keys: keys)
        let gone = await scene.play(.oneClick, app: app)
        #expect(gone.error?.contains("nobody could be reached there") == true)
        web.answer { _ throws(HTTPCallFailure) in HTTPAnswer(status: 502) }
        let refused = await scene.play(.oneClick, app: app)
        #expect(refused.error?.contains("answered 502") == true)
        web.answer { _ throws(HTTPCallFailure) in
            HTTPAnswer(status: 200, body: Array("<html>".utf8))
        }
        let mute = await scene.play(.oneClick, app: app)
        #expect(mute.error?.contains("what cannot be read") == true)
    }

    @Test("an app server issues the token and decides, with the session of whoever logged in")
    func appServer() async throws {
        web.answer { call throws(HTTPCallFailure) in
            let text =
                call.url == "http://app.test/auth-token"
                ? #"{"Token":"eyJ"}"#
                : #"{"VerifyResult":"PASS","PhoneNumber":"+8613800138000","Session":"s-1"}"#
            return HTTPAnswer(status: 200, body: Array(text.utf8))
        }
        let server = HTTPAppServer(http: web, address: "http://app.test")
        #expect(try await server.fetchToken(boundNumber: nil).reveal() == "eyJ")
        let verified = try await server.verify(Secret("mask"))
        #expect(verified.result == .pass)
        #expect(verified.phoneNumber?.e164 == "+8613800138000")
        _ = try await server.fetchToken(boundNumber: "+8613800138000")
        #expect(web.calls.map { $0.headers["authorization"] } == [nil, nil, "Bearer s-1"])
        #expect(
            web.calls.map { String(decoding: $0.body, as: UTF8.self) } == [
                #"{"BundleId":"com.example.app","Platform":"iOS"}"#, #"{"MaskToken":"mask"}"#,
                #"{"BundleId":"com.example.app","Platform":"iOS"}"#,
            ])
        // The next case may know no account.
        _ = try await server.fetchToken(boundNumber: nil)
        #expect(web.calls.last?.headers["authorization"] == nil)
    }

    @Test("without a gateway the command says what to do")
    func noGateway() async {
        let tool = Tool()
        tool.machine.set { $0.defaultScheme = "FA1" }
        #expect(await tool.run("demo", "--http", "--scheme", "FA1") == .failed)
        #expect(tool.terminal.progress.last?.contains("no gateway runs in this home") == true)
        #expect(await tool.run("demo", "--mode", "quick", "--scheme", "FA1") == .usage)
        #expect(await tool.run("demo", "--http=x", "--mode", "y", "--scheme", "FA1") == .usage)
    }

    @Test("every case is reported with its mode and transport, and one that fails is not ok")
    func report() async throws {
        let tool = Tool()
        let status = await tool.run(
            "demo", "--http", FakeGateway.address, "--case", "one_click", "--scheme", "FA1",
            "--json")
        #expect(status == .failed)
        let report = try #require(JSONValue(Array(tool.terminal.lastResult.utf8)))
        #expect(report["ok"] == .flag(false))
        guard case .list(let cases) = report["cases"] else {
            Issue.record("no cases in the report")
            return
        }
        #expect(cases.compactMap { $0["mode"]?.string } == ["normal", "quick"])
        #expect(cases.allSatisfy { $0["transport"]?.string == "http" })
        #expect(cases.allSatisfy { $0["error"]?.string != nil })
    }
}
