import Bus
import FoundationEssentials
import HTTPTypes
import Messages
import Primitives

/// The app's calls over the gateway's client API, as a phone makes them.
struct HTTPApp: DemoApp {
    private struct Start: Encodable {
        let templateId: String
        let deviceId: String
        let locale: String
    }
    private struct Input: Encodable {
        let step: Int
        let input: NodeInput
    }
    private struct Answer: Encodable {
        let step: Int
        let isSuccess: Bool
    }
    private struct Nothing: Codable {}

    private let peer: JSONPeer
    private let keys: DemoKeys

    /// - Parameter address: of the gateway.
    init(http: any HTTPCaller, address: String, keys: DemoKeys) {
        peer = JSONPeer(http: http, base: JSONPeer.trimmed(address) + "/client/v1")
        self.keys = keys
    }

    func checkSession(_ authToken: Secret<String>) async throws {
        let _: Nothing = try await peer.get("/session", headers: Self.bearer(authToken))
    }

    func start(
        _ authToken: Secret<String>, templateId: String, deviceId: String
    ) async throws -> SceneView {
        try await peer.post(
            "/scenes", Start(templateId: templateId, deviceId: deviceId, locale: "en"),
            headers: write(Self.bearer(authToken)))
    }

    func submit(_ input: NodeInput, _ place: DemoPlace) async throws -> SceneView {
        try await post("/input", Input(step: place.step, input: input), place)
    }

    func continueRun(_ isSuccess: Bool, _ place: DemoPlace) async throws -> SceneView {
        try await post("/continue", Answer(step: place.step, isSuccess: isSuccess), place)
    }

    func halfway(_ isSuccess: Bool, _ place: DemoPlace) async throws -> SceneView {
        try await post("/halfway", Answer(step: place.step, isSuccess: isSuccess), place)
    }

    func stop(_ place: DemoPlace) async throws -> SceneView {
        try await post("/stop", Nothing(), place)
    }

    func get(_ place: DemoPlace) async throws -> SceneView {
        try await peer.get("/scenes/\(place.runId)", headers: Self.head(place))
    }

    private func post(
        _ path: String, _ body: some Encodable, _ place: DemoPlace
    ) async throws -> SceneView {
        try await peer.post(
            "/scenes/\(place.runId)\(path)", body, headers: write(Self.head(place)))
    }

    private static func bearer(_ authToken: Secret<String>) -> HTTPHeaders {
        ["Authorization": "Bearer \(authToken.reveal())"]
    }

    private static func head(_ place: DemoPlace) -> HTTPHeaders {
        var headers = bearer(place.authToken)
        headers.add("X-Run-Key", place.runKey.reveal())
        return headers
    }

    private func write(_ headers: HTTPHeaders) -> HTTPHeaders {
        var headers = headers
        headers.add("Idempotency-Key", keys.next())
        return headers
    }
}

/// An app server with the two paths of the original demo, such as `deploy/examples/appserver`.
///
/// Whoever logs in there by 100001 gets a session, and the server knows that account's number.
final class HTTPAppServer: DemoAppServer {
    private struct TokenRequest: Encodable {
        let platform = "iOS"
        let bundleId = DefaultScheme.bundleId

        private enum CodingKeys: String, CodingKey {
            case platform = "Platform"
            case bundleId = "BundleId"
        }
    }
    private struct Token: Decodable {
        let token: String

        private enum CodingKeys: String, CodingKey { case token = "Token" }
    }
    private struct VerifyRequest: Encodable {
        let maskToken: String

        private enum CodingKeys: String, CodingKey { case maskToken = "MaskToken" }
    }
    private struct Decision: Decodable {
        let result: VerificationResult
        let reason: VerificationReason?
        let phoneNumber: String?
        let session: String?

        private enum CodingKeys: String, CodingKey {
            case result = "VerifyResult"
            case reason = "Reason"
            case phoneNumber = "PhoneNumber"
            case session = "Session"
        }
    }

    private let peer: JSONPeer
    private let session = Lock<String?>(nil)

    init(http: any HTTPCaller, address: String) {
        peer = JSONPeer(http: http, base: JSONPeer.trimmed(address))
    }

    let knowsNumbersFromLoginsOnly = true

    func fetchToken(boundNumber: String?) async throws -> Secret<String> {
        // Nobody is signed in where the case knows no number.
        if boundNumber == nil { session.withLock { $0 = nil } }
        let answer: Token = try await peer.post("/auth-token", TokenRequest(), headers: head)
        return Secret(answer.token)
    }

    func verify(_ maskToken: Secret<String>) async throws -> Verified {
        let decision: Decision = try await peer.post(
            "/verify", VerifyRequest(maskToken: maskToken.reveal()), headers: head)
        if let session = decision.session { self.session.withLock { $0 = session } }
        return Verified(
            result: decision.result, reason: decision.reason,
            phoneNumber: decision.phoneNumber.flatMap { PhoneNumber(e164: $0) })
    }

    private var head: HTTPHeaders {
        session.withLock { session in session.map { ["Authorization": "Bearer \($0)"] } ?? [:] }
    }
}

/// A server that takes and gives JSON.
struct JSONPeer: Sendable {
    private struct Problem: Decodable {
        let code: String
        let detail: String
        let field: String?
        let retryAfterMilliseconds: Int64?
    }

    let http: any HTTPCaller
    /// Without a slash at its end.
    let base: String

    static func trimmed(_ address: String) -> String {
        var text = address[...]
        while text.hasSuffix("/") { text.removeLast() }
        return String(text)
    }

    func get<Reply: Decodable>(_ path: String, headers: HTTPHeaders) async throws -> Reply {
        try await exchange(HTTPCall("GET", base + path, headers: headers))
    }

    func post<Reply: Decodable>(
        _ path: String, _ body: some Encodable, headers: HTTPHeaders
    ) async throws -> Reply {
        var headers = headers
        headers.add("Content-Type", "application/json")
        let bytes = try BusCoding.encode(body)
        return try await exchange(HTTPCall("POST", base + path, headers: headers, body: bytes))
    }

    /// - Throws: `ServiceFailure` for a problem (RFC 9457) with a code of ours; else `DemoSurprise`.
    private func exchange<Reply: Decodable>(_ call: HTTPCall) async throws -> Reply {
        let answer: HTTPAnswer
        do throws(HTTPCallFailure) {
            answer = try await http.call(call)
        } catch {
            throw DemoSurprise("\(base): \(error)")
        }
        guard answer.isSuccess else {
            let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body))
            guard let problem else { throw DemoSurprise("\(base) answered \(answer.status)") }
            throw ServiceFailure(
                ErrorCode(rawValue: problem.code), problem.detail, field: problem.field,
                retryAfterMilliseconds: problem.retryAfterMilliseconds)
        }
        guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(answer.body)) else {
            throw DemoSurprise("\(base) answered what cannot be read")
        }
        return reply
    }
}
