import FoundationEssentials
import Messages
import Primitives

/// The text of one SMS, with a hole where the code goes.
struct MessageText: Codable, Sendable, Equatable {
    /// UTF-8 bytes: the bound of app hash and WebOTP texts, and of every text.
    static let boundBytesMax = 140
    static let bytesMax = 1_200
    static let dots = "••••••"

    /// The code stands between each two of them.
    let pieces: [String]
    /// A code that the caller gave; it is sent, and never checked.
    let literal: String?
    /// Whether a derived code stands in the holes.
    let carriesCode: Bool

    /// - Parameter code: ignored where the text carries a literal one.
    func text(code: Secret<String>?) -> Secret<String> {
        Secret(pieces.joined(separator: literal ?? code?.reveal() ?? ""))
    }

    /// For details: what may be shown.
    var shown: String { pieces.joined(separator: Self.dots) }

    func bytesCount(codeLength: Int) -> Int {
        let code = literal?.utf8.count ?? codeLength
        return pieces.reduce((pieces.count - 1) * code) { $0 + $1.utf8.count }
    }
}

/// Makes texts: chooses a wording, fills its names, frames it with signature and last line.
struct MessageComposer: Sendable {
    let scheme: Scheme
    let templateID: String
    /// `zh…` or anything else.
    let locale: String
    let lifetime: Duration
    let codeLength: Int
    let appHash: String?
    let webOTPHost: String?

    /// Marks the code's place while a wording is filled; neither can come from outside.
    private static let hole = "\u{0}"
    private static let literalHole = "\u{1}"
    private static let mark = "##code##"
    private static let parameterBytesMax = 64
    /// Of a name that a refusal repeats.
    private static let parameterNameBytesMax = 32
    private static let parametersMax = 16

    /// - Throws: `text_refused` with the field at fault.
    func compose(_ request: MessageTextRequest?) throws(ServiceFailure) -> MessageText {
        if let body = request?.body { try judge(body, "text.body") }
        let parameters = request?.parameters ?? [:]
        try judge(parameters)
        let wording = try wording(request)
        let filled = fill(wording, names(parameters))
        try judge(filled, of: wording, parameters)
        let carriesCode = filled.contains(Self.hole)
        guard !carriesCode || !filled.contains(Self.literalHole) else {
            throw Self.refused("has a code of its own beside the derived one", "text.parameters")
        }
        var framed = try signature(request) + filled.replacing(Self.literalHole, with: Self.hole)
        guard framed.unicodeScalars.allSatisfy(Self.isPlain) else {
            throw Self.refused("control characters are not sent", "text")
        }
        if carriesCode { framed += try lastLine() }
        let text = MessageText(
            pieces: framed.split(separator: "\u{0}", omittingEmptySubsequences: false).map {
                String($0)
            }, literal: carriesCode ? nil : parameters["code"], carriesCode: carriesCode)
        try measure(text, isFramed: carriesCode && (appHash != nil || webOTPHost != nil))
        return text
    }

    static func notice(_ kind: NoticeKind, scheme: Scheme, locale: String) -> MessageText {
        let isChinese = isChinese(locale)
        let body = StandardWordings.notice(kind, isChinese: isChinese)
        return MessageText(
            pieces: [bracketed(scheme.policy.signature, isChinese: isChinese) + body],
            literal: nil, carriesCode: false)
    }

    static func isChinese(_ locale: String) -> Bool { locale.lowercased().hasPrefix("zh") }

    // MARK: -

    private func wording(_ request: MessageTextRequest?) throws(ServiceFailure) -> String {
        if let body = request?.body { return body }
        let own = (scheme.policy.wordings ?? []).filter { $0.templateId == templateID }
        if let exact = own.first(where: { $0.locale == locale }) { return exact.body }
        let language = locale.prefix { $0 != "-" && $0 != "_" }
        if let near = own.first(where: { $0.locale == language }) { return near.body }
        if let standard = StandardWordings.body(
            templateID, isChinese: Self.isChinese(locale))
        {
            return standard
        }
        if let any = own.first { return any.body }
        throw Self.refused("there is no such text", "text.templateCode")
    }

    /// Callers write wordings, not advertisements. (A scheme's own wordings are its owner's word.)
    private func judge(
        _ text: String, _ field: String, isSignature: Bool = false
    ) throws(ServiceFailure) {
        if let fault = FreeText(text, isSignature: isSignature).fault {
            throw Self.refused(fault, field)
        }
    }

