import Foundation
package import FusionAuth

/// The server of the app's own team, as the app sees it.
package protocol AppServer: Sendable {
    func authToken() async throws -> String
    func verify(_ maskToken: String) async -> Verdict
}

/// What becomes of a mask token.
package enum Verdict: Sendable, Hashable {
    case pass(number: String)
    /// `REJECT`, `UNKNOWN`, or any other word.
    case refused
    /// An answer without a result in it.
    case noAnswer
    case serverError(String)
    /// There is no server.
    case byHand
}

/// In quick access: whoever checks a mask token in the app's stead.
package protocol MaskTokenCheck: Sendable {
    func verdict(on maskToken: String) async -> Verdict
}

/// An app server with the two paths of the original's demo: `deploy/examples/appserver`.
package final class HTTPAppServer: AppServer {
    private struct TokenAnswer: Decodable {
        let token: String
        private enum CodingKeys: String, CodingKey { case token = "Token" }
    }
    private struct VerifyAnswer: Decodable {
        let result: String?
        let number: String?
        let session: String?
        private enum CodingKeys: String, CodingKey {
            case result = "VerifyResult"
            case number = "PhoneNumber"
            case session = "Session"
        }
    }

    private let transport: any FusionAuthTransport
    private let bundleId: String
    private let tokenPath: String
    private let verifyPath: String
    /// Of the account, once logged in.
    private let session = Guarded<String?>(nil)

    package init(
        _ transport: any FusionAuthTransport, bundleId: String, tokenPath: String = "/auth-token",
        verifyPath: String = "/verify"
    ) {
        self.transport = transport
        self.bundleId = bundleId
        self.tokenPath = tokenPath
        self.verifyPath = verifyPath
    }

    package func authToken() async throws -> String {
        let answer = try await post(tokenPath, ["Platform": "iOS", "BundleId": bundleId])
        return try JSONDecoder().decode(TokenAnswer.self, from: answer.body).token
    }

    package func verify(_ maskToken: String) async -> Verdict {
        guard let answer = try? await post(verifyPath, ["MaskToken": maskToken]) else {
            return .serverError("the app server cannot be reached")
        }
        guard answer.status == 200 else {
            return .serverError("the app server answered \(answer.status)")
        }
        guard let said = try? JSONDecoder().decode(VerifyAnswer.self, from: answer.body),
            let result = said.result
        else { return .noAnswer }
        if let given = said.session { session.with { $0 = given } }
        guard result == "PASS" else { return .refused }
        return .pass(number: said.number ?? "")
    }

    private func post(_ path: String, _ body: [String: String]) async throws -> FusionAuthResponse {
        var headers = ["Content-Type": "application/json"]
        if let session = session.with({ $0 }) { headers["Authorization"] = "Bearer \(session)" }
        let request = FusionAuthRequest(
            "POST", path, headers: headers, body: try JSONEncoder().encode(body))
        return try await transport.send(request)
    }
}
