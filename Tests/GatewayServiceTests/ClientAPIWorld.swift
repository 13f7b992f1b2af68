import Bus
import Effects
import Foundation
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

/// The client API behind a gateway, over a bus whose answers a test sets.
struct ClientAPIWorld {
    static let token = "eyJh.eyJz.c2ln"
    static let runId = RunID(random: Array(1...16))
    static let runKey = "key-of-the-run"
    static let webOrigin = "https://app.example"

    let bus = FakeBus()
    let clock = ManualClock()
    let log = RecordingLog()
    let gateway: Gateway

    init(webOrigins: [String] = [webOrigin], proxies: [String] = ["10.0.0.0/8"]) throws {
        gateway = Gateway(
            edges: [
                NothingEdge(),
                try ClientAPI(bus: bus, clock: clock, pause: clock, webOrigins: webOrigins),
            ],
            proxies: try #require(TrustedProxies(proxies)), random: SeededRandom(seed: 1),
            pause: clock, metrics: NoMetrics(), log: Log(log))
        let view = Self.view()
        bus.on(StartScene.self) { _, _ in Self.view(runKey: Secret(Self.runKey)) }
        bus.on(SubmitInput.self) { _, _ in view }
        bus.on(ContinueScene.self) { _, _ in view }
        bus.on(AnswerHalfway.self) { _, _ in view }
        bus.on(StopScene.self) { _, _ in view }
        bus.on(GetScene.self) { _, _ in view }
        bus.on(ListTemplates.self) { _, _ in
            TemplateList(templates: [
                TemplateSummary(templateId: "100001", name: "Sign in", configVersion: 1, nodes: [])
            ])
        }
        bus.on(IntrospectAuthToken.self) { _, _ in Self.state() }
    }

    static func state(active: Bool = true, reason: TokenInactivity? = nil) -> TokenState {
        TokenState(
            active: active, reason: reason, tokenId: TokenID(random: Array(1...16)),
            schemeCode: "FA00000000000001", owner: "alice", platform: .ios,
            app: "com.example.app", issuedAtMilliseconds: 1_800_000_000_000,
            expiresAtMilliseconds: 1_800_000_900_000,
            boundNumber: PhoneNumber(e164: "+14155550100"))
    }

    static func view(
        step: Int = 1, state: RunState = .waiting, events: [SceneEvent]? = nil,
        runKey: Secret<String>? = nil
    ) -> SceneView {
        SceneView(
            runId: runId, templateId: "100001", step: step, state: state,
            endCode: state.isEnd ? 110005 : nil, resultCodes: [700001], events: events,
            runKey: runKey)
    }

    static let bearer: HTTPHeaders = ["Authorization": "Bearer \(token)"]

    /// Of a call on the run.
    static let known: HTTPHeaders = [
        "Authorization": "Bearer \(token)", "X-Run-Key": runKey,
        "Content-Type": "application/json",
    ]

    static let run = "/client/v1/scenes/\(runId)"

    func ask(
        _ method: String, _ path: String, _ headers: HTTPHeaders = known,
        _ body: String = "", peer: String = "192.0.2.7"
    ) async -> HTTPResponse {
        await ask(method, path, headers, Array(body.utf8), peer: peer)
    }

    func ask(
        _ method: String, _ path: String, _ headers: HTTPHeaders, _ body: [UInt8],
        peer: String = "192.0.2.7"
    ) async -> HTTPResponse {
        await gateway.answer(
            HTTPRequest(
                head: HTTPRequestHead(
                    method: method, path: path, headers: headers, peerAddress: peer),
                body: body))
    }

    /// What a refusal says, after its form was looked at.
    static func problem(_ response: HTTPResponse) throws -> Problem {
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(response.headers["cache-control"] == "no-store")
        let problem = try JSONDecoder().decode(
            Problem.self, from: Data(try #require(response.bytes)))
        #expect(problem.status == response.status)
        #expect(problem.requestId == response.headers["x-request-id"])
        return problem
    }

    static func json(_ response: HTTPResponse) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(try #require(response.bytes)))
        return try #require(value as? [String: Any])
    }
}

/// Some edge must speak for every path.
private struct NothingEdge: Edge {
    let prefixes = ["/"]
    let routes: [Route] = []
    func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse { .text(404, "-") }
}
