import Bus
import Effects
import Foundation
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

/// The phone page behind a gateway, over a bus whose answers a test sets.
private struct PhonePageWorld {
    let bus = FakeBus()
    let clock = ManualClock()
    let gateway: Gateway

    init(
        hosts: [String] = [], schemeCode: String = "",
        homeScheme: @escaping @Sendable () -> String? = { "FA00000000000001" },
        proxies: [String] = []
    ) throws {
        let page = try PhonePage(
            bus: bus,
            files: [
                PhonePageFile(name: "index.html", bytes: Array("<!doctype html>".utf8)),
                PhonePageFile(name: "main.js", bytes: Array("export {}".utf8)),
            ],
            hosts: hosts, schemeCode: schemeCode, homeScheme: homeScheme, pause: clock)
        gateway = Gateway(
            edges: [RootEdge(), page], proxies: try #require(TrustedProxies(proxies)),
            random: SeededRandom(seed: 1), pause: clock, metrics: NoMetrics(), log: .silent)
        bus.on(ReadCounters<ShownServices.Sandbox>.self) { _, _ in Self.stats("sandbox") }
        bus.on(GetScheme.self) { request, _ in Self.scheme(request.schemeCode) }
        bus.on(IssueAuthToken.self) { _, _ in
            IssueAuthToken.Issued(
                authToken: "eyJ.eyJ.sig", tokenId: TokenID(random: Array(1...16)),
                expiresAtMilliseconds: 1_800_001_800_000)
        }
    }

    static func stats(_ name: String, _ counts: [String: Int64] = [:]) -> StatsReply {
        StatsReply(
            name: "fusion-\(name)", id: "1", startedAtMilliseconds: 0,
            endpoints: counts.sorted { $0.key < $1.key }.map {
                StatsReply.Endpoint(
                    name: $0.key, requestsCount: $0.value, errorsCount: 0,
                    processingMicroseconds: 10)
            }, metrics: [])
    }

    static func scheme(
        _ code: String = "FA00000000000001", webOrigin: String? = nil
    ) -> Scheme {
        Scheme(
            schemeCode: code, version: 1, name: "default", owner: "alice",
            app: AppIdentity(iosBundleId: "com.example.app", webOrigin: webOrigin),
            policy: .standard, disabled: false, createdAtMilliseconds: 0,
            updatedAtMilliseconds: 0)
    }

    static let here: HTTPHeaders = ["Host": "localhost:5572"]
    static let fromPage: HTTPHeaders = [
        "Host": "localhost:5572", "Origin": "http://localhost:5572",
        "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json",
    ]

    func get(
        _ path: String, _ headers: HTTPHeaders = here, peer: String = "127.0.0.1"
    ) async -> HTTPResponse {
        await gateway.answer(
            HTTPRequest(
                head: HTTPRequestHead(
                    method: "GET", path: path, headers: headers, peerAddress: peer)))
    }

    func call(
        _ name: String, _ body: String = "{}", _ headers: HTTPHeaders = fromPage,
        peer: String = "127.0.0.1"
    ) async -> HTTPResponse {
        await gateway.answer(
            HTTPRequest(
                head: HTTPRequestHead(
                    method: "POST", path: "/demo/api/\(name)", headers: headers,
                    peerAddress: peer),
                body: Array(body.utf8)))
    }

