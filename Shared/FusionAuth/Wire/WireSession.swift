import Foundation

extension Wire {
    package struct TemplateNode: Codable, Hashable, Sendable {
        package let nodeId: String
        package let kind: Int
        package let enabled: Bool

        package init(nodeId: String, kind: Int, enabled: Bool) {
            self.nodeId = nodeId
            self.kind = kind
            self.enabled = enabled
        }
    }

    package struct Template: Codable, Hashable, Sendable {
        package let templateId: String
        package let name: String
        package let configVersion: Int
        package let nodes: [TemplateNode]

        package init(templateId: String, name: String, configVersion: Int, nodes: [TemplateNode]) {
            self.templateId = templateId
            self.name = name
            self.configVersion = configVersion
            self.nodes = nodes
        }
    }

    /// What the gateway says of an auth token that is good.
    package struct Session: Codable, Hashable, Sendable {
        package let schemeCode: String
        package let platform: String
        package let app: String
        package let issuedAtMilliseconds: Int64
        package let expiresAtMilliseconds: Int64
        package let serverTimeMilliseconds: Int64
        package let templates: [Template]

        package init(
            schemeCode: String, platform: String, app: String, issuedAtMilliseconds: Int64,
            expiresAtMilliseconds: Int64, serverTimeMilliseconds: Int64, templates: [Template]
        ) {
            self.schemeCode = schemeCode
            self.platform = platform
            self.app = app
            self.issuedAtMilliseconds = issuedAtMilliseconds
            self.expiresAtMilliseconds = expiresAtMilliseconds
            self.serverTimeMilliseconds = serverTimeMilliseconds
            self.templates = templates
        }
    }

    /// RFC 9457, with the extensions of this API.
    package struct Problem: Codable, Hashable, Sendable {
        package var title: String?
        package var detail: String?
        package var code: String?
        package var field: String?
        package var retryAfterMilliseconds: Int64?
        package var requestId: String?

        package init() {}
    }

    /// Numbers of node kinds.
    package enum Kind {
        package static let numberAuth = 2_000_001
        package static let deviceRisk = 2_000_003
        package static let smsCode = 2_000_005
        package static let upgoingSMS = 2_000_006
        package static let graphic = 2_000_009
    }
}

// MARK: - Reading answers

extension FusionAuthResponse {
    func decoded<Value: Decodable>(
        as type: Value.Type = Value.self
    ) throws(FusionAuthError) -> Value {
        guard (200..<300).contains(status) else { throw failure }
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw .notUnderstood(status)
        }
    }

    private var failure: FusionAuthError {
        let problem = (try? JSONDecoder().decode(Wire.Problem.self, from: body)) ?? Wire.Problem()
        let waits = headers["retry-after"].flatMap { Int64($0) }.map { $0 * 1_000 }
        return FusionAuthError(
            problem.code ?? (status == 401 ? "token_invalid" : "http_\(status)"),
            problem.detail ?? problem.title ?? "the gateway refused",
            status: status, field: problem.field,
            retryAfterMilliseconds: problem.retryAfterMilliseconds ?? waits,
            requestId: problem.requestId ?? headers["x-request-id"])
    }
}
