import Bus
import Messages
import Primitives
import SceneService
import ServiceTestKit
import Storage
import TestKit
import Testing

/// Rules 7 and 8: one end, late and doubled inputs, parallel calls.
@Suite(.closesBuses) struct MoveTests {
    static let phone = "+8613800000001"

    /// A client at the SMS node of 100001, before any send.
    static func atCodeNode(_ world: SceneWorld, device: String = "device-1") async throws
        -> SceneClient
    {
        let app = try world.client(device: device)
        try await app.start("100001")
        try await app.submit(NodeInput(otherLogin: true))
        return app
    }

    @Test(
        "F041 continue(true) without a PASS on record is refused and leaves the run as it was",
        arguments: TransportUnderTest.allCases)
    func withoutPass(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            try await app.send(Self.phone)
            try await app.code("000000")
            let before = try await app.get()
            let refused = await failure { () async throws(ServiceFailure) in
                try await app.proceed(true)
            }
            #expect(refused?.code == .passNotOnRecord)
            let after = try await app.get()
            #expect(after.step == before.step)
            #expect(after.state == .waiting)
            #expect(after.node?.nodeId == before.node?.nodeId)
        }
    }

    @Test("a PASS of one step does not move another", arguments: TransportUnderTest.allCases)
    func passOfAnotherStep(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            try await app.send(Self.phone)
            world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken)
            try await app.proceed(false)
            #expect(app.at == "007")
            let refused = await failure { () async throws(ServiceFailure) in
                try await app.proceed(true)
            }
            #expect(refused?.code == .passNotOnRecord)
        }
    }

    @Test(
        "a call that names another step changes nothing and gets the current view",
        arguments: TransportUnderTest.allCases)
    func otherStep(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            let step = app.step
            for wrong in [step - 1, step + 1, 0, -1] {
                let view = try await app.proceed(false, step: wrong)
                #expect(view.applied == false)
                #expect(view.step == step)
                let late = try await app.submit(
                    NodeInput(send: true, number: Self.phone), step: wrong)
                #expect(late.applied == false)
            }
            #expect(world.neighbours.sentNumbers.isEmpty)
        }
    }

    @Test(
        "of 16 parallel continue(false) from one step exactly one moves",
        arguments: TransportUnderTest.allCases)
    func parallelMoves(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving(world.service(), world.service(seed: 2)) {
            let app = try await Self.atCodeNode(world)
            let (runId, runKey, step) = (app.runId, app.runKey, app.step)
            let views = try await withThrowingTaskGroup(of: SceneView.self) { group in
                for _ in 0..<16 {
                    let caller = world.caller()
                    group.addTask {
                        try await caller.call(
                            ContinueScene(
                                authToken: app.token, runId: runId, runKey: runKey, step: step,
                                isSuccess: false))
                    }
                }
                var views: [SceneView] = []
                for try await view in group { views.append(view) }
                return views
            }
            #expect(views.count { $0.applied == true } == 1)
            #expect(Set(views.map(\.step)) == [step + 1])
            #expect(world.neighbours.upgoings.count == 1)
        }
    }

    @Test(
        "of 16 parallel sends at one node one SMS leaves, and the others are told so",
        arguments: TransportUnderTest.allCases)
    func parallelSends(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving(world.service(), world.service(seed: 2)) {
            let app = try await Self.atCodeNode(world)
            let (runId, runKey, step) = (app.runId, app.runKey, app.step)
            let codes = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<16 {
                    let caller = world.caller()
                    group.addTask {
                        try await caller.call(
                            SubmitInput(
                                authToken: app.token, runId: runId, runKey: runKey, step: step,
                                input: NodeInput(send: true, number: Self.phone))
                        ).resultCodes
                    }
                }
                var codes: [Int] = []
                for try await more in group { codes += more }
                return codes
            }
            #expect(world.neighbours.sentNumbers.count == 1)
            #expect(codes.allSatisfy { $0 == 500_007 || $0 == 500_009 })
            #expect(codes.contains(500_007))
        }
    }

    @Test(
        "F026 the same request key gives the same mask token again, another body is a conflict",
        arguments: TransportUnderTest.allCases)
    func sameKey(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            try await app.send(Self.phone)
            let code = world.neighbours.lastCode
            let first = try await app.code(code, key: "k1")
            let second = try await app.code(code, key: "k1")
            #expect(first.maskToken?.reveal() == second.maskToken?.reveal())
            #expect(first.maskToken != nil)
            #expect(world.neighbours.opened.count == 1)
            let conflict = await failure { () async throws(ServiceFailure) in
                try await app.code("999999", key: "k1")
            }
            #expect(conflict?.code == .conflict)
            #expect(try await app.get().maskToken == nil)
        }
    }

    @Test(
        "two runs may use the same request keys: each has its own proof",
        arguments: TransportUnderTest.allCases)
    func keysOfTwoRuns(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            var tokens: [String?] = []
            for index in 1...2 {
                let app = try await Self.atCodeNode(world, device: "device-\(index)")
                try await app.send("+861380000000\(index)", key: "send")
                let won = try await app.code(world.neighbours.lastCode, key: "code")
                tokens.append(won.maskToken?.reveal())
            }
            #expect(Set(tokens).count == 2)
            #expect(world.neighbours.sentNumbers.count == 2)
        }
    }

    @Test(
        "a start under the same key answers the same run and key",
        arguments: TransportUnderTest.allCases)
    func sameStart(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            let first = try await app.start("100001", key: "s")
            let second = try await app.start("100001", key: "s")
            #expect(first.runId == second.runId)
            #expect(first.runKey?.reveal() == second.runKey?.reveal())
            #expect(world.disk.count(in: "run") == 1)
        }
    }

    @Test(
        "an answer that comes after the run has moved on changes nothing",
        arguments: TransportUnderTest.allCases)
    func lateAnswer(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            let (runId, runKey, step) = (app.runId, app.runKey, app.step)
            let mover = world.caller()
            world.neighbours.bus.on(SendCode.self) { _, _ throws(ServiceFailure) in
                _ = try await mover.call(
                    ContinueScene(
                        authToken: app.token, runId: runId, runKey: runKey, step: step,
                        isSuccess: false))
                return SentCode(
                    challengeId: ChallengeID(random: Array(1...16)),
                    messageId: MessageID(random: Array(1...16)), delivery: .sent,
                    resendAtMilliseconds: 0, sendsLeft: 1)
            }
            let view = try await app.send(Self.phone)
            #expect(view.applied == false)
            #expect(view.step == step + 1)
            #expect(view.node?.kind == .upgoingSMS)
            #expect(view.resultCodes == [])
        }
    }

    @Test("an ended run never leaves its end", arguments: TransportUnderTest.allCases)
    func oneEnd(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            try await app.send(Self.phone)
            world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken)
            let step = app.step
            try await app.proceed(true)
            #expect(app.view?.state == .passed)
            #expect(try await app.stop().state == .passed)
            #expect(try await app.proceed(false, step: step).applied == false)
            let refused = await failure { () async throws(ServiceFailure) in
                try await app.submit(NodeInput(send: true, number: Self.phone))
            }
            #expect(refused?.code == .runEnded)
            world.clock.advance(.seconds(7_300))
            let view = try await app.get()
            #expect(view.state == .passed)
            #expect(view.endCode == 110_005)
        }
    }

    @Test(
        "a run that nobody touches for 30 minutes expires, at a touch or by sweep",
        arguments: TransportUnderTest.allCases)
    func expiry(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        let service = world.service()
        try await world.serving(service) {
            let touched = try await Self.atCodeNode(world)
            let swept = try await Self.atCodeNode(world, device: "device-2")
            world.clock.advance(.seconds(1_799))
            #expect(try await touched.get().state == .waiting)
            world.clock.advance(.seconds(1))
            let view = try await touched.submit(NodeInput(send: true, number: Self.phone))
            #expect(view.state == .expired)
            #expect(view.endCode == 100_004)
            #expect(view.resultCodes == [100_004])
            #expect(world.neighbours.sentNumbers.isEmpty)
            await service.sweep()
            let read = try await world.caller(SceneWorld.olga).call(GetScene(runId: swept.runId))
            #expect(read.state == .expired)
            #expect(read.reason == "run_expired")
        }
    }

    @Test(
        "a clock that jumps back does not give an expired run new life",
        arguments: TransportUnderTest.allCases)
    func clockJump(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            world.clock.jumpWall(.seconds(1_800))
            #expect(try await app.get().state == .expired)
            world.clock.jumpWall(.seconds(-1_800))
            #expect(try await app.get().state == .expired)
        }
    }

    @Test(
        "a run ends 2 hours after its start, however busy", arguments: TransportUnderTest.allCases)
    func totalLifetime(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await Self.atCodeNode(world)
            for _ in 0..<5 {
                world.clock.advance(.seconds(1_500))
                // Something that the client did, refused or not.
                _ = try? await app.submit(NodeInput(send: true, number: Self.phone))
            }
            #expect(try await app.get().state == .expired)
        }
    }

    @Test(
        "stop without a proof ends the run stopped, 100004; a half-way PASS is not enough",
        arguments: TransportUnderTest.allCases)
    func stopHalfway(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100002")
            try await app.send()
            world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken)
            let end = try await app.stop()
            #expect(end.state == .stopped)
            #expect(end.endCode == 100_004)
        }
    }
}
