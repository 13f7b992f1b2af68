import Messages

/// The wordings and signatures of a policy.
extension PolicyReview {
    /// With an app hash the phone reads the code only from a message this short (SMS Retriever).
    static let hashedMessageBytesMax = 140
    static let wordingBytesMax = 1_000
    static let signatureBytesMax = 64
    private static let codeMark = "${code}"
    private static let minutesMark = "${min}"
    /// Wordings of the dypnsapi surface, whose callers bring values of their own.
    static let edgeTemplate = "api"

    var textFindings: [Finding] {
        signatureFindings + wordingFindings
    }

    private var signatureFindings: [Finding] {
        var findings: [Finding] = []
        let rule = "takes 1 to \(Self.signatureBytesMax) bytes without brackets or line ends"
        if let signature = policy.signature, !Self.isSignature(signature) {
            findings.append(Finding(field: "policy.signature", text: rule))
        }
        let signatures = policy.signatures ?? []
        if signatures.count > Self.listCountMax {
            return findings + [Self.tooMany("policy.signatures")]
        }
        for (index, signature) in signatures.enumerated() where !Self.isSignature(signature) {
            findings.append(Finding(field: "policy.signatures[\(index)]", text: rule))
        }
        return findings
    }

    private static func isSignature(_ text: String) -> Bool {
        (1...signatureBytesMax).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.value > 0x1f && $0.value != 0x7f && !"[]【】".unicodeScalars.contains($0)
            }
    }

    private var wordingFindings: [Finding] {
        let wordings = policy.wordings ?? []
        guard wordings.count <= Self.listCountMax else {
            return [Self.tooMany("policy.wordings")]
        }
        var findings: [Finding] = []
        var seen: Set<String> = []
        for (index, wording) in wordings.enumerated() {
            let field = "policy.wordings[\(index)]"
            if !isTemplate(wording.templateId), wording.templateId != Self.edgeTemplate {
                findings.append(
                    Finding(
                        field: "\(field).templateId",
                        text: "names no template of this scheme (100001…100005, its own, or api)"))
            }
            if !Self.isLocale(wording.locale) {
                findings.append(Finding(field: "\(field).locale", text: Self.localeRule))
            }
            if !seen.insert("\(wording.templateId)/\(wording.locale)").inserted {
                findings.append(
                    Finding(field: field, text: "is the second of its template and locale"))
            }
            findings += body(wording, "\(field).body")
        }
        return findings
    }

    private func body(_ wording: MessageWording, _ field: String) -> [Finding] {
        var findings: [Finding] = []
        func find(_ text: String) { findings.append(Finding(field: field, text: text)) }
        let body = wording.body
        guard (1...Self.wordingBytesMax).contains(body.utf8.count) else {
            find("takes 1 to \(Self.wordingBytesMax) bytes")
            return findings
        }
        let marks = Self.marks(in: body)
        if marks.count(where: { $0 == Self.codeMark }) != 1 { find("must hold ${code} once") }
        if wording.templateId != Self.edgeTemplate,
            let other = marks.first(where: { $0 != Self.codeMark && $0 != Self.minutesMark })
        {
            find("holds \(other); scenes fill in ${code} and ${min} only")
        }
        if Self.bare(body).allSatisfy({ $0.isWhitespace }) { find("says nothing beside the code") }
        if body.contains("://") { find("holds a link; messages with codes carry none") }
        if body.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\n" }) {
            find("holds a control character")
        }
        if let hash = policy.androidAppHash {
            let count = renderedBytes(wording, hash)
            if count > Self.hashedMessageBytesMax {
                find(
                    """
                    comes to \(count) bytes with signature, code and app hash; a phone reads \
                    \(Self.hashedMessageBytesMax) at most
                    """)
            }
        }
        return findings
    }

    private func renderedBytes(_ wording: MessageWording, _ hash: String) -> Int {
        rendered(wording).utf8.count + 1 + hash.utf8.count
    }

    /// The longest form: `[signature] body`, with the code and the minutes filled in.
    private func rendered(_ wording: MessageWording) -> String {
        let template = policy.templates?.first { $0.templateId == wording.templateId }
        let length = template?.codeLength ?? codeLength
        let minutes = ((template?.codeLifetimeSeconds ?? lifetimeSeconds) + 59) / 60
        let body = wording.body
            .replacing(Self.codeMark, with: String(repeating: "0", count: max(0, length)))
            .replacing(Self.minutesMark, with: String(minutes))
        return (policy.signature.map { "[\($0)] " } ?? "") + body
    }

    /// Wordings that go out in several parts, and why.
    var warnings: [String] {
        (policy.wordings ?? []).enumerated().compactMap { index, wording in
            let parts = MessageParts(rendered(wording))
            guard parts.count > 1 else { return nil }
            let reason = parts.outsider.map { character in
                let scalars = character.unicodeScalars
                    .map { "U+" + String($0.value, radix: 16, uppercase: true) }
                    .joined(separator: " ")
                return ": \(character) (\(scalars)) is outside the GSM alphabet"
            }
            return "policy.wordings[\(index)] goes out in \(parts.count) parts\(reason ?? "")"
        }
    }

    /// Every `${…}` in order.
    private static func marks(in body: String) -> [String] {
        var marks: [String] = []
        var rest = body[...]
        while let start = rest.firstRange(of: "${"),
            let end = rest[start.upperBound...].firstIndex(of: "}")
        {
            marks.append(String(rest[start.lowerBound...end]))
            rest = rest[end...].dropFirst()
        }
        return marks
    }

    private static func bare(_ body: String) -> String {
        marks(in: body).reduce(body) { $0.replacing($1, with: "") }
    }
}
