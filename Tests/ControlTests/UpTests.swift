import Bus
import Messages
import Primitives
import TestKit
import Testing

@testable import FusionctlCommands

@Suite("up")
struct UpTests {
    private func answering() -> Tool {
        let tool = Tool()
        tool.machine.set {
            $0.rawReply = BusReply(
                status: .ok, body: Array(#"{"jsonrpc":"2.0","id":"1","result":{}}"#.utf8))
        }
        tool.machine.bus.on(ListSchemes.self) { _, _ in SchemeList(schemes: []) }
        tool.machine.bus.on(CreateScheme.self) { request, _ in
            Samples.scheme("FA1", name: request.name)
        }
        return tool
    }

    @Test(
        "a new home is made, every daemon is started in order and asked, and the default scheme made"
    )
    func first() async {
        let tool = answering()
        tool.machine.set { $0.isInitialised = false }
        #expect(await tool.run("up", "--port-base", "6000") == .done)
        #expect(tool.machine.get(\.portBases) == [6000])
        #expect(
            tool.machine.get(\.supervised) == [
                [
                    "fusion-broker", "fusion-sandbox", "fusion-token", "fusion-verification",
                    "fusion-smscode", "fusion-scene", "fusion-gateway", "fusion-echo",
                ]
            ])
        #expect(
            tool.machine.get(\.rawCalls).map(\.service) == [
                "sandbox", "token", "verification", "smscode", "scene", "echo",
            ])
        #expect(tool.machine.get(\.schemesWritten) == ["FA1"])
        let options = tool.machine.bus.options(of: CreateScheme.self)
        #expect(options.map(\.requestKey) == ["fusionctl-default-scheme"])
        #expect(tool.machine.get(\.ends) == [.stay])
        #expect(tool.terminal.results.isEmpty)
    }

    @Test("a known default scheme is kept; where its code was lost another is made, none is taken")
    func schemes() async {
        let tool = answering()
        tool.machine.set { $0.defaultScheme = "FA7" }
        tool.machine.bus.on(GetScheme.self) { request, _ in Samples.scheme(request.schemeCode) }
        #expect(await tool.run("up") == .done)
        #expect(tool.machine.get(\.schemesWritten).isEmpty)
        tool.machine.set { $0.defaultScheme = nil }
        tool.machine.bus.on(ListSchemes.self) { _, _ in
            SchemeList(schemes: [Samples.scheme("FA8", name: "mine"), Samples.scheme("FA9")])
        }
        #expect(await tool.run("up") == .done)
        #expect(tool.machine.get(\.schemesWritten) == ["FA1"])
        #expect(tool.machine.bus.requests(CreateScheme.self).count == 1)
    }

    @Test("in production neither sandbox nor echo is started, and no demo is played")
    func production() async {
        let tool = answering()
        tool.machine.set { $0.isProduction = true }
        #expect(await tool.run("up", "--demo") == .failed)
        let started = tool.machine.get(\.supervised).last ?? []
        #expect(!started.contains("fusion-sandbox") && !started.contains("fusion-echo"))
        #expect(tool.terminal.progress.last?.contains("the demo needs the sandbox") == true)
        #expect(tool.machine.get(\.ends) == [.stay])
    }

    @Test("--once drains after the demo and exits 1 when a case ended otherwise than expected")
    func once() async throws {
        let tool = answering()
        tool.machine.set {
            $0.endpoints = Endpoints(ipc: "ipc://x", tcp: nil, http: nil, brokerKey: nil)
        }
        #expect(await tool.run("up", "--once", "--json") == .failed)
        #expect(tool.machine.get(\.ends) == [.drain])
        #expect(tool.terminal.results.count == 1)
        let report = try #require(JSONValue(Array(tool.terminal.lastResult.utf8)))
        #expect(report["ok"] == .flag(false))
        #expect(report["endpoints"]?["ipc"] == .text("ipc://x"))
    }

    @Test("a home whose broker runs is not brought up twice, but may get more of the others")
    func twice() async {
        let tool = answering()
        tool.machine.set {
            $0.instances = [
                RunningInstance(
                    daemon: "fusion-broker", instanceID: "1", processID: 7, isAlive: true,
                    state: "ready", memoryBytes: nil)
            ]
        }
        #expect(await tool.run("up") == .failed)
        #expect(tool.machine.get(\.supervised).isEmpty)
        #expect(await tool.run("up", "--daemons", "echo") == .done)
        #expect(tool.machine.get(\.supervised) == [["fusion-echo"]])
    }

    @Test("an unknown daemon is refused before anything starts")
    func unknown() async {
        let tool = answering()
        #expect(await tool.run("up", "--daemons", "broker,lunch") == .usage)
        #expect(tool.machine.get(\.supervised).isEmpty)
    }
}
