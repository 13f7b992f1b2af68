import HTTPTypes
import Messages
import Primitives

/// `Authorization: ACS3-HMAC-SHA256 Credential=…,SignedHeaders=…,Signature=…`.
struct ACS3Authorization: Sendable, Equatable {
    /// What the canonical request must cover, else parts of a call could be changed on their way.
    static let fieldsSigned = [
        "host", "x-acs-action", "x-acs-content-sha256", "x-acs-date", "x-acs-signature-nonce",
        "x-acs-version",
    ]
    /// These too, where they are sent.
    static let fieldsSignedWhenSent = [
        "idempotency-key", "x-acs-accesskey-id", "x-acs-security-token",
    ]
    /// Counts where it is signed, and else not: an official client adds one after it has signed.
    static let contentTypeField = "content-type"
    static let fieldsCountMax = 64

    let accessKeyID: String
    /// As the client listed them.
    let signedHeaders: String
    let signature: String

    var fields: [String] {
        signedHeaders.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    }

    /// Whether the media type of the body counts. True where no ACS3 signature could tell: what cannot
    /// be read is refused for that.
    static func admitsMediaType(_ headers: HTTPHeaders) -> Bool {
        guard let value = headers["authorization"], value.hasPrefix(DypnsapiSigning.acs3Prefix),
            let authorization = try? ACS3Authorization(value)
        else { return true }
        return authorization.fields.contains(contentTypeField)
    }

    /// Spaces around the commas are taken.
    init(_ value: String) throws(DypnsapiError) {
        let halves = value.split(separator: " ", maxSplits: 1)
        guard halves.first.map(String.init) == SignatureAlgorithm.acs3HMACSHA256.rawValue else {
            throw .invalidSignatureMethod
        }
        var parts: [String: String] = [:]
        for part in (halves.dropFirst().first ?? "").split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { String($0).trimmedSpaces }
            guard pair.count == 2, parts.updateValue(pair[1], forKey: pair[0]) == nil else {
                throw .incompleteSignature
            }
        }
        guard parts.count == 3, let accessKeyID = parts["Credential"],
            let signedHeaders = parts["SignedHeaders"], let signature = parts["Signature"]
        else { throw .incompleteSignature }
        self.accessKeyID = accessKeyID
        self.signedHeaders = signedHeaders
        self.signature = signature
        let fields = fields
        guard fields.count <= Self.fieldsCountMax, Set(fields).count == fields.count,
            fields.allSatisfy({ !$0.isEmpty && $0 == $0.lowercased() }),
            Self.fieldsSigned.allSatisfy(fields.contains)
        else { throw .incompleteSignature }
    }
}

/// The canonical request of an ACS3 signature, made from what arrived.
struct ACS3Request: Sendable, Equatable {
    let authorization: ACS3Authorization
    let text: String

    /// - Parameter payloadHash: of the body that arrived, lower-case hex.
    /// - Throws: `IncompleteSignature` where a signed field is not there, or one that is read is there
    ///   twice.
    init(
        _ request: HTTPRequest, _ parameters: DypnsapiParameters,
        _ authorization: ACS3Authorization, payloadHash: String
    ) throws(DypnsapiError) {
        self.authorization = authorization
        let fields = authorization.fields
        for name in ACS3Authorization.fieldsSignedWhenSent
        where request.headers[name] != nil && !fields.contains(name) {
            throw .incompleteSignature
        }
        let read =
            ACS3Authorization.fieldsSigned + ACS3Authorization.fieldsSignedWhenSent
            + [ACS3Authorization.contentTypeField]
        var lines = ""
        for name in fields.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let values = request.headers.values(name).map(\.trimmedSpaces)
            guard let first = values.first, values.count == 1 || !read.contains(name) else {
                throw .incompleteSignature
            }
            let value = values.count == 1 ? first : values.sorted().joined(separator: ",")
            lines += "\(name):\(value)\n"
        }
        text = [
            request.method, "/", parameters.query.canonical, lines, authorization.signedHeaders,
            payloadHash,
        ].joined(separator: "\n")
    }

    static func stringToSign(requestHash: String) -> String {
        "\(SignatureAlgorithm.acs3HMACSHA256.rawValue)\n\(requestHash)"
    }
}

extension DypnsapiSignature {
    /// - Parameter sha256: of bytes, lower-case hex.
    init(
        acs3 value: String, _ request: HTTPRequest, _ parameters: DypnsapiParameters,
        sha256: ([UInt8]) -> String
    ) throws(DypnsapiError) {
        let authorization = try ACS3Authorization(value)
        let payloadHash = sha256(request.body)
        let canonical = try ACS3Request(
            request, parameters, authorization, payloadHash: payloadHash)
        let stringToSign = ACS3Request.stringToSign(
            requestHash: sha256(Array(canonical.text.utf8)))
        func field(_ name: String) -> String? {
            request.headers[name]?.trimmedSpaces
        }
        // Who announces another body has signed another request.
        guard field("x-acs-content-sha256") == payloadHash else {
            throw .signatureDoesNotMatch(stringToSign)
        }
        if let named = field("x-acs-accesskey-id"), named != authorization.accessKeyID {
            throw .securityTokenMismatch
        }
        guard let nonce = field("x-acs-signature-nonce"), !nonce.isEmpty else {
            throw .missing("SignatureNonce")
        }
        try self.init(
            accessKeyID: authorization.accessKeyID,
            securityToken: field("x-acs-security-token").flatMap { $0.isEmpty ? nil : $0 },
            algorithm: .acs3HMACSHA256, stringToSign: stringToSign,
            signature: authorization.signature, nonce: nonce,
            timestamp: field("x-acs-date") ?? "")
    }
}