    static func code(_ response: HTTPResponse) throws -> String {
        try JSONDecoder().decode(Problem.self, from: Data(try #require(response.bytes))).code
    }

    static func json(_ response: HTTPResponse) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(try #require(response.bytes)))
        return try #require(value as? [String: Any])
    }
}

private struct RootEdge: Edge {
    let prefixes = ["/"]
    let routes: [Route] = []
    func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse { .text(404, "-") }
}

@Suite("Phone page: its files")
struct PhonePageFileTests {
    private let world: PhonePageWorld

    init() throws { world = try PhonePageWorld() }

    @Test("the page forbids everything that is not its own, and every frame around it")
    func policy() async throws {
        let answer = await world.get("/demo")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
        let policy = try #require(answer.headers["content-security-policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(answer.headers["x-frame-options"] == "DENY")
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        #expect(answer.headers["cross-origin-opener-policy"] == "same-origin")
        #expect(answer.headers["access-control-allow-origin"] == nil)
    }

    @Test("a browser that has a file is told that nothing changed")
    func tags() async throws {
        let first = await world.get("/demo/main.js")
        #expect(first.status == 200)
        #expect(first.headers["content-type"] == "text/javascript; charset=utf-8")
        #expect(first.headers["cache-control"] == "no-cache")
        let tag = try #require(first.headers["etag"])
        var headers = PhonePageWorld.here
        headers.set("If-None-Match", "\"other\", W/\(tag)")
        let second = await world.get("/demo/main.js", headers)
        #expect(second.status == 304)
        #expect(second.bytes?.isEmpty == true)
        headers.set("If-None-Match", "\"other\"")
        let third = await world.get("/demo/main.js", headers)
        #expect(third.status == 200)
    }

    @Test(
        "other paths are not there",
        arguments: ["/demo/none.js", "/demo/index.html", "/demo/../etc/passwd", "/demo/a/b"])
    func unknown(_ path: String) async {
        let answer = await world.get(path)
        #expect(answer.status == 404)
        #expect(answer.headers["x-frame-options"] == "DENY")
    }

    @Test("a slash at the end leads to the page")
    func slash() async {
        let answer = await world.get("/demo/")
        #expect(answer.status == 308)
        #expect(answer.headers["location"] == "/demo")
    }

    @Test("without a sandbox there is no page, and the answer says why")
    func noSandbox() async {
        world.bus.on(ReadCounters<ShownServices.Sandbox>.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.unavailable, "nobody serves this")
        }
        let answer = await world.get("/demo")
        #expect(answer.status == 404)
        #expect(String(decoding: answer.bytes ?? [], as: UTF8.self).contains("sandbox"))
    }
}

@Suite("Phone page: who may use it")
struct PhonePageGuardTests {
    private let world: PhonePageWorld

    init() throws { world = try PhonePageWorld(hosts: ["demo.example"]) }

    @Test(
        "this machine's own names are let in from this machine",
        arguments: [
            "localhost", "LOCALHOST:5572", "a.localhost:5572", "127.0.0.1:80", "127.8.9.1",
            "[::1]:5572",
        ])
    func own(_ host: String) async {
        let local = await world.get("/demo", ["Host": host])
        #expect(local.status == 200)
        let remote = await world.get("/demo", ["Host": host], peer: "192.0.2.7")
        #expect(remote.status == 403)
    }

