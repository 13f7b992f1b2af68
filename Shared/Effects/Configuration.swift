/// Settings that have a default for everything: `init()` makes it. The configuration reader fills
/// what a layer leaves out from there, also for the elements of an array and for optional tables.
package protocol DefaultedConfiguration: Codable, Sendable {
    init()
}

/// The settings of one daemon, or of one part that several daemons share: a plain struct, Codable
/// as the compiler makes it, each field with its unit last in its name.
///
/// A value comes from, in this order: `--set section.field=value`, the variable
/// `FUSION_SECTION_FIELD`, the section of `etc/fusion.toml`, the default. Fields of type `Secret`
/// are masked wherever settings are shown.
package protocol DaemonConfiguration: DefaultedConfiguration {
    /// The TOML table, lower case: `smscode`.
    static var section: String { get }
    /// Everything that is wrong with the values together, one sentence each, beginning with the
    /// field. Empty when the daemon may start.
    func problems() -> [String]
    /// The same, with what `production = true` does not allow.
    func problems(isProduction: Bool) -> [String]
}

extension DaemonConfiguration {
    package func problems() -> [String] { [] }
    package func problems(isProduction: Bool) -> [String] { problems() }
}
