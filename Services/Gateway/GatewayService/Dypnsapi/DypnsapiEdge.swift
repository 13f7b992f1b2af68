package import Bus
package import Effects
package import HTTPTypes
import Messages
import Primitives

/// The surface that official client libraries of Alibaba Cloud's dypnsapi speak to unmodified, at the
/// root: one path, and the action in a header or a parameter.
package struct DypnsapiEdge: Edge {
    static let version = "2017-05-25"

    private let configuration: GatewayConfiguration
    private let bus: any BusCaller
    private let sha256: @Sendable ([UInt8]) -> String
    private let metrics: any Metrics
    private let log: Log

    /// - Parameter signer: for its SHA-256; no key of the gateway's is involved.
    package init(
        configuration: GatewayConfiguration, bus: any BusCaller, signer: any TokenSigner,
        metrics: any Metrics, log: Log
    ) {
        self.configuration = configuration
        self.bus = NotedBus(bus)
        sha256 = { Hex.encode(signer.sha256($0)) }
        self.metrics = metrics
        self.log = log
    }

    package var prefixes: [String] { ["/"] }

    package var routes: [Route] {
        // A GET may send an SMS: HEAD is no way to ask for that.
        ["GET", "POST"].map { method in
            Route("dypnsapi", method, "/", answersHead: false, answer)
        }
    }

    package func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse {
        let error =
            switch refusal {
            case .notFound: DypnsapiError.unknownAction
            case .methodNotAllowed:
                DypnsapiError(
                    405, DypnsapiError.unsupportedMethod.code,
                    DypnsapiError.unsupportedMethod.message, recommend: "Use POST or GET.")
            case .badRequest: DypnsapiError.unreadable
            case .bodyTooLarge:
                DypnsapiError(
                    413, DypnsapiError.tooLarge.code, DypnsapiError.tooLarge.message,
                    recommend: DypnsapiError.tooLarge.recommend)
            case .unavailable: DypnsapiError.unavailable()
            }
        return DypnsapiWire.failure(error, host: nil, requestID: scope.requestID)
    }

    private func answer(_ request: HTTPRequest, _ scope: RequestScope) async -> HTTPResponse {
        var action: DypnsapiAction?
        do throws(DypnsapiError) {
            let parameters = try DypnsapiParameters(request)
            let signing = try DypnsapiSigning(request.headers, parameters)
            let target = try signing.target(request.headers, parameters)
            guard target.version == Self.version else { throw .invalidVersion }
            guard let known = DypnsapiAction(rawValue: target.action) else {
                throw .unknownAction
            }
            action = known
            let call = try await admit(request, parameters, signing, known, scope)
            let answer = try await known.run(call)
            note(known, "OK", scope)
            return DypnsapiWire.success(answer, requestID: scope.requestID)
        } catch {
            note(action, error.code, scope)
            return DypnsapiWire.failure(
                error, host: request.headers["host"], requestID: scope.requestID)
        }
    }

    /// Only a genuine call learns more than what is wrong with its signature.
    private func admit(
        _ request: HTTPRequest, _ parameters: DypnsapiParameters, _ signing: DypnsapiSigning,
        _ action: DypnsapiAction, _ scope: RequestScope
    ) async throws(DypnsapiError) -> DypnsapiCall {
        let signature =
            switch signing {
            case .rpc: try DypnsapiSignature(rpc: parameters, method: request.method)
            case .acs3(let value):
                try DypnsapiSignature(acs3: value, request, parameters, sha256: sha256)
            }
        let requestKey = try IdempotencyKey.read(request.headers)
        let key: AuthenticatedKey
        do throws(ServiceFailure) {
            key = try await bus.call(
                signature.question(action: action.rawValue), scope.options())
        } catch {
            throw DypnsapiFailure.ofKey(error, signature)
        }
        guard !action.isPostOnly || request.method == "POST" else { throw .unsupportedMethod }
        for name in action.required { _ = try parameters.required(name) }
        return DypnsapiCall(
            parameters: parameters, key: key, configuration: configuration, bus: bus,
            scope: scope, requestKey: requestKey, sha256: sha256)
    }

    private func note(_ action: DypnsapiAction?, _ code: String, _ scope: RequestScope) {
        // What stands behind the dot of a code may be a parameter's name.
        let result = code.hasPrefix("Missing") ? "Missing" : code
        metrics.count(
            DypnsapiSignals.calls, ("action", action?.rawValue ?? "other"),
            ("result", result.hasPrefix("InvalidParameter") ? "InvalidParameter" : result))
        guard code == DypnsapiError.internalError.code else { return }
        log.warning(
            "a dypnsapi call met a fault of ours",
            [
                GatewaySignals.requestID: .text(scope.requestID),
                DypnsapiSignals.action: .text(action?.rawValue ?? "other"),
            ])
    }
}

/// Metric names and log keys of this surface, declared once.
enum DypnsapiSignals {
    /// Labels: action, result (the code).
    static let calls = "dypnsapi_calls"
    static let action = "dypnsapi.action"
}
