import Messages
import Primitives

/// Judges a policy before it becomes a version: what cannot be met, or would not be safe, is
/// refused here and nowhere later.
struct PolicyReview: Sendable {
    struct Finding: Sendable, Equatable {
        /// Dotted, from the request's root.
        let field: String
        let text: String
    }

    static let lifetimeRange: ClosedRange<Int64> = 60...600
    static let cooldownRange: ClosedRange<Int64> = 1...3_600
    static let policyBytesMax = 65_536
    static let listCountMax = 100
    /// Findings that one answer names.
    static let findingsNamedMax = 8

    let app: AppIdentity
    let policy: SchemePolicy
    /// The version before; what stood there already is not refused for having grown old.
    let previous: SchemePolicy?
    let now: WallTime

    var codeLength: Int { policy.codeLength ?? 6 }
    var codeType: Int { policy.codeType ?? 1 }
    var lifetimeSeconds: Int64 { policy.codeLifetimeSeconds ?? 300 }

    /// - Throws: `invalid_parameters` for an app that cannot be one, `policy_refused` for the rest.
    func refuse(policyBytesCount: Int) throws(ServiceFailure) {
        try Self.refuse(AppReview(app: app).findings, .invalidParameters)
        guard policyBytesCount <= Self.policyBytesMax else {
            throw ServiceFailure(
                .policyRefused,
                "a policy takes at most \(Self.policyBytesMax) bytes; this has \(policyBytesCount)",
                field: "policy")
        }
        try Self.refuse(findings, .policyRefused)
    }

    private static func refuse(
        _ findings: [Finding], _ code: ErrorCode
    ) throws(ServiceFailure) {
        guard let first = findings.first else { return }
        // What is wrong with an app says so itself, to callers who know other names of its fields.
        let namesFields = code == .policyRefused
        let named = findings.prefix(findingsNamedMax).map {
            namesFields ? "\($0.field): \($0.text)" : $0.text
        }
        let rest = findings.count - named.count
        throw ServiceFailure(
            code, named.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : ""),
            field: first.field)
    }

    /// Everything that is wrong, in the order of the policy's fields.
    var findings: [Finding] {
        codeFindings + timeFindings + wordFindings + textFindings + testNumberFindings
            + templateFindings
    }

    // MARK: -

    private var codeFindings: [Finding] {
        var findings: [Finding] = []
        if !CodeSpace.typeRange.contains(codeType) {
            findings.append(Self.range("policy.codeType", CodeSpace.typeRange))
        }
        let guessing = guessing(
            length: codeLength, lifetimeSeconds: lifetimeSeconds, field: "policy.codeLength")
        if guessing.isEmpty, !CodeSpace.lengthRange.contains(codeLength) {
            findings.append(Self.range("policy.codeLength", CodeSpace.lengthRange))
        }
        return findings + guessing
    }

    /// The chance of guessing, with the arithmetic.
    func guessing(length: Int, lifetimeSeconds: Int64, field: String) -> [Finding] {
        let space = CodeSpace(
            length: length, type: codeType, caseSensitive: policy.caseSensitive ?? false)
        let liveCodes = CodeSpace.liveCodes(
            policy.duplicatePolicy ?? .newest, lifetimeSeconds: lifetimeSeconds,
            cooldownSeconds: policy.cooldownSeconds ?? 60)
        return space.shortfall(liveCodes: liveCodes).map { [Finding(field: field, text: $0)] } ?? []
    }

    private var timeFindings: [Finding] {
        var findings: [Finding] = []
        if let span = policy.codeLifetimeSeconds, !Self.lifetimeRange.contains(span) {
            findings.append(Self.range("policy.codeLifetimeSeconds", Self.lifetimeRange))
        }
        if let span = policy.cooldownSeconds, !Self.cooldownRange.contains(span) {
            findings.append(Self.range("policy.cooldownSeconds", Self.cooldownRange))
        }
        return findings
    }

    private var wordFindings: [Finding] {
        var findings: [Finding] = []
        if let region = policy.defaultRegion, !Text.matches(region, 2...2, Text.isUpper) {
            findings.append(
                Finding(field: "policy.defaultRegion", text: "takes two capital letters (ISO 3166)")
            )
        }
        if let locale = policy.locale, !Self.isLocale(locale) {
            findings.append(Finding(field: "policy.locale", text: Self.localeRule))
        }
        if let hash = policy.androidAppHash, !Self.isAppHash(hash) {
            findings.append(
                Finding(
                    field: "policy.androidAppHash", text: "takes exactly 11 characters of base64"))
        }
        if let host = policy.webOTPHost, !Text.isHost(host) {
            findings.append(
                Finding(
                    field: "policy.webOTPHost",
                    text: "takes a host name in lower case, without scheme, port or path"))
        }
        return findings
    }

    static let localeRule = "takes a language tag such as en or zh-Hant"

    static func isLocale(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count <= 3, let language = parts.first,
            Text.matches(String(language), 2...3, Text.isLower)
        else { return false }
        return parts.dropFirst().allSatisfy {
            Text.matches(String($0), 2...8, Text.isAlphanumeric)
        }
    }

    private static func isAppHash(_ text: String) -> Bool {
        Text.matches(text, 11...11) {
            Text.isAlphanumeric($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
        }
    }

    static func range<Value>(_ field: String, _ range: ClosedRange<Value>) -> Finding {
        Finding(field: field, text: "must lie in \(range.lowerBound)…\(range.upperBound)")
    }

    static func tooMany(_ field: String, _ max: Int = listCountMax) -> Finding {
        Finding(field: field, text: "takes at most \(max) entries")
    }
}
