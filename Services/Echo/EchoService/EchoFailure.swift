import Primitives

/// Decision → failure. Nothing else in this service decides codes.
enum EchoFailure {
    static func textTooLong(bytesMax: Int) -> ServiceFailure {
        ServiceFailure(
            .invalidParameters, "takes at most \(bytesMax) bytes of UTF-8", field: "text")
    }

    static let cancelled = ServiceFailure(.unavailable, "the service is going away")
}
