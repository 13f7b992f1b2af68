import Bus
import Effects
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

@testable import GatewayService

@Suite("What operators ask")
struct OperationsTests {
    @Test("counters end in _total; a distribution becomes a summary and a gauge")
    func exposition() {
        let text = Exposition.text([
            ("http_requests{route=\"a\",status=\"200\"}", 3),
            ("http_seconds_count{route=\"a\"}", 2), ("http_seconds_max{route=\"a\"}", 0.5),
            ("http_seconds_p50{route=\"a\"}", 0.25), ("http_seconds_p99{route=\"a\"}", 0.5),
            ("http_seconds_sum{route=\"a\"}", 0.75), ("odd.name_count", 1),
        ])
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("# HELP") }
        #expect(
            lines == [
                "# TYPE http_seconds summary",
                "http_seconds{route=\"a\",quantile=\"0.5\"} 0.25",
                "http_seconds{route=\"a\",quantile=\"0.99\"} 0.5",
                "http_seconds_sum{route=\"a\"} 0.75",
                "http_seconds_count{route=\"a\"} 2.0",
                "# TYPE http_seconds_max gauge",
                "http_seconds_max{route=\"a\"} 0.5",
                "# TYPE http_requests_total counter",
                "http_requests_total{route=\"a\",status=\"200\"} 3.0",
                "# TYPE odd_name_count_total counter",
                "odd_name_count_total 1.0",
            ])
    }

    /// Answers pings of all services but some, and counts them.
    private final class PingedLink: BusLink {
        private let state = Lock((silent: Set<String>(), countOfPings: 0))

        func silence(_ services: Set<String>) { state.withLock { $0.silent = services } }
        var pingsCount: Int { state.withLock { $0.countOfPings } }

        func exchange(_ service: String, _ header: BusHeader, _ body: [UInt8]) async -> BusReply {
            let isSilent = state.withLock { state in
                state.countOfPings += 1
                return state.silent.contains(service)
            }
            return BusReply(status: isSilent ? .deadlinePassed : .ok)
        }
    }

    private struct Ground {
        let link = PingedLink()
        let clock = ManualClock()
        let edge: OperationsEdge

        init() {
            let bus = LinkCaller(link: link, pause: clock, random: SeededRandom(seed: 1))
            edge = OperationsEdge(bus: bus, pause: clock, metrics: NoMetrics())
        }

        func ask(_ path: String) async throws -> HTTPResponse {
            let route = try #require(edge.routes.first { $0.pattern == PathPattern(path) })
            let scope = RequestScope(
                requestID: "R",
                trace: TraceParent(
                    traceID: [UInt8](repeating: 1, count: 16),
                    spanID: [UInt8](repeating: 2, count: 8)))
            return await route.answer(
                HTTPRequest(head: HTTPRequestHead(method: "GET", path: path)), scope)
        }
    }

    @Test("/healthz asks nobody")
    func health() async throws {
        let ground = Ground()
        let answer = try await ground.ask("/healthz")
        #expect(answer.status == 200 && answer.bytes == Array("ok\n".utf8))
        #expect(ground.link.pingsCount == 0)
    }

    @Test("/readyz names what is silent, and asks the bus once a second at most")
    func ready() async throws {
        let ground = Ground()
        ground.link.silence(["scene", "token"])
        let first = try await ground.ask("/readyz")
        #expect(first.status == 503)
        let body = String(decoding: first.bytes ?? [], as: UTF8.self)
        #expect(body == #"{"notReady":["token","scene"],"ready":false}"#)
        #expect(ground.link.pingsCount == 4)
        ground.link.silence([])
        let second = try await ground.ask("/readyz")
        #expect(second.status == 503)
        #expect(ground.link.pingsCount == 4)
        ground.clock.advance(.seconds(1))
        let third = try await ground.ask("/readyz")
        #expect(third.status == 200)
        #expect(third.bytes == Array(#"{"notReady":[],"ready":true}"#.utf8))
        #expect(ground.link.pingsCount == 8)
    }
}

@Suite("Finding routes")
struct RouteTableTests {
    private func route(_ name: String, _ path: String) -> Route {
        Route(name, "GET", path) { _, _ in .text(200, name) }
    }

    @Test("paths without names are found first, and whole segments fit only")
    func order() {
        let table = RouteTable([
            route("value", "/a/{x}"), route("plain", "/a/b"), route("root", "/"),
            route("deep", "/a/{x}/c"),
        ])
        #expect(table.candidates("/a/b").map(\.route.name) == ["plain", "value"])
        #expect(table.candidates("/a/z%2F").map(\.values) == [["x": "z/"]])
        #expect(table.candidates("/").map(\.route.name) == ["root"])
        #expect(table.candidates("/a/q/c").map(\.route.name) == ["deep"])
        for path in ["/a", "/a/", "//", "/a//c", "/a/b/", "/a/%zz"] {
            #expect(table.candidates(path).isEmpty, "\(path)")
        }
    }
}
