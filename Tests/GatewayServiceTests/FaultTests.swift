import Bus
import Effects
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import GatewayService

/// What is ours to mend: the caller learns that it is, the log learns what.
@Suite("Faults of ours")
struct FaultTests {
    /// As services word it, for whoever runs this.
    private static let words = "the disk of the store is full; free some space below /var/lib"

    static let faults: [(ErrorCode, Int)] = [
        (.internalFault, 500), (ErrorCode(rawValue: "of_tomorrow"), 500), (.providerRefused, 502),
        (.providerUnavailable, 502), (.carrierUnavailable, 502), (.unavailable, 503),
        (.overloaded, 503), (.workerLost, 503), (.deadlinePassed, 504),
    ]

    private static func failure(_ code: ErrorCode) -> ServiceFailure {
        ServiceFailure(code, words, field: "store")
    }

    /// No answer holds a word of a service; one line of the log, a warning, leads there.
    private func judge(
        _ answer: (status: Int, headers: HTTPHeaders, text: String), _ log: RecordingLog,
        _ code: ErrorCode, _ method: String
    ) throws {
        #expect(answer.status >= 500)
        for word in ["disk", "store", "/var/lib"] { #expect(!answer.text.contains(word)) }
        let id = try #require(answer.headers["x-request-id"])
        let line = try #require(
            log.lines.last { $0.hasPrefix("warning request ") && $0.contains(id) })
        #expect(line.contains(#"error.code=text("\#(code.rawValue)")"#))
        #expect(line.contains(#"bus.method=text("\#(method)")"#))
        let text = log.lines.joined(separator: "\n")
        for word in ["disk", ClientAPIWorld.token, String(CamaraWorld.number.dropFirst())] {
            #expect(!text.contains(word))
        }
    }

    @Test("client API", arguments: faults)
    func clientAPI(_ code: ErrorCode, _ status: Int) async throws {
        let world = try ClientAPIWorld()
        world.bus.on(GetScene.self) { _, _ throws(ServiceFailure) in throw Self.failure(code) }
        let answer = await world.ask("GET", ClientAPIWorld.run)
        let text = String(decoding: try #require(answer.bytes), as: UTF8.self)
        #expect(answer.status == status)
        try judge((answer.status, answer.headers, text), world.log, code, "scene.get")
    }

    @Test("CAMARA", arguments: faults)
    func camara(_ code: ErrorCode, _ status: Int) async throws {
        let world = CamaraWorld()
        world.bus.on(MatchNumber.self) { _, _ throws(ServiceFailure) in throw Self.failure(code) }
        let answer = await world.verify()
        try judge(
            (answer.status, answer.headers, answer.text), world.log, code,
            "verification.match_number")
    }

    @Test("dypnsapi", arguments: faults)
    func dypnsapi(_ code: ErrorCode, _ status: Int) async throws {
        let world = try DypnsapiWorld()
        world.bus.on(GetNumber.self) { _, _ throws(ServiceFailure) in throw Self.failure(code) }
        let answer = await world.call("GetMobile", ["AccessToken": "a"])
        try judge(
            (answer.status, answer.headers, answer.text), world.log, code,
            "verification.get_number")
    }

    @Test("the gateway's own refusal names no method; what the caller mends is no warning")
    func others() async throws {
        let world = try ClientAPIWorld()
        let head = HTTPRequestHead(method: "GET", path: ClientAPIWorld.run)
        let refused = world.gateway.refuse(.unavailable, head)
        #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
        let line = try #require(world.log.lines.last)
        #expect(line.hasPrefix("warning request "))
        #expect(line.contains(#"error.code=text("unavailable")"#))
        #expect(line.contains(#"bus.method=text("none")"#))
        world.bus.on(GetScene.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.runNotFound, "no such run")
        }
        #expect(await world.ask("GET", ClientAPIWorld.run).status == 404)
        let other = try #require(world.log.lines.last)
        #expect(other.hasPrefix("info request ") && !other.contains("error.code"))
    }

    @Test("a service that is away is in the log where /readyz is 503")
    func readiness() async throws {
        let log = RecordingLog()
        let clock = ManualClock()
        let bus = LinkCaller(link: DeadLink(), pause: clock, random: SeededRandom(seed: 1))
        let gateway = Gateway(
            edges: [
                OperationsEdge(bus: bus, pause: clock, metrics: NoMetrics()),
                DypnsapiEdge(
                    configuration: GatewayConfiguration(), bus: FakeBus(),
                    signer: FakeSigner(random: SeededRandom(seed: 2)), metrics: NoMetrics(),
                    log: .silent),
            ],
            proxies: try #require(TrustedProxies([])), random: SeededRandom(seed: 3), pause: clock,
            metrics: NoMetrics(), log: Log(log))
        let answer = await gateway.answer(
            HTTPRequest(head: HTTPRequestHead(method: "GET", path: "/readyz")))
        #expect(answer.status == 503)
        let line = try #require(log.lines.last)
        #expect(line.hasPrefix("warning request "))
        #expect(line.contains(#"bus.method=text("token.ping")"#))
    }

    private struct DeadLink: BusLink {
        func exchange(_ service: String, _ header: BusHeader, _ body: [UInt8]) async -> BusReply {
            BusReply(status: .deadlinePassed)
        }
    }
}
