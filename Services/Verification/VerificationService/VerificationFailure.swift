import Primitives

/// Decision → failure. Nothing else in this service decides codes.
enum VerificationFailure {
    static let notFound = ServiceFailure(
        .verificationNotFound, "there is no such verification", field: "verificationId")
    static let carrierTokenInvalid = ServiceFailure(
        .tokenInvalid, "the carrier does not take this token, or it was used", field: "carrierToken"
    )
    static let carrierUnavailable = ServiceFailure(
        .carrierUnavailable, "the carrier did not answer; ask again with the same token")
    static let cancelled = ServiceFailure(.unavailable, "the service is going away")
    static let unreadable = ServiceFailure(
        .internalFault, "a stored verification could not be opened")
    static let lifetime = ServiceFailure(
        .invalidParameters, "must lie ahead, by at most 10 minutes", field: "expiresAtMilliseconds")
    static let schemeRequired = ServiceFailure(
        .invalidParameters, "is missing", field: "schemeCode")

    static func day(_ field: String) -> ServiceFailure {
        ServiceFailure(.invalidParameters, "is not a day as yyyyMMdd", field: field)
    }

    static let span = ServiceFailure(
        .invalidParameters, "must not lie before fromDay, nor more than 31 days be asked for",
        field: "toDay")
}
