public import Primitives

/// Answers what it was told; for bus tests and as a template for new services.
public struct EchoText: BusRequest {
    public typealias Reply = EchoedText
    public static let method = Method(
        "echo.echo", .read, callers: [.integrator, .gateway, .service, .operator])
    public let text: String
    /// 0…10000: holds the answer back.
    public let delayMilliseconds: Int64?

    public init(text: String, delayMilliseconds: Int64? = nil) {
        self.text = text
        self.delayMilliseconds = delayMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(text, in: 0...65_536, "text")
        try Check.range(delayMilliseconds, in: 0...10_000, "delayMilliseconds")
    }
}

/// The same text.
public struct EchoedText: Codable, Sendable, Hashable {
    public let text: String

    public init(text: String) {
        self.text = text
    }
}
