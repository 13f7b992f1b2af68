/// `[echo]` of `etc/fusion.toml`.
package struct EchoConfiguration: Codable, Sendable {
    /// Bytes of UTF-8, at most the schema's own bound.
    package var textBytesMax: Int = 65_536

    package init() {}

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let standard = Self()
        textBytesMax =
            try container.decodeIfPresent(Int.self, forKey: .textBytesMax) ?? standard.textBytesMax
    }

    /// Every fault at once; empty when the configuration can be used.
    package func problems() -> [String] {
        (1...65_536).contains(textBytesMax) ? [] : ["echo.textBytesMax must lie in 1…65536"]
    }
}
