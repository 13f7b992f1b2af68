import Primitives

/// Decision → failure. Nothing else in this service decides codes.
enum TokenFailure {
    static let schemeNotFound = ServiceFailure(
        .schemeNotFound, "there is no such scheme", field: "schemeCode")
    static let schemeDisabled = ServiceFailure(
        .schemeDisabled, "the scheme is switched off", field: "schemeCode")
    static let versionNotFound = ServiceFailure(
        .schemeNotFound, "there is no such version of this scheme", field: "version")
    static func versionConflict(present: Int64) -> ServiceFailure {
        ServiceFailure(
            .versionConflict, "the scheme is at version \(present) now", field: "expectedVersion")
    }
    static func consumedTooLate(max: Duration) -> ServiceFailure {
        ServiceFailure(
            .invalidParameters, "lies more than \(max.wholeMilliseconds / 86_400_000) days away",
            field: "untilMilliseconds")
    }
    static let foreignOwner = ServiceFailure(
        .notAllowed, "only an operator names another owner", field: "owner")
    static func tooManySchemes(max: Int) -> ServiceFailure {
        ServiceFailure(.tooMany, "an owner registers at most \(max) schemes", field: "owner")
    }
    static let noFreeName = ServiceFailure(
        .internalFault, "no free name was drawn; ask again")

    static func appMismatch(_ field: String) -> ServiceFailure {
        ServiceFailure(.appMismatch, "this is not the app of the scheme", field: field)
    }
    static let tokenInvalid = ServiceFailure(
        .tokenInvalid, "this is not an auth token of ours", field: "authToken")
    static let tokenIDUnknown = ServiceFailure(
        .tokenInvalid, "there is no such auth token", field: "tokenId")
    static func tooManySigningKeys(max: Int) -> ServiceFailure {
        ServiceFailure(
            .tooMany,
            "at most \(max) signing keys are kept; the oldest leaves 48 hours after its end")
    }

    static let keyNotFound = ServiceFailure(
        .keyNotFound, "there is no such access key", field: "accessKeyId")
    static let keyInactive = ServiceFailure(
        .keyInactive, "the access key was revoked", field: "accessKeyId")
    static let moreThanParent = ServiceFailure(
        .notAllowed, "a temporary key may do no more than its parent")
    static func schemeNotOfOwner(_ field: String) -> ServiceFailure {
        ServiceFailure(.schemeNotFound, "this owner has no such scheme", field: field)
    }
    static let securityTokenInvalid = ServiceFailure(
        .tokenInvalid, "the security token does not belong to this key", field: "securityToken")
    static let securityTokenExpired = ServiceFailure(
        .tokenExpired, "the temporary key has expired", field: "securityToken")
    static let signatureMismatch = ServiceFailure(
        .signatureMismatch, "the signature does not fit the string to sign", field: "signature")
    static let nonceUsed = ServiceFailure(
        .nonceUsed, "this nonce was used before", field: "nonce")
    static let timestampExpired = ServiceFailure(
        .timestampExpired, "the timestamp lies more than 15 minutes from now",
        field: "timestampMilliseconds")
    static let actionForbidden = ServiceFailure(
        .actionForbidden, "the access key does not cover this action", field: "action")
    static func callsUsedUp(retryAfter: Duration) -> ServiceFailure {
        ServiceFailure(
            .rateLimited, "the calls of this second are used up",
            retryAfterMilliseconds: retryAfter.wholeMilliseconds)
    }

    static let sealedValueLost = ServiceFailure(
        .internalFault, "a sealed value could not be opened")
    static let signingFailed = ServiceFailure(.internalFault, "a token could not be signed")
}
