import Primitives
package import Storage

/// The tables of this service; nobody else reads them.
package enum TokenTables: ServiceTables {
    static let scheme = Table<SchemeRecord>(
        "scheme", key: \.code,
        indexes: [
            Index(byOwner, value: \.owner, order: \.listOrder),
            Index(byAll, value: { _ in byAll }, order: \.listOrder),
        ])
    static let schemeVersion = Table<SchemeVersionRow>(
        "scheme_version", key: \.key, expiresAt: \.expiresAt)
    static let signingKey = Table<SigningKeySet>("signing_key", key: \.name)
    static let authToken = Table<AuthToken>(
        "auth_token", key: \.id.text, expiresAt: { $0.expiresAt + AuthToken.keptAfterEnd })
    static let apiKey = Table<APIKey>(
        "api_key", key: \.id,
        indexes: [
            Index(byOwner, value: \.owner, order: { ListOrder.of(keyID: $0.id) }),
            Index(byAll, value: { _ in byAll }, order: { ListOrder.of(keyID: $0.id) }),
        ],
        expiresAt: { $0.revokedAt.map { $0 + APIKey.keptAfterEnd } })
    static let temporaryKey = Table<TemporaryKey>(
        "temporary_key", key: \.id, expiresAt: { $0.expiresAt + TemporaryKey.keptAfterEnd })
    static let nonce = Table<NonceRow>("nonce", key: \.key, expiresAt: \.expiresAt)
    static let keyWindow = Table<CallWindow>(
        "key_window", key: \.keyID, expiresAt: { $0.startedAt + CallWindow.keptFor })
    static let consumed = Table<ConsumedRow>("consumed", key: \.key, expiresAt: \.expiresAt)

    static let byOwner = "owner"
    /// Every row under one value, for operators.
    static let byAll = "all"

    package static let schemas: [TableSchema] = [
        scheme.schema, schemeVersion.schema, signingKey.schema, authToken.schema, apiKey.schema,
        temporaryKey.schema, nonce.schema, keyWindow.schema, consumed.schema,
        AnswerRow.table.schema,
    ]
}

/// Lists go up by name, but a find stops at an upper bound only: so the order is the name's number
/// negated, and a page after a name is what lies below it, highest first.
enum ListOrder {
    /// Of `FA` and digits; a code of another form comes first.
    static func of(schemeCode: String) -> Int64 {
        -(Int64(schemeCode.dropFirst(SchemeRecord.codePrefix.count)) ?? 0)
    }

    /// By the first ten characters after the prefix: 62^10 lies below 2^63.
    static func of(keyID: String) -> Int64 {
        let body = keyID.utf8.dropFirst(APIKey.idPrefix.utf8.count).prefix(10)
        var value: Int64 = 0
        for character in body {
            value = value * 62 + Int64(Text.alphanumerics.firstIndex(of: character) ?? 0)
        }
        for _ in body.count..<10 { value *= 62 }
        return -value
    }

    /// The upper bound of the page after `order`.
    static func after(_ order: Int64) -> Int64 { order - 1 }
}

/// What a single-use token of another issuer left behind.
struct ConsumedRow: StoredRow {
    let key: String
    let expiresAt: WallTime
}
