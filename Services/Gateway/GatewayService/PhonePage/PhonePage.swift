package import Bus
package import Effects
package import HTTPTypes
import Primitives

/// A phone in the browser for people who get to know the system: the page's files, and calls
/// in which the page plays the app's server and turns the knobs of the sandbox.
///
/// It exists only beside a sandbox: an executable leaves this edge out where `production` is true.
/// The calls hand out auth tokens without a sign-in: `PhonePageGuard` judges every request.
package struct PhonePage: Edge {
    package static let base = "/demo"
    /// The largest body is a mask token or a few numbers.
    static let bodyBytesMax = 4 * 1024

    let bus: any BusCaller
    let shapes: PhonePageShapes
    let schemes: PhonePageScheme
    private let files: PhonePageFiles
    private let guardian: PhonePageGuard

    /// - Parameters:
    ///   - bus: as the gateway.
    ///   - files: of the page; `index.html` is the page itself.
    ///   - hosts: names other than this machine's own under which it may be reached.
    ///   - schemeCode: the scheme it plays; empty plays the home's own.
    ///   - homeScheme: the code that `fusionctl up` wrote into the home, as it is now.
    /// - Throws: `SchemaProblem` when the types of the bodies make no schema; a fault of ours.
    package init(
        bus: any BusCaller, files: [PhonePageFile], hosts: [String] = [], schemeCode: String = "",
        homeScheme: @escaping @Sendable () -> String?, pause: any Pause
    ) throws {
        let bus = NotedBus(bus)
        self.bus = bus
        self.files = PhonePageFiles(files)
        shapes = try PhonePageShapes()
        schemes = PhonePageScheme(
            bus: bus, code: schemeCode, homeCode: homeScheme, pause: pause)
        guardian = PhonePageGuard(hosts: hosts)
    }

    package var prefixes: [String] { [Self.base] }

    /// The index of the edge: the page, its files, one line per call of the page.
    package var routes: [Route] {
        [
            Route("demo.page", "GET", Self.base, bodyBytesMax: 0, page),
            Route("demo.slash", "GET", "\(Self.base)/", bodyBytesMax: 0) { _, _ in
                PhonePageHeaders.page(HTTPResponse(status: 308, headers: ["Location": Self.base]))
            },
            Route("demo.file", "GET", "\(Self.base)/{file}", bodyBytesMax: 0, file),
            call("config", config), call("token", token), call("verify", verify),
            call("sim", sim), call("carrier-token", carrierToken), call("inbox", inbox),
            call("send-mo", sendMobileOriginated), call("fault", fault),
            call("activity", activity),
        ]
    }

    package func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse {
        refused(Problem.failure(refusal), scope)
    }

    // MARK: The page

    @Sendable private func page(_ request: HTTPRequest, _ scope: RequestScope) async -> HTTPResponse
    {
        do throws(ServiceFailure) {
            try guardian.judge(request, scope)
            guard await isSandboxThere(scope) else {
                return PhonePageHeaders.page(.text(404, Self.noSandbox))
            }
            return files.page(request)
        } catch {
            let problem = Problem(error, requestID: scope.requestID)
            return PhonePageHeaders.page(
                .text(problem.status, "The phone page: \(problem.detail).\n"))
        }
    }

    private static let noSandbox = """
        The phone page needs the sandbox, which does not answer.
        fusionctl ps shows what runs; fusionctl up starts everything; it is left out of production.

        """

    @Sendable private func file(_ request: HTTPRequest, _ scope: RequestScope) async -> HTTPResponse
    {
        do throws(ServiceFailure) {
            try guardian.judge(request, scope)
            return files.file(scope.path["file"] ?? "", request)
                ?? refuse(.notFound, scope)
        } catch {
            return refused(error, scope)
        }
    }

    // MARK: The page's calls

    private typealias Call =
        @Sendable (HTTPRequest, RequestScope) async throws(ServiceFailure) -> HTTPResponse

    private func call(_ name: String, _ answer: @escaping Call) -> Route {
        let path = "\(Self.base)/api/\(name)"
        return Route("demo.\(name)", "POST", path, bodyBytesMax: Self.bodyBytesMax) {
            request, scope in
            do throws(ServiceFailure) {
                try guardian.judgeCall(request, scope)
                return PhonePageHeaders.page(try await answer(request, scope))
            } catch {
                return refused(error, scope)
            }
        }
    }

    private func refused(_ failure: ServiceFailure, _ scope: RequestScope) -> HTTPResponse {
        PhonePageHeaders.page(Problem(failure, requestID: scope.requestID).response)
    }
}
