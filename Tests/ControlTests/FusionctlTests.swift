import Bus
import Effects
import Messages
import Primitives
import TestKit
import Testing

@testable import FusionctlCommands

@Suite("The tool")
struct FusionctlTests {
    @Test("an unknown command and a family without its verb say what there is")
    func unknown() async {
        let tool = Tool()
        #expect(await tool.run("fly") == .usage)
        #expect(await tool.run("peer") == .usage)
        let said = tool.terminal.progress.joined(separator: "\n")
        #expect(said.contains("there is no command “fly”"))
        #expect(said.contains("“peer” needs one of: add, remove, list"))
        #expect(tool.terminal.results.isEmpty)
    }

    @Test("help lists every command; help of one lists its options")
    func help() async {
        let tool = Tool()
        #expect(await tool.run("help") == .done)
        for command in Fusionctl.commands {
            #expect(tool.terminal.lastResult.contains(command.syntax.usage))
        }
        #expect(await tool.run("peer", "add", "--help") == .done)
        #expect(tool.terminal.lastResult.contains("--public-key Z85"))
        #expect(await tool.run() == .usage)
    }

    @Test("a refusal gives the reason, the field and what to do; with --json also on stdout")
    func refusal() async {
        let tool = Tool()
        tool.machine.bus.on(GetScheme.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.schemeNotFound, "there is no such scheme", field: "schemeCode")
        }
        #expect(await tool.run("scheme", "show", "FA1") == .failed)
        #expect(
            tool.terminal.progress.last
                == "fusionctl: scheme_not_found (schemeCode): there is no such scheme\n"
                + "→ fusionctl scheme list")
        #expect(tool.terminal.results.isEmpty)
        #expect(await tool.run("scheme", "show", "FA1", "--json") == .failed)
        let document = JSONValue(Array(tool.terminal.lastResult.utf8))
        #expect(document?["error"]?["reason"] == .text("scheme_not_found"))
    }

    @Test("a call wraps the parameters, sends the request key, and shows the result")
    func call() async throws {
        let tool = Tool()
        tool.machine.set {
            $0.rawReply = BusReply(
                status: .ok, body: Array(#"{"jsonrpc":"2.0","id":"1","result":{"text":"hi"}}"#.utf8)
            )
        }
        let status = await tool.run(
            "call", "echo.echo", #"{"text":"hi"}"#, "--request-key", "k", "--json",
            "--instance", "2")
        #expect(status == .done)
        let sent = try #require(tool.machine.get(\.rawCalls).last)
        #expect(sent.service == "echo@2")
        let body = try #require(JSONValue(Array(sent.body.utf8)))
        #expect(body["method"] == .text("echo.echo"))
        #expect(body["params"]?["text"] == .text("hi"))
        #expect(body["meta"]?["requestKey"] == .text("k"))
        #expect(tool.terminal.lastResult == "{\n  \"text\": \"hi\"\n}")
    }

    @Test("parameters that are no JSON object, and a method without a dot, are refused at once")
    func badCall() async {
        let tool = Tool()
        #expect(await tool.run("call", "echo.echo", "{") == .usage)
        #expect(await tool.run("call", "echo.echo", "[1]") == .usage)
        #expect(await tool.run("call", "echo", "{}") == .usage)
        #expect(tool.machine.get(\.rawCalls).isEmpty)
    }

    @Test("nobody there is unavailable, with a hint at ps and up")
    func nobody() async {
        let tool = Tool()
        #expect(await tool.run("ping", "token") == .failed)
        #expect(tool.terminal.progress.last?.contains("fusionctl ps") == true)
    }

    @Test("verify exits 0 for PASS alone")
    func verify() async {
        let tool = Tool()
        tool.machine.bus.on(VerifyMaskToken.self) { request, _ in
            request.maskToken.reveal() == "good"
                ? Verified(result: .pass, phoneNumber: PhoneNumber(e164: "+8613800138000"))
                : Verified(result: .unknown, reason: .codeRejected)
        }
        #expect(await tool.run("verify", "good") == .done)
        #expect(await tool.run("verify", "bad") == .failed)
        #expect(tool.terminal.lastResult.contains("code_rejected"))
    }

    @Test("a token is issued for the home's scheme and the app that the scheme names")
    func issue() async {
        let tool = Tool()
        tool.machine.set { $0.defaultScheme = "FA1" }
        tool.machine.bus.on(GetScheme.self) { request, _ in
            Samples.scheme(request.schemeCode)
        }
        tool.machine.bus.on(IssueAuthToken.self) { _, _ in
            IssueAuthToken.Issued(
                authToken: "eyJ", tokenId: Samples.tokenID, expiresAtMilliseconds: 1)
        }
        #expect(await tool.run("token", "temporary", "--platform", "android") == .done)
        let asked = tool.machine.bus.requests(IssueAuthToken.self).last
        #expect(asked?.packageName == "com.example.app")
        #expect(asked?.bundleId == nil)
        #expect(asked?.durationSeconds == 900)
    }

    @Test("peer add writes what the peer needs; without a place for the secret it is refused")
    func peerAdd() async throws {
        let tool = Tool()
        #expect(await tool.run("peer", "add", "acme", "--role", "integrator") == .usage)
        #expect(await tool.run("peer", "add", "acme", "--role", "boss", "--out", "f") == .usage)
        #expect(tool.machine.get(\.peersAsked).isEmpty)
        let status = await tool.run(
            "peer", "add", "acme", "--role", "integrator", "--out", "f", "--call", "a,b.*")
        #expect(status == .done)
        #expect(tool.machine.get(\.peersAsked).last?.calls == ["a", "b.*"])
        let file = String(decoding: try #require(tool.machine.get(\.written)["f"]), as: UTF8.self)
        #expect(file.contains("endpoint = \"tcp://127.0.0.1:5570\""))
        #expect(file.contains("secret_key = \"S\""))
        #expect(!tool.terminal.lastResult.contains("secret"))
    }

    @Test("scene lint names findings and exits 1; a standard scene has none")
    func lint() async {
        let tool = Tool()
        #expect(await tool.run("scene", "show", "100001") == .done)
        let good = Array(tool.terminal.lastResult.utf8)
        let bad = String(decoding: good, as: UTF8.self)
            .replacing("\"begin\" : \"300000100001001\"", with: "\"begin\" : \"nowhere\"")
        tool.machine.set { $0.files = ["good": good, "bad": Array(bad.utf8), "no": [123]] }
        #expect(await tool.run("scene", "lint", "good") == .done)
        #expect(await tool.run("scene", "lint", "bad") == .failed)
        #expect(tool.terminal.lastResult.contains("✗"))
        #expect(await tool.run("scene", "lint", "no") == .failed)
    }

    @Test("ps shows the dead as gone and asks only the living")
    func ps() async {
        let tool = Tool()
        tool.machine.set {
            $0.instances = [
                RunningInstance(
                    daemon: "fusion-token", instanceID: "1", processID: 7, isAlive: true,
                    state: "ready", memoryBytes: 3 << 20),
                RunningInstance(
                    daemon: "fusion-scene", instanceID: "2", processID: 8, isAlive: false,
                    state: "ready", memoryBytes: nil),
                RunningInstance(
                    daemon: "fusion-gateway", instanceID: "–", processID: nil, isAlive: false,
                    state: "waiting", memoryBytes: nil),
            ]
            $0.rawReply = BusReply(
                status: .ok, body: Array(#"{"jsonrpc":"2.0","id":"1","result":{}}"#.utf8))
        }
        #expect(await tool.run("ps") == .done)
        let lines = tool.terminal.lastResult.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[1].contains("3 MiB"))
        #expect(lines[2].contains("gone"))
        #expect(lines[3].contains("fusion-gateway") && lines[3].contains("waiting"))
        #expect(lines[4].contains("starts it again"))
        #expect(tool.machine.get(\.rawCalls).map(\.service) == ["token@1"])
    }

    @Test("a daemon that answers with its own trouble is not asked for; one that does not is")
    func whoAnswered() async {
        let tool = Tool()
        tool.machine.bus.on(CreateAccessKey.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.unavailable, "the disk of the store is full; free some space")
        }
        #expect(await tool.run("key", "create", "acme") == .failed)
        let own = tool.terminal.progress.joined()
        #expect(own.contains("free some space") && !own.contains("is it running?"))
        #expect(own.contains("the daemon runs"))
        let absent = Tool()
        absent.machine.bus.on(CreateAccessKey.self) { _, _ throws(ServiceFailure) in
            throw LinkCaller.busFailure(BusReply(status: .noSuchService))
        }
        #expect(await absent.run("key", "create", "acme") == .failed)
        #expect(absent.terminal.progress.joined().contains("is it running?"))
    }

    @Test("a benchmark is a table for people and rows for machines, and can be saved")
    func bench() async throws {
        let tool = Tool()
        #expect(await tool.run("bench", "bus", "--outstanding", "1,16", "--out", "b.json") == .done)
        #expect(
            tool.terminal.lastResult
                == "outstanding  callsPerSecond\n1            1235\n16           1235")
        let saved = try #require(tool.machine.get(\.written)["b.json"])
        #expect(JSONValue(saved)?["bench"] == .text("bus"))
        #expect(await tool.run("bench", "bus", "--outstanding", "0") == .usage)
    }
}

enum Samples {
    static let tokenID = TokenID(random: Array(repeating: 1, count: 16))

    static func scheme(_ code: String, name: String = "default") -> Scheme {
        Scheme(
            schemeCode: code, version: 1, name: name, owner: "owner",
            app: AppIdentity(
                iosBundleId: "com.example.app", androidPackageName: "com.example.app",
                androidPackageSign: "0123456789abcdef0123456789abcdef"),
            policy: .standard, disabled: false, createdAtMilliseconds: 1,
            updatedAtMilliseconds: 1)
    }
}
