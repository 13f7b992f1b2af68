import Effects
import GatewayService
import HTTPTypes
import Primitives
import TestKit
import Testing

/// Answers with the values of its path; refuses with a word of its own.
private struct PlainEdge: Edge {
    let word: String
    let prefixes: [String]
    let paths: [(method: String, path: String)]

    var routes: [Route] {
        paths.map { entry in
            Route("\(word).\(entry.method)", entry.method, entry.path, bodyBytesMax: 100) {
                _, scope in
                let values = scope.path.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                return .text(200, "\(word) \(values.joined(separator: " "))")
            }
        }
    }

    func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse {
        let status =
            switch refusal {
            case .notFound: 404
            case .methodNotAllowed: 405
            case .badRequest: 400
            case .bodyTooLarge: 413
            case .unavailable: 503
            }
        return .text(status, word)
    }
}

@Suite("Finding a route, and what every answer has")
struct GatewayTests {
    private let gateway: Gateway

    init() throws {
        gateway = Gateway(
            edges: [
                PlainEdge(word: "root", prefixes: ["/"], paths: [("GET", "/"), ("POST", "/")]),
                PlainEdge(
                    word: "api", prefixes: ["/api"],
                    paths: [("GET", "/api/runs/{runId}"), ("POST", "/api/runs/{runId}/input")]),
            ],
            proxies: try #require(TrustedProxies([])), random: SeededRandom(seed: 1),
            pause: ManualClock(), metrics: NoMetrics(), log: .silent)
    }

    private func ask(
        _ method: String, _ path: String, _ headers: HTTPHeaders = [:]
    ) async -> HTTPResponse {
        await gateway.answer(
            HTTPRequest(head: HTTPRequestHead(method: method, path: path, headers: headers)))
    }

    private func text(_ response: HTTPResponse) -> String? {
        response.bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("values of a path are decoded once, a slash in them stays in them")
    func values() async {
        let answer = await ask("GET", "/api/runs/a%2Fb%20c")
        #expect(text(answer) == "api runId=a/b c")
    }

    @Test(
        "the edge of the longest prefix of whole segments refuses",
        arguments: [
            ("/api/other", "api"), ("/api", "api"), ("/apis", "root"), ("/x", "root"),
            ("/api/runs//input", "api"), ("/api/runs/%zz", "api"),
        ])
    func refusals(_ path: String, _ word: String) async {
        let answer = await ask("GET", path)
        #expect(answer.status == 404)
        #expect(text(answer) == word)
    }

    @Test("another method is told which ones there are; HEAD goes with GET")
    func methods() async {
        let refused = await ask("DELETE", "/")
        #expect(refused.status == 405)
        #expect(refused.headers["allow"] == "GET, HEAD, POST")
        #expect(await ask("HEAD", "/").status == 200)
    }

    @Test("the caller's trace goes on under a span of ours; a broken one starts anew")
    func traces() async throws {
        let trace = "0af7651916cd43dd8448eb211c80319c"
        let known = await ask("GET", "/", ["traceparent": "00-\(trace)-b7ad6b7169203331-00"])
        let mine = try #require(known.headers["traceparent"].flatMap { TraceParent($0) })
        #expect(Hex.encode(mine.traceID) == trace)
        #expect(Hex.encode(mine.spanID) != "b7ad6b7169203331")
        #expect(!mine.isSampled)
        let anew = await ask("GET", "/", ["traceparent": "00-\(trace)-0000000000000000-01"])
        let other = try #require(anew.headers["traceparent"].flatMap { TraceParent($0) })
        #expect(Hex.encode(other.traceID) != trace)
    }

    @Test("every answer has an id of its own, an upper-case UUID")
    func ids() async throws {
        let one = try #require(await ask("GET", "/").headers["x-request-id"])
        let two = try #require(await ask("GET", "/nowhere").headers["x-request-id"])
        #expect(one != two)
        #expect(one.utf8.count == 36 && one == one.uppercased())
    }

    @Test("the body bound is that of the route")
    func bounds() {
        #expect(gateway.bodyBytesMax(HTTPRequestHead(method: "POST", path: "/")) == 100)
        #expect(
            gateway.bodyBytesMax(HTTPRequestHead(method: "POST", path: "/x"))
                == Route.bodyBytesMaxDefault)
    }
}