    /// Values that are harmless one by one can make a link together. Where the wording has one of its
    /// own, it is not the values' fault.
    private func judge(
        _ filled: String, of wording: String, _ parameters: [String: String]
    ) throws(ServiceFailure) {
        guard !parameters.isEmpty, FreeText(wording).fault == nil else { return }
        let shown = filled.replacing(Self.literalHole, with: parameters["code"] ?? "")
            .replacing(Self.hole, with: Self.mark)
        try judge(shown, "text.parameters")
    }

    /// Line ends are, and the hole is until the code is in it.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.value != 0x7f || scalar == "\n" || scalar.value == 0
    }

    /// What stands for each name: the hole where the derived code goes, another where the caller's own.
    private func names(_ parameters: [String: String]) -> [String: String] {
        var names = parameters.mapValues { $0 == Self.mark ? Self.hole : $0 }
        names["min"] = names["min"] ?? String((lifetime.wholeMilliseconds + 59_999) / 60_000)
        switch parameters["code"] {
        case nil, Self.mark?: names["code"] = Self.hole
        case .some: names["code"] = Self.literalHole
        }
        return names
    }

    private func judge(_ parameters: [String: String]) throws(ServiceFailure) {
        guard parameters.count <= Self.parametersMax else {
            throw Self.refused("at most \(Self.parametersMax) parameters", "text.parameters")
        }
        for name in parameters.keys.sorted() {
            let value = parameters[name] ?? ""
            let field = "text.parameters.\(name.prefix(bytesMax: Self.parameterNameBytesMax))"
            guard value.utf8.count <= Self.parameterBytesMax else {
                throw Self.refused("at most \(Self.parameterBytesMax) bytes", field)
            }
            try judge(value, field)
        }
    }

    /// Names without a value stay as they are written.
    private func fill(_ body: String, _ names: [String: String]) -> String {
        var filled = ""
        var rest = body[...]
        while let open = rest.firstRange(of: "${") {
            filled += rest[..<open.lowerBound]
            let inside = rest[open.upperBound...]
            guard let close = inside.firstIndex(of: "}") else {
                rest = rest[open.lowerBound...]
                break
            }
            let name = String(inside[..<close])
            filled += names[name] ?? "${\(name)}"
            rest = inside[inside.index(after: close)...]
        }
        return (filled + rest).replacing(Self.mark, with: Self.hole)
    }

    private func signature(_ request: MessageTextRequest?) throws(ServiceFailure) -> String {
        let given = request?.signature
        if let given, let allowed = scheme.policy.signatures {
            guard allowed.contains(where: { $0.utf8.elementsEqual(given.utf8) }) else {
                throw Self.refused("the scheme has no such signature", "text.signature")
            }
        } else if let given, given != scheme.policy.signature {
            try judge(given, "text.signature", isSignature: true)
        }
        return Self.bracketed(
            given ?? scheme.policy.signature, isChinese: Self.isChinese(locale))
    }

    private static func bracketed(_ signature: String?, isChinese: Bool) -> String {
        guard let signature, !signature.isEmpty else { return "" }
        return isChinese ? "【\(signature)】" : "[\(signature)] "
    }

    private func lastLine() throws(ServiceFailure) -> String {
        if let appHash {
            guard webOTPHost == nil else {
                throw Self.refused("one of appHash and webOTPHost ends a text", "webOTPHost")
            }
            guard appHash.utf8.count == 11,
                appHash.utf8.allSatisfy({ Self.isBase64($0) })
            else { throw Self.refused("is not an app hash", "appHash") }
            return "\n\(appHash)"
        }
        guard let webOTPHost else { return "" }
        guard webOTPHost.utf8.allSatisfy({ Self.isHostByte($0) }) else {
            throw Self.refused("is not a host name", "webOTPHost")
        }
        return "\n@\(webOTPHost) #\(Self.hole)"
    }

    private func measure(_ text: MessageText, isFramed: Bool) throws(ServiceFailure) {
        let count = text.bytesCount(codeLength: codeLength)
        if isFramed, count > MessageText.boundBytesMax {
            throw Self.refused(
                "\(count) bytes; handsets read the code from at most "
                    + "\(MessageText.boundBytesMax)", "text")
        }
        guard count <= MessageText.bytesMax, count > 0 else {
            throw Self.refused("\(count) bytes; a text has 1…\(MessageText.bytesMax)", "text")
        }
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
            || (isBase64(byte) && byte != UInt8(ascii: "+") && byte != UInt8(ascii: "/"))
    }

    private static func refused(_ what: String, _ field: String) -> ServiceFailure {
        ServiceFailure(.textRefused, what, field: field)
    }
}
