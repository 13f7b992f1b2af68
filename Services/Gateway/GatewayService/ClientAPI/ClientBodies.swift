package import Messages

/// What a token holder may know of its token, and what it can start.
package struct ClientSession: Codable, Sendable, Hashable {
    package let schemeCode: String
    package let platform: AppPlatform
    /// Bundle id, package name or origin.
    package let app: String
    package let issuedAtMilliseconds: Int64
    package let expiresAtMilliseconds: Int64
    /// For a device whose clock is wrong.
    package let serverTimeMilliseconds: Int64
    package let templates: [TemplateSummary]
}

/// `StartScene` without what the gateway adds.
package struct StartSceneBody: Codable, Sendable, Hashable {
    package let templateId: String
    package let deviceId: String?
    package let capabilities: ClientCapabilities?
    package let locale: String?
}

package struct SubmitInputBody: Codable, Sendable, Hashable {
    package let step: Int
    package let input: NodeInput
}

/// Of continue and half-way alike.
package struct AnswerStepBody: Codable, Sendable, Hashable {
    package let step: Int
    package let isSuccess: Bool
}

/// `{}`, or no body at all.
package struct StopSceneBody: Codable, Sendable, Hashable {
    package init() {}
}
