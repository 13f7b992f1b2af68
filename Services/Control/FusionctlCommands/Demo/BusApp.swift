import Bus
import Messages
import Primitives

/// The app's calls over the bus, as a backend team makes them for its app.
struct BusApp: DemoApp {
    let bus: any BusCaller
    let keys: DemoKeys

    /// Over the bus a start is asked at once: it says itself what is wrong with a token.
    func checkSession(_ authToken: Secret<String>) async throws {}

    func start(
        _ authToken: Secret<String>, templateId: String, deviceId: String
    ) async throws -> SceneView {
        try await bus.call(
            StartScene(
                authToken: authToken, templateId: templateId, deviceId: deviceId, locale: "en"),
            write())
    }

    func submit(_ input: NodeInput, _ place: DemoPlace) async throws -> SceneView {
        try await bus.call(
            SubmitInput(
                authToken: place.authToken, runId: place.runId, runKey: place.runKey,
                step: place.step, input: input), write())
    }

    func continueRun(_ isSuccess: Bool, _ place: DemoPlace) async throws -> SceneView {
        try await bus.call(
            ContinueScene(
                authToken: place.authToken, runId: place.runId, runKey: place.runKey,
                step: place.step, isSuccess: isSuccess), write())
    }

    func halfway(_ isSuccess: Bool, _ place: DemoPlace) async throws -> SceneView {
        try await bus.call(
            AnswerHalfway(
                authToken: place.authToken, runId: place.runId, runKey: place.runKey,
                step: place.step, isSuccess: isSuccess), write())
    }

    func stop(_ place: DemoPlace) async throws -> SceneView {
        try await bus.call(
            StopScene(
                authToken: place.authToken, runId: place.runId, runKey: place.runKey), write())
    }

    func get(_ place: DemoPlace) async throws -> SceneView {
        try await bus.call(
            GetScene(runId: place.runId, authToken: place.authToken, runKey: place.runKey))
    }

    private func write() -> CallOptions { CallOptions(requestKey: keys.next()) }
}

/// The app server's two calls over the bus. In quick access a person makes the same two by hand:
/// `fusionctl token issue` and `fusionctl verify`.
struct BusAppServer: DemoAppServer {
    let bus: any BusCaller
    let keys: DemoKeys
    let schemeCode: String

    let knowsNumbersFromLoginsOnly = false

    func fetchToken(boundNumber: String?) async throws -> Secret<String> {
        let issued = try await bus.call(
            IssueAuthToken(
                schemeCode: schemeCode, platform: .ios, bundleId: DefaultScheme.bundleId,
                durationSeconds: IssueAuthToken.durationSecondsRange.lowerBound,
                boundNumber: boundNumber), write())
        return Secret(issued.authToken)
    }

    func verify(_ maskToken: Secret<String>) async throws -> Verified {
        try await bus.call(VerifyMaskToken(maskToken: maskToken), write())
    }

    private func write() -> CallOptions { CallOptions(requestKey: keys.next()) }
}
