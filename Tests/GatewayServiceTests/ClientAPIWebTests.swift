import GatewayService
import HTTPTypes
import TestKit
import Testing

@Suite("Client API: browsers of other origins")
struct ClientAPIWebTests {
    private let world: ClientAPIWorld
    private static let paths = [
        "/client/v1/session", "/client/v1/scenes", ClientAPIWorld.run,
        "\(ClientAPIWorld.run)/input", "\(ClientAPIWorld.run)/continue",
        "\(ClientAPIWorld.run)/halfway", "\(ClientAPIWorld.run)/stop",
        "\(ClientAPIWorld.run)/events", "/client/v1/openapi.json",
    ]

    init() throws { world = try ClientAPIWorld() }

    private func cross(_ response: HTTPResponse) -> [String] {
        response.headers.fields.map { $0.name.lowercased() }
            .filter { $0.hasPrefix("access-control-") }.sorted()
    }

    @Test("a preflight of a listed origin is answered on every path, without a token")
    func preflight() async {
        for path in Self.paths {
            let answer = await world.ask(
                "OPTIONS", path,
                [
                    "Origin": ClientAPIWorld.webOrigin,
                    "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "authorization,x-run-key",
                ])
            #expect(answer.status == 204 && answer.bytes == [], "\(path)")
            let fields = answer.headers
            #expect(fields["access-control-allow-origin"] == ClientAPIWorld.webOrigin)
            #expect(fields["access-control-allow-methods"] == "GET, POST")
            #expect(
                fields["access-control-allow-headers"]
                    == "Authorization, Content-Type, X-Run-Key, Idempotency-Key, Last-Event-ID")
            #expect(fields["access-control-max-age"] == "3600")
            #expect(fields["access-control-allow-credentials"] == nil)
            #expect(fields["vary"] == "Origin")
        }
    }

    @Test(
        "an origin that is not listed to the letter gets none of it",
        arguments: [
            "https://other.example", "http://app.example", "https://app.example:443",
            "https://APP.example", "https://app.example.other.example", "null", "*", "",
        ])
    func strangers(_ origin: String) async {
        for method in ["OPTIONS", "GET"] {
            var headers = ClientAPIWorld.known
            headers.set("Origin", origin)
            let answer = await world.ask(method, ClientAPIWorld.run, headers)
            #expect(cross(answer) == [])
            #expect(answer.headers["vary"] == "Origin")
        }
    }

    @Test("answers and refusals alike can be read by a listed origin, with id and wait")
    func readable() async {
        var headers = ClientAPIWorld.known
        headers.set("Origin", ClientAPIWorld.webOrigin)
        let answers = [
            await world.ask("GET", ClientAPIWorld.run, headers),
            await world.ask("GET", "\(ClientAPIWorld.run)/events", headers),
            await world.ask("GET", "/client/v1/session", ["Origin": ClientAPIWorld.webOrigin]),
            await world.ask("POST", "/client/v1/scenes", headers, "x"),
            await world.ask("GET", "/client/v1/nothing", headers),
            await world.ask("PUT", ClientAPIWorld.run, headers),
            world.gateway.refuse(
                .bodyTooLarge(bytesMax: 1),
                HTTPRequestHead(method: "POST", path: "/client/v1/scenes", headers: headers)),
        ]
        #expect(answers.map(\.status) == [200, 200, 401, 400, 404, 405, 413])
        for answer in answers {
            #expect(
                answer.headers["access-control-allow-origin"] == ClientAPIWorld.webOrigin)
            #expect(
                answer.headers["access-control-expose-headers"] == "X-Request-Id, Retry-After")
        }
    }

    @Test("two origins are none; without a list nothing is said at all")
    func none() async throws {
        var headers = ClientAPIWorld.known
        headers.add("Origin", ClientAPIWorld.webOrigin)
        headers.add("Origin", "https://other.example")
        #expect(cross(await world.ask("GET", ClientAPIWorld.run, headers)) == [])
        let closed = try ClientAPIWorld(webOrigins: [])
        let answer = await closed.ask(
            "OPTIONS", ClientAPIWorld.run, ["Origin": ClientAPIWorld.webOrigin])
        #expect(answer.status == 204 && cross(answer) == [] && answer.headers["vary"] == nil)
    }

    @Test(
        "a list takes origins as browsers write them",
        arguments: [
            ("https://app.example", true), ("http://localhost:3000", true),
            ("https://[2001:db8::1]:8443", true), ("*", false), ("null", false),
            ("https://app.example/", false), ("https://App.example", false),
            ("app.example", false), ("https://", false), ("ftp://app.example", false),
            ("https://*.example", false), ("https://a@b.example", false), ("", false),
        ])
    func listed(_ origin: String, _ isOne: Bool) {
        var configuration = GatewayConfiguration()
        configuration.webOrigins = [origin]
        #expect(configuration.problems().isEmpty == isOne)
    }
}
