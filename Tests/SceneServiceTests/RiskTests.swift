import Bus
import Messages
import Primitives
import SceneService
import ServiceTestKit
import Storage
import TestKit
import Testing

/// Device risk, number risk, capabilities, scheme policy, graphic checks, budgets of a run.
@Suite(.closesBuses) struct RiskTests {
    static let phone = "+8613800000001"

    @Test(
        "device risk: five starts a minute pass, the sixth is 700002 and goes to up-going SMS",
        arguments: TransportUnderTest.allCases)
    func deviceWindow(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            for _ in 0..<5 {
                #expect(try await world.client().start("100001").resultCodes == [700_001])
            }
            let refused = try await world.client().start("100001")
            #expect(refused.resultCodes == [700_002])
            #expect(refused.node?.kind == .upgoingSMS)
            #expect(
                try await world.client(device: "other").start("100001").resultCodes == [700_001])
            world.clock.advance(.seconds(60))
            for _ in 0..<5 {
                #expect(try await world.client().start("100001").resultCodes == [700_001])
            }
            world.clock.advance(.seconds(60))
            #expect(try await world.client().start("100001").resultCodes == [700_002])
            world.clock.advance(.seconds(3_600))
            #expect(try await world.client().start("100001").resultCodes == [700_001])
        }
    }

    @Test(
        "device risk of 32 parallel starts lets exactly five through",
        arguments: TransportUnderTest.allCases)
    func parallelStarts(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving(world.service(), world.service(seed: 2)) {
            let codes = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<32 {
                    let app = try world.client()
                    group.addTask { try await app.start("100001").resultCodes }
                }
                var codes: [Int] = []
                for try await more in group { codes += more }
                return codes
            }
            #expect(codes.count { $0 == 700_001 } == 5)
            #expect(codes.count { $0 == 700_002 } == 27)
        }
    }

    @Test(
        "no device id is 700004 and takes the failure edge", arguments: TransportUnderTest.allCases)
    func noDevice(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let start = try await world.client(device: nil).start("100001")
            #expect(start.resultCodes == [700_004])
            #expect(start.node?.kind == .upgoingSMS)
        }
    }

    @Test(
        "number risk guards the SMS node although the node was not walked: 500009 in a minute",
        arguments: TransportUnderTest.allCases)
    func numberWindow(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let first = try await MoveTests.atCodeNode(world)
            try await first.send(Self.phone)
            let second = try await MoveTests.atCodeNode(world, device: "device-2")
            let refused = try await second.send(Self.phone)
            #expect(refused.resultCodes == [500_009])
            #expect(refused.reason == "number_frequency")
            #expect(refused.node?.resendAtMilliseconds != nil)
            #expect(world.neighbours.sentNumbers.count == 1)
            world.clock.advance(.seconds(60))
            #expect(try await second.send(Self.phone).resultCodes == [500_007])
        }
    }

    @Test(
        "100005 has no number risk: its code is sent again at once as far as scene is asked",
        arguments: TransportUnderTest.allCases)
    func unguarded(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100005")
            #expect(try await app.send().resultCodes == [500_007])
            #expect(try await app.send().resultCodes == [500_007])
        }
    }

    @Test(
        "F132 one device asks for ten codes an hour at most, whatever the numbers",
        arguments: TransportUnderTest.allCases)
    func manyNumbers(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await MoveTests.atCodeNode(world)
            var sent = 0
            for index in 10..<35 {
                let view = try await app.send("+86138000000\(index)")
                if view.resultCodes == [500_007] { sent += 1 }
            }
            #expect(sent == 10)
            #expect(world.neighbours.sentNumbers.count == 10)
        }
    }

    @Test(
        "the account's number is not found out by trying, not even by a right guess",
        arguments: TransportUnderTest.allCases)
    func enumeration(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100003")
            for index in 10..<20 {
                #expect(try await app.send("+86138000000\(index)").resultCodes == [500_015])
            }
            #expect(try await app.send("+8613800000020").resultCodes == [500_009])
            #expect(try await app.send(Self.phone).resultCodes == [500_009])
            #expect(world.neighbours.sentNumbers.isEmpty)
        }
    }

    @Test(
        "a run has ten mask tokens, the eleventh is too_many",
        arguments: TransportUnderTest.allCases)
    func maskTokens(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await MoveTests.atCodeNode(world)
            try await app.send(Self.phone)
            for _ in 0..<10 { #expect(try await app.code("000000").maskToken != nil) }
            let refused = await failure { () async throws(ServiceFailure) in
                try await app.code(world.neighbours.lastCode)
            }
            #expect(refused?.code == .tooMany)
            #expect(world.neighbours.opened.count == 10)
        }
    }

    @Test(
        "a client that cannot do a kind of node goes on to the next usable one",
        arguments: TransportUnderTest.allCases)
    func capabilities(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let noCarrier = try world.client(capabilities: ClientCapabilities(numberAuth: false))
            try await noCarrier.start("100001")
            #expect(noCarrier.at == "005")
            let upgoingOnly = try world.client(
                capabilities: ClientCapabilities(numberAuth: false, smsCode: false))
            try await upgoingOnly.start("100001")
            #expect(upgoingOnly.at == "007")
            let nothing = try world.client(
                capabilities: ClientCapabilities(
                    numberAuth: false, smsCode: false, upgoingSMS: false))
            let end = try await nothing.start("100001")
            #expect(end.state == .failed)
            #expect(end.endCode == 200_001)
            #expect(end.reason == "client_cannot")
        }
    }

    @Test(
        "graphic: shown when scheme and client want it; a failed proof stays, a passed one moves",
        arguments: TransportUnderTest.allCases)
    func graphic(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport, policy: SchemePolicy(graphicCheck: true))
        try await world.serving {
            let plain = try world.client()
            try await plain.start("100001")
            #expect(plain.at == "004")
            let app = try world.client(
                device: "device-2", capabilities: ClientCapabilities(graphic: true))
            let start = try await app.start("100001")
            #expect(app.at == "008")
            #expect(start.node?.nodeName == "graphAuth")
            let failed = try await app.submit(NodeInput(proof: "robot"))
            #expect(failed.resultCodes == [110_008])
            #expect(app.at == "008")
            let passed = try await app.submit(NodeInput(proof: "human-12345678"))
            #expect(passed.resultCodes == [110_007])
            #expect(app.at == "004")
            let other = try world.client(
                device: "device-3", capabilities: ClientCapabilities(graphic: true))
            try await other.start("100001")
            try await other.proceed(false)
            #expect(other.at == "007")
        }
    }

    @Test(
        "a scheme switches off what may be off, and sets windows; running runs keep their version",
        arguments: TransportUnderTest.allCases)
    func policy(_ transport: TransportUnderTest) async throws {
        let off = TemplatePolicy(
            templateId: "100001",
            nodes: [
                NodePolicy(nodeId: "300000100001001", enabled: false),
                NodePolicy(nodeId: "300000100001005", enabled: false),
                NodePolicy(
                    nodeId: "300000100001003", windows: [FrequencyWindow(limit: 0, seconds: 60)]),
            ], codeLength: 8, codeLifetimeSeconds: 120)
        let world = SceneWorld(transport, policy: SchemePolicy(templates: [off]))
        try await world.serving {
            let app = try world.client(device: nil)
            let start = try await app.start("100001")
            #expect(start.resultCodes == [])
            #expect(app.at == "004")
            try await app.submit(NodeInput(otherLogin: true))
            #expect(app.at == "005")
            #expect(app.view?.node?.codeLength == 8)
            #expect(try await app.send(Self.phone).resultCodes == [500_009])
            world.update(.standard)
            // Past the time for which the newest version may be remembered.
            world.clock.advance(.seconds(5))
            #expect(try await app.send(Self.phone).resultCodes == [500_009])
            let fresh = try await MoveTests.atCodeNode(world)
            #expect(try await fresh.send(Self.phone).resultCodes == [500_007])
            let request = try #require(world.neighbours.bus.requests(SendCode.self).last)
            #expect(request.codeLength == 6)
            #expect(request.lifetimeSeconds == 300)
        }
    }

    @Test(
        "a scheme's own template is listed and can be walked",
        arguments: TransportUnderTest.allCases)
    func ownTemplate(_ transport: TransportUnderTest) async throws {
        let only = "300000900001001"
        let graph = SceneGraph(
            templateId: "900001", name: "SMS only", begin: only,
            nodes: [SceneNode(nodeId: only, kind: .smsCode, success: ["END"], failure: ["END"])])
        let world = SceneWorld(
            transport,
            policy: SchemePolicy(templates: [TemplatePolicy(templateId: "900001", graph: graph)]))
        try await world.serving {
            let list = try await world.caller(SceneWorld.alice).call(
                ListTemplates(schemeCode: SceneWorld.schemeCode))
            #expect(list.templates.map(\.templateId).last == "900001")
            #expect(list.templates.count == 6)
            let app = try world.client()
            try await app.start("900001")
            try await app.send(Self.phone)
            world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken)
            #expect(try await app.proceed(true).state == .passed)
            #expect(world.neighbours.opened.first?.purpose == "scene:900001")
            #expect(world.neighbours.opened.first?.score == nil)
        }
    }

    @Test(
        "a splitter draws by weight from the run id: a run keeps its branch, many runs meet both",
        arguments: TransportUnderTest.allCases)
    func splitter(_ transport: TransportUnderTest) async throws {
        func id(_ number: Int) -> String { "30000090000200\(number)" }
        func sms(_ number: Int) -> SceneNode {
            SceneNode(nodeId: id(number), kind: .smsCode, success: ["END"], failure: ["END"])
        }
        let graph = SceneGraph(
            templateId: "900002", name: "Split", begin: id(1),
            nodes: [
                SceneNode(
                    nodeId: id(1), kind: .splitter, success: [id(2), id(3), id(4)],
                    failure: ["END"],
                    settings: NodeSettings(weights: [
                        SplitWeight(nodeId: id(2), weight: 30),
                        SplitWeight(nodeId: id(3), weight: 70),
                        SplitWeight(nodeId: id(4), weight: 0),
                    ])), sms(2), sms(3), sms(4),
            ])
        let world = SceneWorld(
            transport,
            policy: SchemePolicy(templates: [TemplatePolicy(templateId: "900002", graph: graph)]))
        try await world.serving {
            var counts: [String: Int] = [:]
            for _ in 0..<200 {
                let app = try world.client()
                try await app.start("900002")
                counts[app.at, default: 0] += 1
            }
            #expect(counts["004"] == nil)
            #expect((30...90).contains(counts["002"] ?? 0), "\(counts)")
            #expect((counts["002"] ?? 0) + (counts["003"] ?? 0) == 200)
        }
    }

    @Test(
        "a node takes its own input only, and exactly one", arguments: TransportUnderTest.allCases)
    func wrongInputs(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let wrong: [(NodeInput, ErrorCode)] = [
                (NodeInput(send: true), .inputNotExpected),
                (NodeInput(sent: true), .inputNotExpected),
                (NodeInput(proof: "x"), .inputNotExpected),
                (NodeInput(), .invalidParameters),
                (NodeInput(send: true, code: "1"), .invalidParameters),
                (NodeInput(send: false), .invalidParameters),
                (NodeInput(number: Self.phone, code: "1"), .invalidParameters),
                (NodeInput(code: ""), .invalidParameters),
            ]
            for (input, code) in wrong {
                let refused = await failure { () async throws(ServiceFailure) in
                    try await app.submit(input)
                }
                #expect(refused?.code == code, "\(input)")
            }
            try await app.submit(NodeInput(otherLogin: true))
            let early = await failure { () async throws(ServiceFailure) in
                try await app.code("123456")
            }
            #expect(early?.code == .inputNotExpected)
            let noNumber = await failure { () async throws(ServiceFailure) in
                try await app.send()
            }
            #expect(noNumber?.code == .invalidParameters)
            let bad = await failure { () async throws(ServiceFailure) in
                try await app.send("not a number")
            }
            #expect(bad?.code == .numberInvalid)
            let halfway = await failure { () async throws(ServiceFailure) in
                try await app.halfway(false)
            }
            #expect(halfway?.code == .inputNotExpected)
        }
    }

    @Test("half-way false changes nothing", arguments: TransportUnderTest.allCases)
    func halfwayFalse(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100002")
            let step = app.step
            let view = try await app.halfway(false)
            #expect(view.step == step)
            #expect(app.at == "003")
            #expect(view.resultCodes == [])
        }
    }

    @Test(
        "events tell what happened in order, without numbers, from any sequence",
        arguments: TransportUnderTest.allCases)
    func events(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await MoveTests.atCodeNode(world)
            try await app.send(Self.phone)
            let all = try #require(try await app.get(since: 0).events)
            #expect(all.map(\.sequence) == Array(1...Int64(all.count)))
            #expect(all.compactMap(\.resultCode) == [700_001, 500_007])
            #expect(all.last?.name == "code_sent")
            let last = try #require(all.last)
            #expect(try await app.get(since: last.sequence).events == [])
            #expect(try await app.get(since: last.sequence - 1).events == [last])
            #expect(try await app.get().events == nil)
            for _ in 0..<150 { try await app.send("+8613800000001") }
            for _ in 0..<60 { try await app.submit(NodeInput(send: true)) }
            #expect(world.disk.count(in: "run_event") <= 200)
            #expect(try await app.get(since: 0).events?.count == 100)
        }
    }

    @Test(
        "the old number is not told when the scheme says so", arguments: TransportUnderTest.allCases
    )
    func noNotice(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport, policy: SchemePolicy(notifyOldNumber: false))
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100002")
            try await app.send()
            world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken)
            try await app.halfway(true)
            try await app.send("+8613800000002")
            world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken)
            #expect(try await app.proceed(true).state == .passed)
            #expect(world.disk.count(in: "outbox") == 0)
        }
    }

    @Test(
        "F144 what is over is swept: a month later nothing of a run is left",
        arguments: TransportUnderTest.allCases)
    func retention(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let service = world.service()
        try await world.serving(service) {
            let app = try await MoveTests.atCodeNode(world)
            try await app.send(Self.phone)
            world.clock.advance(.seconds(31 * 86_400))
            await service.sweep()
            let store = MemoryStore(tables: SceneTables.schemas, disk: world.disk)
            while try await store.sweep(now: world.clock.now(), limit: 100) > 0 {}
            for table in ["run", "run_event", "risk_window", "answer", "outbox"] {
                #expect(world.disk.count(in: table) == 0, "\(table)")
            }
        }
    }
}
