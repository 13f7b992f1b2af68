import Foundation

/// The auth token that the app's own server fetched. Prints as `<secret>`.
public struct FusionAuthToken: Hashable, Sendable, CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    public let authToken: String

    public init(_ authToken: String) {
        self.authToken = authToken.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(reflecting: "<secret>") }
}

extension FusionAuthToken {
    /// What the SDK reads of it: a JWS in compact form (RFC 7515) whose payload has `sub` and `exp`.
    /// Its signature is the gateway's to judge.
    package struct Claims: Codable, Hashable, Sendable {
        /// The scheme code.
        package let sub: String
        /// Seconds since 1970.
        package let exp: Int64
    }

    /// nil when it is no auth token at all.
    package var claims: Claims? {
        let parts = authToken.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: String(text)).flatMap {
            try? JSONDecoder().decode(Claims.self, from: $0)
        }
    }
}
