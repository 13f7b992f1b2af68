import Bus
import Messages
import Primitives
import SceneService
import ServiceTestKit
import TestKit
import Testing

/// The original demo app's reactions, as its users meet them.
@Suite(.closesBuses) struct DemoTests {
    static let phone = "+8613800000001"

    /// What the demo does with a verify success: PASS → deal with the number and stop; anything
    /// else → continue(false), unless the node is the SMS-code node.
    static func verifySuccess(
        _ app: SceneClient, _ view: SceneView, in world: SceneWorld
    ) async throws {
        if world.neighbours.verify(view.maskToken) {
            try await app.stop()
        } else if view.node?.nodeName != "verifyCodeAuth" {
            try await app.proceed(false)
        }
    }

    @Test(
        "one-click PASS: the demo stops, and the run is passed, not stopped",
        arguments: TransportUnderTest.allCases)
    func stopOnPass(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let won = try await app.submit(NodeInput(carrierToken: Secret(Self.phone)))
            try await Self.verifySuccess(app, won, in: world)
            #expect(app.view?.state == .passed)
            #expect(app.view?.endCode == 110_005)
        }
    }

    @Test(
        "one-click UNKNOWN: the demo continues with false and comes to the SMS node",
        arguments: TransportUnderTest.allCases)
    func unknownCarrier(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let won = try await app.submit(NodeInput(carrierToken: Secret("no number")))
            try await Self.verifySuccess(app, won, in: world)
            #expect(app.at == "005")
        }
    }

    @Test(
        "a wrong code: the demo stays, the person types again without a new SMS",
        arguments: TransportUnderTest.allCases)
    func wrongCode(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try await MoveTests.atCodeNode(world)
            try await app.send(Self.phone)
            try await Self.verifySuccess(app, try await app.code("000000"), in: world)
            #expect(app.at == "005")
            let right = try await app.code(world.neighbours.lastCode)
            try await Self.verifySuccess(app, right, in: world)
            #expect(app.view?.state == .passed)
            #expect(world.neighbours.sentNumbers.count == 1)
        }
    }

    @Test(
        "verify failed with frequency at the SMS node: continue(false) comes to up-going SMS",
        arguments: TransportUnderTest.allCases)
    func frequency(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let first = try await MoveTests.atCodeNode(world)
            try await first.send(Self.phone)
            let app = try await MoveTests.atCodeNode(world, device: "device-2")
            #expect(try await app.send(Self.phone).resultCodes == [500_009])
            try await app.proceed(false)
            #expect(app.view?.node?.nodeName == "upGoingAuth")
        }
    }

    @Test(
        "half-way: PASS → block(true), anything else → the block is not called and the page stays",
        arguments: TransportUnderTest.allCases)
    func halfway(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client(bound: Self.phone)
            try await app.start("100002")
            try await app.send()
            #expect(!world.neighbours.verify(try await app.code("000000").maskToken))
            #expect(app.at == "003")
            #expect(
                world.neighbours.verify(try await app.code(world.neighbours.lastCode).maskToken))
            #expect(try await app.halfway(true).node?.nodeId.hasSuffix("004") == true)
        }
    }

    @Test(
        "an app server's error: the demo stops the scene, whatever the node",
        arguments: TransportUnderTest.allCases)
    func serverError(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            _ = try await app.submit(NodeInput(carrierToken: Secret(Self.phone)))
            let end = try await app.stop()
            #expect(end.state == .stopped)
            #expect(end.endCode == 100_004)
            let again = try world.client(device: "device-2")
            #expect(try await again.start("100001").state == .waiting)
        }
    }

    @Test(
        "the end of a run revokes nothing: a mask token verified later still gives its PASS",
        arguments: TransportUnderTest.allCases)
    func lateVerify(_ transport: TransportUnderTest) async throws {
        let world = SceneWorld(transport)
        try await world.serving {
            let app = try world.client()
            try await app.start("100001")
            let won = try await app.submit(NodeInput(carrierToken: Secret(Self.phone)))
            try await app.stop()
            #expect(world.neighbours.verify(won.maskToken))
            #expect(try await app.get().state == .stopped)
        }
    }
}
