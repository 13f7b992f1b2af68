import Messages
import Primitives

/// Failures of services in the words of this surface. Nothing else here decides codes.
enum DypnsapiFailure {
    /// Names of parameters by the fields that services name.
    static let parameters = [
        "schemeCode": "SchemeCode", "durationSeconds": "DurationSeconds", "bundleId": "BundleId",
        "packageName": "PackageName", "packageSign": "PackageSign", "origin": "Origin",
        "maskToken": "VerifyToken", "number": "PhoneNumber", "code": "VerifyCode",
        "purpose": "SchemeName", "codeLength": "CodeLength", "codeType": "CodeType",
        "lifetimeSeconds": "ValidTime", "cooldownSeconds": "Interval", "outId": "OutId",
        "text.signature": "SignName", "text.templateCode": "TemplateCode",
        "text.parameters": "TemplateParam", "text": "TemplateParam", "day": "SendDate",
        "page": "CurrentPage", "pageSize": "PageSize", "name": "SchemeName",
    ]

    /// `key.internal.authenticate`: who calls.
    static func ofKey(_ failure: ServiceFailure, _ signature: DypnsapiSignature) -> DypnsapiError {
        switch failure.code {
        case .keyNotFound: .keyNotFound
        case .keyInactive: .keyInactive
        case .signatureMismatch: .signatureDoesNotMatch(signature.stringToSign)
        case .nonceUsed: .nonceUsed
        case .timestampExpired: .timestampExpired
        case .rateLimited: .throttled(retryAfterMilliseconds: failure.retryAfterMilliseconds)
        case .actionForbidden: .forbidden
        case .tokenInvalid:
            signature.securityToken == nil ? .securityTokenMissing : .securityTokenMismatch
        case .tokenExpired: .securityTokenExpired
        // The bus refuses the gateway itself: no caller can mend that.
        case .notAllowed: .internalError
        default: ofAnything(failure)
        }
    }

    /// What every action has in common.
    static func ofAnything(
        _ failure: ServiceFailure, _ names: [String: String] = [:]
    ) -> DypnsapiError {
        switch failure.code {
        case .invalidParameters, .numberInvalid, .textRefused, .policyRefused:
            .invalid(parameter(failure.field, names), failure.message)
        case .schemeNotFound: .schemeNotExist
        case .schemeDisabled: .schemeNotPassed
        case .notAllowed: .forbidden
        case .conflict, .versionConflict: .otherBody
        case .rateLimited: .throttled(retryAfterMilliseconds: failure.retryAfterMilliseconds)
        case .unavailable, .overloaded, .workerLost, .deadlinePassed, .carrierUnavailable,
            .providerUnavailable:
            .unavailable(retryAfterMilliseconds: failure.retryAfterMilliseconds)
        default: .internalError
        }
    }

    /// Fusion authentication.
    static func ofFusion(_ failure: ServiceFailure) -> DypnsapiError {
        switch failure.code {
        case .appMismatch:
            .business(
                "isv.INVALID_APP",
                "The \(parameter(failure.field, [:]) ?? "app") is not that of the scheme.",
                reason: failure.code.rawValue)
        default: ofAnything(failure)
        }
    }

    /// Codes by SMS.
    static func ofSMS(_ failure: ServiceFailure) -> DypnsapiError {
        let wait = failure.retryAfterMilliseconds
        let reason = failure.code.rawValue
        return switch failure.code {
        case .cooldown:
            .business(
                "biz.FREQUENCY", "check frequency failed" + again(wait), reason: reason,
                retryAfterMilliseconds: wait)
        case .numberLimit, .addressLimit:
            .business(
                "isv.BUSINESS_LIMIT_CONTROL", limitText(failure) + again(wait),
                reason: failure.field ?? reason, retryAfterMilliseconds: wait)
        case .guessesExhausted:
            .business(
                "isv.BUSINESS_LIMIT_CONTROL",
                "Too many wrong codes were entered for this number" + again(wait),
                reason: reason, retryAfterMilliseconds: wait)
        case .numberInvalid:
            .business(
                "isv.MOBILE_NUMBER_ILLEGAL", "The mobile number is illegal.", reason: reason)
        case .invalidParameters where failure.field == "number":
            .business(
                "isv.MOBILE_NUMBER_ILLEGAL", "The mobile number is illegal.", reason: reason)
        case .invalidParameters, .textRefused, .policyRefused:
            .business(
                "isv.INVALID_PARAMETERS", sentence(failure, [:]), reason: reason)
        case .providerRefused, .providerUnavailable:
            .business(
                "isv.OUT_OF_SERVICE", "No SMS provider took the message.", reason: reason)
        case .schemeNotFound:
            .business(
                "isv.VERIFY_SCHEME_NOT_EXIST", "The scheme does not exist.", reason: reason)
        case .schemeDisabled: .functionNotOpened
        default: ofAnything(failure)
        }
    }

    /// Number authentication by a token of the carrier.
    static func ofNumber(
        _ failure: ServiceFailure, tokenParameter: String
    ) -> DypnsapiError {
        let reason = failure.code.rawValue
        return switch failure.code {
        case .tokenInvalid:
            .business(
                "isv.TOKEN_INVALID", "The \(tokenParameter) is not valid or was used.",
                reason: reason)
        case .numberInvalid:
            .business(
                "isv.MOBILE_NUMBER_ILLEGAL", "The mobile number is illegal.", reason: reason)
        case .schemeNotFound:
            .business(
                "isv.VERIFY_SCHEME_NOT_EXIST", "The scheme does not exist.", reason: reason)
        default: ofAnything(failure, ["carrierToken": tokenParameter])
        }
    }

    /// Making and ending schemes.
    static func ofSchemes(
        _ failure: ServiceFailure, _ names: [String: String] = [:]
    ) -> DypnsapiError {
        switch failure.code {
        case .tooMany: .schemeOverLimit
        case .schemeNotFound: .sceneQueryFail
        default: ofAnything(failure, names)
        }
    }

    // MARK: -

    /// `text.parameters.min` is of `TemplateParam`.
    private static func parameter(_ field: String?, _ names: [String: String]) -> String? {
        guard var field else { return nil }
        while true {
            if let name = names[field] ?? parameters[field] { return name }
            guard let dot = field.lastIndex(of: ".") else { return nil }
            field = String(field[..<dot])
        }
    }

    static func sentence(_ failure: ServiceFailure, _ names: [String: String]) -> String {
        parameter(failure.field, names).map { "\($0): \(failure.message)" } ?? failure.message
    }

    /// Programs look for the Chinese words, which name the window.
    private static func limitText(_ failure: ServiceFailure) -> String {
        let permits = number(in: failure.message).map { "Permits:\($0)" } ?? ""
        return switch failure.field {
        case "hour", "address_hour": "触发小时级流控" + permits
        default: "触发天级流控" + permits
        }
    }

    /// The limit stands in the sentence alone.
    private static func number(in sentence: String) -> Substring? {
        sentence.split { !$0.isASCII || !$0.isNumber }.first
    }

    private static func again(_ milliseconds: Int64?) -> String {
        guard let milliseconds, milliseconds > 0 else { return "" }
        return ", try again in \((milliseconds + 999) / 1000) s"
    }
}
