package import Primitives

/// Codes that HTTP alone has; the bus never answers them.
extension ErrorCode {
    /// No such path. The calling team mends its URL.
    package static let pathNotFound = Self(rawValue: "path_not_found")
    /// The path takes other methods; `Allow` lists them.
    package static let methodNotAllowed = Self(rawValue: "method_not_allowed")
    /// The body is larger than the path takes.
    package static let bodyTooLarge = Self(rawValue: "body_too_large")
    /// The body is not of the media type that the path takes.
    package static let mediaTypeUnsupported = Self(rawValue: "media_type_unsupported")
}

/// The one table from reasons to statuses (RFC 9110 §15).
package enum HTTPStatus {
    private static let codes: [(status: Int, codes: [ErrorCode])] = [
        (
            400,
            [.invalidParameters, .numberInvalid, .numberMismatch, .textRefused, .policyRefused]
        ),
        (
            401,
            [
                .tokenInvalid, .tokenExpired, .tokenRevoked, .signatureMismatch, .nonceUsed,
                .timestampExpired,
            ]
        ),
        (403, [.notAllowed, .appMismatch, .schemeDisabled, .actionForbidden, .keyInactive]),
        (404, [.methodNotFound]),
        (405, [.methodNotAllowed]),
        (
            409,
            [
                .conflict, .versionConflict, .runEnded, .passNotOnRecord, .inputNotExpected,
                .belongsToRun,
            ]
        ),
        (413, [.bodyTooLarge]),
        (415, [.mediaTypeUnsupported]),
        (
            429,
            [
                .rateLimited, .cooldown, .numberLimit, .addressLimit, .tooMany, .guessesExhausted,
            ]
        ),
        (500, [.internalFault]),
        (502, [.providerRefused, .providerUnavailable, .carrierUnavailable]),
        (503, [.unavailable, .overloaded, .workerLost]),
        (504, [.deadlinePassed]),
    ]

    private static let byCode = Dictionary(
        codes.flatMap { entry in entry.codes.map { ($0, entry.status) } },
        uniquingKeysWith: { first, _ in first })

    /// 404 for every `…_not_found`, 500 for a code that this table does not know.
    package static func of(_ code: ErrorCode) -> Int {
        byCode[code] ?? (code.rawValue.hasSuffix("_not_found") ? 404 : 500)
    }

    /// The plain reason of a status that is a fault of ours.
    static func code(ofFault status: Int) -> ErrorCode {
        switch status {
        case 503: .unavailable
        case 504: .deadlinePassed
        default: .internalFault
        }
    }

    /// The reason phrase of a status that our edges answer.
    package static func title(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 429: "Too Many Requests"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Internal Server Error"
        }
    }
}
