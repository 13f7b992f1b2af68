package import Effects
package import HTTPTypes
import Primitives

/// The shell around the edges: finds the route, gives a request its ids, counts and logs it, and adds
/// what every answer has. It holds no state.
package struct Gateway: HTTPHandler {
    /// Longest prefix first.
    private let speakers: [(prefix: String, edge: any Edge)]
    private let routes: RouteTable
    private let proxies: TrustedProxies
    private let random: any RandomSource
    private let pause: any Pause
    private let metrics: any Metrics
    private let log: Log

    /// - Parameter edges: one of them has the prefix `/`.
    package init(
        edges: [any Edge], proxies: TrustedProxies, random: any RandomSource, pause: any Pause,
        metrics: any Metrics, log: Log
    ) {
        speakers = edges.flatMap { edge in edge.prefixes.map { ($0, edge) } }
            .sorted { $0.0.utf8.count > $1.0.utf8.count }
        precondition(speakers.last?.prefix == "/", "some edge speaks for every path")
        routes = RouteTable(edges.flatMap(\.routes))
        self.proxies = proxies
        self.random = random
        self.pause = pause
        self.metrics = metrics
        self.log = log
    }

    package func bodyBytesMax(_ head: HTTPRequestHead) -> Int {
        let fitting = routes.candidates(head.path).first { $0.route.method == head.method }
        return fitting?.route.bodyBytesMax ?? Route.bodyBytesMaxDefault
    }

    package func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let began = pause.steadyNow()
        var scope = scope(of: request.head)
        let candidates = routes.candidates(request.path)
        var response: HTTPResponse
        var name = GatewaySignals.noRoute
        var isProbe = false
        let fault = FaultNote()
        if let chosen = candidates.first(where: { $0.route.takes(request.method) }) {
            scope.path = chosen.values
            name = chosen.route.name
            isProbe = chosen.route.isProbe
            let asked = scope
            response = await FaultNote.$current.withValue(fault) {
                await chosen.route.answer(request, asked)
            }
        } else if candidates.isEmpty {
            response = edge(for: request.path).refuse(.notFound, scope)
        } else {
            let allowed = allowed(candidates.map(\.route))
            response = edge(for: request.path).refuse(.methodNotAllowed(allowed), scope)
            response.headers.set("Allow", allowed.joined(separator: ", "))
        }
        finish(&response, scope)
        note(
            request.head, scope, name, response.status, since: began, isProbe: isProbe,
            fault: fault.entry)
        return response
    }

    package func refuse(_ refusal: HTTPRefusal, _ head: HTTPRequestHead) -> HTTPResponse {
        let scope = scope(of: head)
        let reason: EdgeRefusal =
            switch refusal {
            case .badFraming: .badRequest
            case .bodyTooLarge(let bytesMax): .bodyTooLarge(bytesMax: bytesMax)
            case .unavailable: .unavailable
            }
        var response = edge(for: head.path).refuse(reason, scope)
        finish(&response, scope)
        note(head, scope, GatewaySignals.noRoute, response.status, since: pause.steadyNow())
        return response
    }

    // MARK: Routing

    private func edge(for path: String) -> any Edge {
        // The initialiser saw to it that the last one fits everything.
        (speakers.first { Self.isBelow($0.prefix, path) } ?? speakers[speakers.count - 1]).edge
    }

    private static func isBelow(_ prefix: String, _ path: String) -> Bool {
        prefix == "/" || path == prefix || path.hasPrefix(prefix + "/")
    }

    private func allowed(_ routes: [Route]) -> [String] {
        let head = routes.contains(where: \.answersHead) ? ["HEAD"] : []
        return (routes.map(\.method) + head).sorted()
    }

    // MARK: Ids, headers, signals

    private func scope(of head: HTTPRequestHead) -> RequestScope {
        // One draw for all three: request id, span, and trace where none was given.
        let bytes = random.bytes(40)
        let given = head.headers["traceparent"].flatMap { TraceParent($0.trimmedSpaces) }
        let trace = TraceParent(
            traceID: given?.traceID ?? Array(bytes[24...]), spanID: Array(bytes[16..<24]),
            isSampled: given?.isSampled ?? true)
        let client = proxies.client(of: head)
        let correlators = head.headers.values("x-correlator")
        let origins = head.headers.values("origin")
        return RequestScope(
            requestID: Self.uuid(bytes), trace: trace,
            clientAddressText: client.address, isSecure: client.isSecure,
            origin: origins.count == 1 ? origins.first : nil,
            correlator: correlators.isEmpty ? nil : correlators.joined(separator: ", "))
    }

    /// Version 4 (RFC 9562 §5.4), upper case as the callers of our oldest API expect it.
    private static func uuid(_ random: [UInt8]) -> String {
        var bytes = Array(random.prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(hexDigits[Int(byte >> 4)])
            text.append(hexDigits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private func finish(_ response: inout HTTPResponse, _ scope: RequestScope) {
        response.headers.set("X-Request-Id", scope.requestID)
        response.headers.set("traceparent", scope.trace.text)
        response.headers.set("X-Content-Type-Options", "nosniff")
        if scope.isSecure {
            response.headers.set("Strict-Transport-Security", "max-age=31536000")
        }
    }

    /// No path, query, address or agent: they hold numbers, tokens and people.
    private func note(
        _ head: HTTPRequestHead, _ scope: RequestScope, _ name: String, _ status: Int,
        since began: Duration, isProbe: Bool = false, fault: FaultNote.Entry? = nil
    ) {
        let took = pause.steadyNow() - began
        let method = Self.knownMethods.contains(head.method) ? head.method : "other"
        metrics.count(GatewaySignals.requests, ("route", name), ("status", "\(status)"))
        metrics.observe(
            took / .seconds(1), in: GatewaySignals.seconds, labels: [("route", name)])
        if isProbe, status < 400 {
            log.debug("probe", [GatewaySignals.route: .text(name)])
            return
        }
        guard status < 500 else {
            // The caller was told nothing but the id: the rest is here.
            let code = fault?.code ?? HTTPStatus.code(ofFault: status)
            log.warning(
                "request",
                [
                    GatewaySignals.requestID: .text(scope.requestID),
                    GatewaySignals.trace: .text(Hex.encode(scope.trace.traceID)),
                    GatewaySignals.method: .text(method), GatewaySignals.route: .text(name),
                    GatewaySignals.status: .integer(Int64(status)),
                    GatewaySignals.milliseconds: .integer(took.wholeMilliseconds),
                    GatewaySignals.code: .init(code),
                    GatewaySignals.busMethod: .text(fault?.method ?? GatewaySignals.noMethod),
                ])
            return
        }
        log.info(
            "request",
            [
                GatewaySignals.requestID: .text(scope.requestID),
                GatewaySignals.trace: .text(Hex.encode(scope.trace.traceID)),
                GatewaySignals.method: .text(method), GatewaySignals.route: .text(name),
                GatewaySignals.status: .integer(Int64(status)),
                GatewaySignals.milliseconds: .integer(took.wholeMilliseconds),
            ])
    }

    private static let knownMethods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
    ]
}
