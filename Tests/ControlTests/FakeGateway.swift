import Bus
import FoundationEssentials
import HTTPTypes
import Messages
import Primitives
import TestKit

/// The client API of the gateway in front of a fake bus, as far as the demo goes; it checks what a phone
/// must send with each call.
struct FakeGateway: Sendable {
    static let address = "http://gateway.test"

    private struct Start: Decodable {
        let templateId: String
        let deviceId: String?
        let locale: String?
    }
    private struct Input: Decodable {
        let step: Int
        let input: NodeInput
    }
    private struct Answer: Decodable {
        let step: Int
        let isSuccess: Bool
    }

    let bus: FakeBus

    func answer(_ call: HTTPCall) async throws(HTTPCallFailure) -> HTTPAnswer {
        let prefix = Self.address + "/client/v1/"
        guard call.url.hasPrefix(prefix) else { throw .couldNotConnect }
        do {
            let path = call.url.dropFirst(prefix.count).split(separator: "/").map(String.init)
            return try await answer(call, path)
        } catch let failure as ServiceFailure {
            let status = failure.code == .passNotOnRecord ? 409 : 400
            let text = """
                {"status":\(status),"title":"t","code":"\(failure.code)","requestId":"r",\
                "detail":"\(failure.message)"}
                """
            return HTTPAnswer(status: status, body: Array(text.utf8))
        } catch {
            return HTTPAnswer(status: 400)
        }
    }

    private func answer(_ call: HTTPCall, _ path: [String]) async throws -> HTTPAnswer {
        let words = call.headers["authorization"]?.split(separator: " ") ?? []
        guard words.count == 2, words[0] == "Bearer" else { return HTTPAnswer(status: 401) }
        let token = Secret(String(words[1]))
        if call.method == "POST" {
            guard call.headers["idempotency-key"] != nil,
                call.headers["content-type"] == "application/json"
            else { return HTTPAnswer(status: 400) }
        }
        if path == ["session"] { return HTTPAnswer(status: 200, body: Array("{}".utf8)) }
        if path == ["scenes"] {
            let body = try read(Start.self, call)
            return try made(
                201,
                await bus.call(
                    StartScene(
                        authToken: token, templateId: body.templateId, deviceId: body.deviceId,
                        locale: body.locale)))
        }
        guard let run = path.dropFirst().first.flatMap({ RunID($0) }),
            let key = call.headers["x-run-key"].map({ Secret($0) })
        else { return HTTPAnswer(status: 404) }
        let place = (token, run, key)
        return try made(200, await answer(call, path.dropFirst(2).first ?? "", place))
    }

    private func answer(
        _ call: HTTPCall, _ verb: String,
        _ place: (token: Secret<String>, run: RunID, key: Secret<String>)
    ) async throws -> SceneView {
        let (token, run, key) = place
        switch verb {
        case "":
            return try await bus.call(GetScene(runId: run, authToken: token, runKey: key))
        case "input":
            let body = try read(Input.self, call)
            return try await bus.call(
                SubmitInput(
                    authToken: token, runId: run, runKey: key, step: body.step,
                    input: body.input))
        case "continue":
            let body = try read(Answer.self, call)
            return try await bus.call(
                ContinueScene(
                    authToken: token, runId: run, runKey: key, step: body.step,
                    isSuccess: body.isSuccess))
        default: return try await bus.call(StopScene(authToken: token, runId: run, runKey: key))
        }
    }

    private func read<Body: Decodable>(_ type: Body.Type, _ call: HTTPCall) throws -> Body {
        try JSONDecoder().decode(type, from: Data(call.body))
    }

    private func made(_ status: Int, _ view: SceneView) throws -> HTTPAnswer {
        HTTPAnswer(status: status, body: try BusCoding.encode(view))
    }
}