    @Test(
        "who comes through a proxy of this machine is a stranger, until the proxy is trusted",
        arguments: ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
    func behindProxy(_ field: String) async throws {
        for value in ["203.0.113.9", "127.0.0.1", "unknown"] {
            var headers = PhonePageWorld.fromPage
            headers.set(field, value)
            let page = await world.get("/demo", headers)
            #expect(page.status == 403)
            let token = await world.call("token", "{}", headers)
            #expect(token.status == 403)
        }
        #expect(world.bus.requests(IssueAuthToken.self).isEmpty)
        let trusting = try PhonePageWorld(proxies: ["127.0.0.1"])
        for (client, status) in [("203.0.113.9", 403), ("127.0.0.1", 200)] {
            var headers = PhonePageWorld.here
            headers.set("X-Forwarded-For", client)
            #expect(await trusting.get("/demo", headers).status == status)
        }
    }

    @Test("a name that an operator configured is let in from anywhere")
    func configured() async {
        let answer = await world.get("/demo", ["Host": "Demo.Example:443"], peer: "192.0.2.7")
        #expect(answer.status == 200)
    }

    @Test(
        "a foreign name that points here gets nothing: DNS rebinding",
        arguments: [
            "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "128.0.0.1",
            "[::2]", "xdemo.example", "demo.example.evil.example", "[::1", "localhost:80:80", "",
        ])
    func rebinding(_ host: String) async {
        for path in ["/demo", "/demo/main.js"] {
            let answer = await world.get(path, ["Host": host])
            #expect([400, 403].contains(answer.status))
        }
        var headers = PhonePageWorld.fromPage
        headers.set("Host", host)
        headers.set("Origin", "http://\(host)")
        let answer = await world.call("token", "{}", headers)
        #expect([400, 403].contains(answer.status))
        #expect(world.bus.requests(IssueAuthToken.self).isEmpty)
    }

    @Test("two Host fields, or none, are refused")
    func hosts() async {
        var headers = PhonePageWorld.here
        headers.add("Host", "localhost:5572")
        let two = await world.get("/demo", headers)
        #expect(two.status == 400)
        let none = await world.get("/demo", [:])
        #expect(none.status == 400)
    }

    @Test(
        "a page elsewhere cannot make the browser call: CSRF",
        arguments: [
            ("Origin", "http://evil.example"), ("Origin", "null"),
            ("Origin", "http://localhost:8080"), ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"), ("Content-Type", "text/plain"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ])
    func forged(_ name: String, _ value: String) async throws {
        var headers = PhonePageWorld.fromPage
        headers.set(name, value)
        for call in ["token", "verify", "sim", "inbox", "send-mo", "fault", "activity", "config"] {
            let answer = await world.call(call, "{}", headers)
            #expect(answer.status == (name == "Content-Type" ? 415 : 403))
            #expect(answer.headers["access-control-allow-origin"] == nil)
        }
        #expect(world.bus.requests(IssueAuthToken.self).isEmpty)
    }
}

@Suite("Phone page: its calls")
struct PhonePageCallTests {
    private let world: PhonePageWorld

    init() throws { world = try PhonePageWorld() }

    @Test("a token is issued as the scheme's owner, for its app, with the account's number")
    func token() async throws {
        let answer = await world.call("token", #"{"boundNumber":"+14155550100"}"#)
        #expect(answer.status == 200)
        #expect(answer.headers["cache-control"] == "no-store")
        let request = try #require(world.bus.requests(IssueAuthToken.self).first)
        #expect(request.schemeCode == "FA00000000000001" && request.platform == .ios)
        #expect(request.bundleId == "com.example.app" && request.boundNumber == "+14155550100")
        #expect(request.durationSeconds == 1_800)
        let options = world.bus.options(of: IssueAuthToken.self)
        #expect(options.first?.onBehalfOf == .integrator("alice"))
        #expect(world.bus.options(of: GetScheme.self).first?.onBehalfOf?.role == "operator")
    }

    @Test("where the scheme's web app is this page, the token is for it")
    func webApp() async throws {
        world.bus.on(GetScheme.self) { _, _ in
            PhonePageWorld.scheme(webOrigin: "http://localhost:5572")
        }
        _ = await world.call("token")
        let request = try #require(world.bus.requests(IssueAuthToken.self).first)
        #expect(request.platform == .web && request.origin == "http://localhost:5572")
        #expect(request.bundleId == nil)
    }

    @Test("the scheme is the one that the home names, whatever others are called, kept 5 s")
    func homeScheme() async throws {
        let kept = Lock("FA00000000000001")
        let world = try PhonePageWorld(homeScheme: { kept.withLock(\.self) })
        for _ in 0..<3 {
            let answer = await world.call("config")
            #expect(answer.status == 200)
        }
        kept.withLock { $0 = "FA00000000000002" }
        world.clock.advance(.seconds(6))
        let answer = await world.call("config")
        #expect(try PhonePageWorld.json(answer)["schemeCode"] as? String == "FA00000000000002")
        let asked = world.bus.requests(GetScheme.self).map(\.schemeCode)
        #expect(asked == ["FA00000000000001", "FA00000000000002"])
        #expect(world.bus.requests(ListSchemes.self).isEmpty)
    }

    @Test("an operator's choice goes before the home's")
    func configuredScheme() async throws {
        let world = try PhonePageWorld(schemeCode: "FA00000000000003")
        let answer = await world.call("config")
        #expect(try PhonePageWorld.json(answer)["schemeCode"] as? String == "FA00000000000003")
    }

    @Test("without a default scheme, or with one that is gone, the answer says how to make one")
    func noScheme() async throws {
        for world in [try PhonePageWorld(homeScheme: { nil }), world] {
            world.bus.on(GetScheme.self) { _, _ throws(ServiceFailure) in
                throw ServiceFailure(.schemeNotFound, "x")
            }
            let answer = await world.call("config")
            #expect(answer.status == 404)
            #expect(try PhonePageWorld.code(answer) == "scheme_not_found")
            let text = try #require(try PhonePageWorld.json(answer)["detail"] as? String)
            #expect(text.contains("fusionctl up"))
        }
    }

    @Test("a mask token is verified as the owner, for that scheme alone")
    func verify() async throws {
        world.bus.on(VerifyMaskToken.self) { _, _ in
            Verified(result: .pass, phoneNumber: PhoneNumber(e164: "+14155550100"))
        }
        let answer = await world.call("verify", #"{"maskToken":"k1.abc"}"#)
        #expect(try PhonePageWorld.json(answer)["phoneNumber"] as? String == "+14155550100")
        let request = try #require(world.bus.requests(VerifyMaskToken.self).first)
        #expect(request.schemeCode == "FA00000000000001" && request.number == nil)
        let options = world.bus.options(of: VerifyMaskToken.self)
        #expect(options.first?.onBehalfOf == .integrator("alice"))
    }

    @Test("the inbox is read for the phone's own numbers, in the order of arrival")
    func inbox() async throws {
        world.bus.on(ReadInbox.self) { request, _ in
            let isFirst = request.number == "+14155550100"
            let number = PhoneNumber(e164: request.number ?? "")
            return Inbox(
                messages: number.map {
                    [
                        InboxMessage(
                            sequence: isFirst ? 9 : 5, number: $0, text: "<b>1</b>", reference: "r",
                            arrivedAtMilliseconds: 1)
                    ]
                } ?? [])
        }
        let body = #"{"numbers":["+14155550100","+14155550101"],"afterSequence":4}"#
        let answer = await world.call("inbox", body)
        let inbox = try JSONDecoder().decode(
            Inbox.self, from: Data(try #require(answer.bytes)))
        #expect(inbox.messages.map(\.sequence) == [5, 9])
        #expect(world.bus.requests(ReadInbox.self).allSatisfy { $0.afterSequence == 4 })
        let options = world.bus.options(of: ReadInbox.self)
        #expect(options.allSatisfy { $0.onBehalfOf?.role == "gateway" })
    }

    @Test(
        "bounds: numbers, texts, bodies, unknown properties",
        arguments: [
            ("inbox", #"{"numbers":[]}"#), ("inbox", #"{"numbers":["1","2","3","4","5"]}"#),
            ("fault", #"{"fault":"none"}"#), ("fault", #"{"number":"+1","fault":"other"}"#),
            ("token", #"{"durationSeconds":43200}"#), ("verify", "{}"), ("sim", "[]"),
            ("send-mo", #"{"sender":"+1","receiver":"1","text":""}"#),
        ])
    func bounds(_ name: String, _ body: String) async throws {
        let answer = await world.call(name, body)
        #expect(answer.status == 400)
        #expect(try PhonePageWorld.code(answer) == "invalid_parameters")
        let head = HTTPRequestHead(
            method: "POST", path: "/demo/api/\(name)", headers: PhonePageWorld.fromPage)
        #expect(world.gateway.bodyBytesMax(head) == 4_096)
    }

    @Test("activity tells the counters of each daemon, and which one does not answer")
    func activity() async throws {
        world.bus.on(ReadCounters<ShownServices.Token>.self) { _, _ in
            PhonePageWorld.stats("token", ["token.issue": 3])
        }
        let answer = await world.call("activity")
        let daemons = try #require(
            try PhonePageWorld.json(answer)["daemons"] as? [[String: Any]])
        #expect(
            daemons.map { $0["service"] as? String } == [
                "token", "scene", "verification", "smscode", "sandbox",
            ])
        #expect(daemons[0]["answers"] as? Bool == true)
        #expect(daemons[1]["answers"] as? Bool == false)
        let methods = try #require(daemons[0]["methods"] as? [[String: Any]])
        #expect(methods.first?["requests"] as? Int == 3)
    }
}
