import HTTPTypes
import Messages
import Primitives

/// What a caller claims, and all that is needed to judge it. Nothing is judged here but its form: the
/// token service holds the secrets, and knows every nonce of every gateway.
struct DypnsapiSignature: Sendable, Equatable {
    /// Bytes. Longer ones are not ours.
    static let keyIDBytesMax = 64
    static let securityTokenBytesMax = 4_096
    static let signatureBytesMax = 256
    static let nonceBytesMax = 128
    static let stringToSignBytesMax = 65_536

    let accessKeyID: String
    let securityToken: Secret<String>?
    let algorithm: SignatureAlgorithm
    let stringToSign: String
    let signature: String
    let nonce: String
    let timestamp: WallTime

    /// - Throws: what a caller must be told of a form that breaks a rule.
    init(
        accessKeyID: String, securityToken: String?, algorithm: SignatureAlgorithm,
        stringToSign: String, signature: String, nonce: String, timestamp: String
    ) throws(DypnsapiError) {
        guard accessKeyID.utf8.count <= Self.keyIDBytesMax else { throw .keyNotFound }
        guard (securityToken ?? "").utf8.count <= Self.securityTokenBytesMax else {
            throw .securityTokenMismatch
        }
        guard stringToSign.utf8.count <= Self.stringToSignBytesMax else { throw .tooLarge }
        guard signature.utf8.count <= Self.signatureBytesMax else {
            throw .signatureDoesNotMatch(stringToSign)
        }
        guard nonce.utf8.count <= Self.nonceBytesMax else {
            throw .invalid("SignatureNonce", "has at most \(Self.nonceBytesMax) bytes")
        }
        guard let instant = DypnsapiTime.instant(timestamp) else { throw .timestampFormat }
        self.accessKeyID = accessKeyID
        self.securityToken = securityToken.map { Secret($0) }
        self.algorithm = algorithm
        self.stringToSign = stringToSign
        self.signature = signature
        self.nonce = nonce
        self.timestamp = instant
    }

    func question(action: String) -> AuthenticateKey {
        AuthenticateKey(
            accessKeyId: accessKeyID, securityToken: securityToken, algorithm: algorithm,
            stringToSign: stringToSign, signature: signature, nonce: nonce,
            timestampMilliseconds: timestamp.millisecondsSince1970, action: action)
    }
}

/// How a request is signed.
enum DypnsapiSigning: Sendable, Equatable {
    /// The value of `Authorization`.
    case acs3(String)
    case rpc

    static let acs3Prefix = "ACS3-"

    /// A request without any signature counts as one of the RPC form, which then lacks its parts.
    init(_ headers: HTTPHeaders, _ parameters: DypnsapiParameters) throws(DypnsapiError) {
        let given = headers.values("authorization")
        if let value = given.first, value.hasPrefix(Self.acs3Prefix) {
            guard given.count == 1 else { throw .incompleteSignature }
            self = .acs3(value)
        } else if given.isEmpty || parameters["Signature"] != nil {
            self = .rpc
        } else {
            throw .invalidSignatureMethod
        }
    }

    /// Name and version of what is called, from the place that the signature covers.
    func target(
        _ headers: HTTPHeaders, _ parameters: DypnsapiParameters
    ) throws(DypnsapiError) -> (action: String, version: String) {
        switch self {
        case .rpc:
            return (try parameters.required("Action"), try parameters.required("Version"))
        case .acs3:
            guard let action = headers["x-acs-action"], !action.isEmpty else {
                throw .missing("Action")
            }
            guard let version = headers["x-acs-version"], !version.isEmpty else {
                throw .missing("Version")
            }
            return (action, version)
        }
    }
}

extension DypnsapiSignature {
    /// The RPC signature 1.0: every parameter but the signature itself is signed.
    init(rpc parameters: DypnsapiParameters, method: String) throws(DypnsapiError) {
        let keyID = try parameters.required("AccessKeyId")
        let signature = try parameters.required("Signature")
        guard try parameters.required("SignatureMethod") == SignatureAlgorithm.hmacSHA1.rawValue
        else { throw .invalidSignatureMethod }
        guard try parameters.required("SignatureVersion") == "1.0" else {
            throw .incompleteSignature
        }
        try self.init(
            accessKeyID: keyID, securityToken: parameters["SecurityToken"], algorithm: .hmacSHA1,
            stringToSign: Self.stringToSign(rpc: parameters, method: method),
            signature: signature, nonce: try parameters.required("SignatureNonce"),
            timestamp: try parameters.required("Timestamp"))
    }

    static func stringToSign(rpc parameters: DypnsapiParameters, method: String) -> String {
        let signed = parameters.all.filter { $0.name != "Signature" }
        return "\(method)&%2F&" + PercentCoding.encode(signed.canonical)
    }
}
