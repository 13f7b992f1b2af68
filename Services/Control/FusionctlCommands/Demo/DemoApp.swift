import Effects
import Messages
import Primitives

/// The calls of an app on the phone, whatever carries them.
protocol DemoApp: Sendable {
    /// Whether the token is good, as the client SDK asks before it shows a page.
    func checkSession(_ authToken: Secret<String>) async throws
    func start(
        _ authToken: Secret<String>, templateId: String, deviceId: String
    ) async throws -> SceneView
    func submit(_ input: NodeInput, _ place: DemoPlace) async throws -> SceneView
    func continueRun(_ isSuccess: Bool, _ place: DemoPlace) async throws -> SceneView
    func halfway(_ isSuccess: Bool, _ place: DemoPlace) async throws -> SceneView
    func stop(_ place: DemoPlace) async throws -> SceneView
    func get(_ place: DemoPlace) async throws -> SceneView
}

/// Where an app stands: what it says with every call on its run.
struct DemoPlace: Sendable {
    let authToken: Secret<String>
    let runId: RunID
    let runKey: Secret<String>
    let step: Int
}

/// What the app asks of the server of its own team.
protocol DemoAppServer: Sendable {
    /// It knows an account's number only from a login that it has seen.
    var knowsNumbersFromLoginsOnly: Bool { get }
    /// - Parameter boundNumber: the number of the account that is signed in.
    func fetchToken(boundNumber: String?) async throws -> Secret<String>
    func verify(_ maskToken: Secret<String>) async throws -> Verified
}

/// Who stands behind the app (the original demo's access modes).
enum DemoMode: String, Sendable, CaseIterable {
    /// An app server issues tokens and verifies.
    case normal
    /// No server: the token is pasted into the app, the mask token into a console.
    case quick
}

/// How a case was played, where there is more than one way.
struct DemoRoad: Sendable, Hashable {
    let mode: DemoMode
    let transport: String
}

/// Fresh request keys: every write of the demo has its own.
struct DemoKeys: Sendable {
    let random: any RandomSource

    func next() -> String { "demo-\(Hex.encode(random.bytes(16)))" }
}
