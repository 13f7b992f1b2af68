import Effects

/// `[echo]` of `etc/fusion.toml`.
package struct EchoConfiguration: DaemonConfiguration {
    package static let section = "echo"

    /// Bytes of UTF-8, at most the schema's own bound.
    package var textBytesMax: Int = 65_536

    package init() {}

    package func problems() -> [String] {
        (1...65_536).contains(textBytesMax) ? [] : ["textBytesMax must lie in 1…65536"]
    }
}
