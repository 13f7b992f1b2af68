/// Metric names and log keys, declared once.
enum TokenSignals {
    /// Labels: `platform`.
    static let tokensIssued = "token_issued_total"
    /// Labels: `state` (`active`, or why not).
    static let tokensJudged = "token_introspected_total"
    static let tokensRevoked = "token_revoked_total"
    /// Labels: `result` (`ok`, or the failure's code).
    static let callsAuthenticated = "token_key_authenticated_total"

    enum Key {
        static let scheme = "scheme.code"
        static let version = "scheme.version"
        static let signingKey = "signing_key.id"
        static let accessKey = "access_key.id"
        static let principal = "principal"
    }
}
