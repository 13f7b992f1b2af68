package import Bus
package import Effects
package import HTTPTypes
import Messages
import Primitives

/// The paths that the client SDK and web apps use: scenes, for the holder of an auth token.
///
/// It asks `token.introspect` and `scene.*` and decides nothing: who may touch a run is for the
/// scene service to say.
package struct ClientAPI: Edge {
    package static let base = "/client/v1"
    /// The largest inputs, carrier tokens and proofs, have 4 KiB.
    static let bodyBytesMax = 32 * 1024

    let bus: any BusCaller
    let clock: any WallClock
    let pause: any Pause
    let seats: EventSeats
    let shapes: ClientShapes
    private let web: CrossOrigin
    private let document: [UInt8]

    /// - Parameters:
    ///   - bus: as the gateway.
    ///   - webOrigins: origins of web apps that may call from a browser.
    /// - Throws: `SchemaProblem` when the types make no document; a fault of ours.
    package init(
        bus: any BusCaller, clock: any WallClock, pause: any Pause, webOrigins: [String] = []
    ) throws {
        self.bus = NotedBus(bus)
        self.clock = clock
        self.pause = pause
        web = CrossOrigin(origins: webOrigins)
        seats = EventSeats()
        shapes = try ClientShapes()
        document = Array(try ClientDocument.make(shapes).text.utf8)
    }

    package var prefixes: [String] { [Self.base] }

    /// The index of the edge: one line per call.
    package var routes: [Route] {
        let calls = [
            route("session", "GET", "/session", session),
            route("scenes.start", "POST", "/scenes", start),
            route("scenes.get", "GET", "/scenes/{runId}", get),
            route("scenes.input", "POST", "/scenes/{runId}/input", input),
            route("scenes.continue", "POST", "/scenes/{runId}/continue", proceed),
            route("scenes.halfway", "POST", "/scenes/{runId}/halfway", halfway),
            route("scenes.stop", "POST", "/scenes/{runId}/stop", stop),
            route("scenes.events", "GET", "/scenes/{runId}/events", events),
            documentRoute,
        ]
        return calls.map(\.route) + Set(calls.map(\.path)).sorted().map(preflight)
    }

    package func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse {
        finished(ClientFailure.response(Problem.failure(refusal), scope), scope)
    }

    // MARK: -

    private typealias Call =
        @Sendable (ClientRequest, HTTPRequest, RequestScope) async throws(ServiceFailure)
        -> HTTPResponse

    private typealias Place = (path: String, route: Route)

    private func route(
        _ name: String, _ method: String, _ path: String, _ call: @escaping Call
    ) -> Place {
        let path = Self.base + path
        let bytesMax = method == "GET" ? 0 : Self.bodyBytesMax
        let route = Route("client.\(name)", method, path, bodyBytesMax: bytesMax) {
            request, scope in
            do throws(ServiceFailure) {
                let client = try ClientRequest(request, scope)
                return finished(try await call(client, request, scope), scope)
            } catch {
                return finished(ClientFailure.response(error, scope), scope)
            }
        }
        return (path, route)
    }

    private var documentRoute: Place {
        let path = "\(Self.base)/openapi.json"
        let route = Route("client.openapi", "GET", path, bodyBytesMax: 0) { _, scope in
            let response = HTTPResponse(
                status: 200,
                headers: ["Content-Type": JSONAnswer.type, "Cache-Control": "no-store"],
                body: .bytes(document))
            return finished(response, scope)
        }
        return (path, route)
    }

    private func preflight(_ path: String) -> Route {
        Route("client.preflight", "OPTIONS", path, bodyBytesMax: 0) { _, scope in
            finished(web.preflight(origin: scope.origin), scope)
        }
    }

    private func finished(_ response: HTTPResponse, _ scope: RequestScope) -> HTTPResponse {
        var response = response
        web.apply(to: &response, origin: scope.origin)
        return response
    }
}
