import Bus
import Effects
import HTTPTypes
import Messages
import Primitives

/// Bodies that the calls take.
package struct ClientShapes: Sendable {
    let start: BodyShape<StartSceneBody>
    let submit: BodyShape<SubmitInputBody>
    let answer: BodyShape<AnswerStepBody>
    let stop: BodyShape<StopSceneBody>

    init() throws {
        start = try BodyShape()
        submit = try BodyShape()
        answer = try BodyShape()
        stop = try BodyShape()
    }
}

/// From path to message and back: one method per call.
extension ClientAPI {
    /// Revocation counts at once: the token service is asked each time. What it says is copied field
    /// by field, so that nothing passes which is not named here.
    func session(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let state = try await bus.call(
            IntrospectAuthToken(authToken: client.token.reveal()), client.options())
        guard state.active else { throw ClientFailure.inactive(state.reason) }
        guard let schemeCode = state.schemeCode, let platform = state.platform,
            let app = state.app, let issuedAt = state.issuedAtMilliseconds,
            let expiresAt = state.expiresAtMilliseconds
        else { throw ClientFailure.incompleteState }
        let list = try await bus.call(ListTemplates(schemeCode: schemeCode), client.options())
        let session = ClientSession(
            schemeCode: schemeCode, platform: platform, app: app, issuedAtMilliseconds: issuedAt,
            expiresAtMilliseconds: expiresAt,
            serverTimeMilliseconds: clock.now().millisecondsSince1970, templates: list.templates)
        return JSONAnswer.make(200, session)
    }

    func start(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let requestKey = try client.requestKey()
        let body = try shapes.start.read(http)
        let view = try await bus.call(
            StartScene(
                authToken: client.token, templateId: body.templateId, deviceId: body.deviceId,
                capabilities: body.capabilities, locale: body.locale,
                address: scope.clientAddressText),
            client.options(requestKey))
        var response = JSONAnswer.make(201, view)
        response.headers.set("Location", "\(Self.base)/scenes/\(view.runId)")
        return response
    }

    func get(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let run = try client.run()
        let view = try await bus.call(
            GetScene(runId: run.id, authToken: client.token, runKey: run.key), client.options())
        return JSONAnswer.make(200, view)
    }

    func input(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        try await move(client, http, shapes.submit) { run, body in
            SubmitInput(
                authToken: client.token, runId: run.id, runKey: run.key, step: body.step,
                input: body.input)
        }
    }

    func proceed(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        try await move(client, http, shapes.answer) { run, body in
            ContinueScene(
                authToken: client.token, runId: run.id, runKey: run.key, step: body.step,
                isSuccess: body.isSuccess)
        }
    }

    func halfway(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        try await move(client, http, shapes.answer) { run, body in
            AnswerHalfway(
                authToken: client.token, runId: run.id, runKey: run.key, step: body.step,
                isSuccess: body.isSuccess)
        }
    }

    /// A move of a run, made of a body.
    private func move<Body, Request: BusRequest>(
        _ client: ClientRequest, _ http: HTTPRequest, _ shape: BodyShape<Body>,
        _ request: (ClientRequest.Run, Body) -> Request
    ) async throws(ServiceFailure) -> HTTPResponse {
        let run = try client.run()
        let requestKey = try client.requestKey()
        let body = try shape.read(http)
        return JSONAnswer.make(
            200, try await bus.call(request(run, body), client.options(requestKey)))
    }

    func stop(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let run = try client.run()
        let requestKey = try client.requestKey()
        if !http.body.isEmpty { _ = try shapes.stop.read(http) }
        let view = try await bus.call(
            StopScene(authToken: client.token, runId: run.id, runKey: run.key),
            client.options(requestKey))
        return JSONAnswer.make(200, view)
    }
}
