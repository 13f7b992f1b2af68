import FoundationEssentials
package import Primitives

/// Claims of an access token (RFC 9068, RFC 8176). Nothing in them is to be believed before the
/// signature was judged.
package struct AccessTokenClaims: Sendable, Hashable, Decodable {
    package let issuer: String
    package let subject: String?
    package let audience: [String]
    /// Seconds since 1970, a fraction dropped.
    package let expiresAtSeconds: Int64
    package let issuedAtSeconds: Int64?
    package let notBeforeSeconds: Int64?
    package let tokenID: String?
    package let scopes: Set<String>
    package let methods: [String]
    package let clientID: String?
    /// Every claim that is a text, by name: issuers put the device's number where they like.
    package let texts: [String: String]

    package var expiresAt: WallTime { Self.instant(expiresAtSeconds) }
    package var issuedAt: WallTime? { issuedAtSeconds.map(Self.instant) }
    package var notBefore: WallTime? { notBeforeSeconds.map(Self.instant) }

    /// Far from what arithmetic cannot hold.
    private static let secondsMax = 1e12

    private static func instant(_ seconds: Int64) -> WallTime {
        WallTime(millisecondsSince1970: seconds * 1000)
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        func list(_ name: String) throws -> [String]? {
            let key = Name(name)
            guard members.contains(key) else { return nil }
            if let one = try? members.decode(String.self, forKey: key) { return [one] }
            return try members.decode([String].self, forKey: key)
        }
        func seconds(_ name: String) throws -> Int64? {
            let key = Name(name)
            guard members.contains(key) else { return nil }
            let value = try members.decode(Double.self, forKey: key)
            guard abs(value) <= Self.secondsMax else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: members, debugDescription: "out of range")
            }
            return Int64(value.rounded(.down))
        }
        issuer = try members.decode(String.self, forKey: Name("iss"))
        audience = try list("aud") ?? []
        guard let expiresAt = try seconds("exp") else {
            throw DecodingError.dataCorruptedError(
                forKey: Name("exp"), in: members, debugDescription: "missing")
        }
        expiresAtSeconds = expiresAt
        issuedAtSeconds = try seconds("iat")
        notBeforeSeconds = try seconds("nbf")
        // A text of words (RFC 9068 §2.2.3); some issuers write a list of them.
        scopes = Set(
            (try list("scope") ?? []).flatMap { $0.split(separator: " ").map(String.init) })
        methods = try list("amr") ?? []
        var texts: [String: String] = [:]
        for key in members.allKeys {
            if let text = try? members.decode(String.self, forKey: key) {
                texts[key.stringValue] = text
            }
        }
        subject = texts["sub"]
        tokenID = texts["jti"]
        clientID = texts["client_id"]
        self.texts = texts
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }
}
