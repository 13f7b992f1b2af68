/// The command line that every daemon understands.
package struct DaemonArguments: Hashable, Sendable {
    package struct UsageProblem: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package var home: String?
    package var configurationFile: String?
    package var instance: String?
    package var assignments: [String] = []
    package var checksConfiguration = false
    package var printsConfiguration = false
    package var printsVersion = false
    package var printsHelp = false
    package var isForeground = false
    package var diesWithParent = false

    /// - Parameter words: without the program's name; `--flag=value` is `--flag value`.
    package init(_ words: [String]) throws(UsageProblem) {
        var rest = words[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            let attached = parts.count == 2 ? parts.last.map(String.init) : nil
            if try readSwitch(name, attached) { continue }
            guard Self.valued.contains(name) else {
                throw UsageProblem(description: "\(word) is no flag; --help lists them")
            }
            guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
                throw UsageProblem(description: "\(name) needs a value")
            }
            try read(name, value)
        }
    }

    private static let valued = ["--home", "--config", "--instance", "--set"]

    private mutating func readSwitch(
        _ name: String, _ attached: String?
    ) throws(UsageProblem) -> Bool {
        let field: WritableKeyPath<Self, Bool>
        switch name {
        case "--check-config": field = \.checksConfiguration
        case "--print-config": field = \.printsConfiguration
        case "--version": field = \.printsVersion
        case "--help", "-h": field = \.printsHelp
        case "--foreground": field = \.isForeground
        case "--die-with-parent": field = \.diesWithParent
        default: return false
        }
        guard attached == nil else { throw UsageProblem(description: "\(name) takes no value") }
        self[keyPath: field] = true
        return true
    }

    private mutating func read(_ name: String, _ value: String) throws(UsageProblem) {
        switch name {
        case "--home": home = value
        case "--config": configurationFile = value
        case "--set": assignments.append(value)
        default:
            guard Self.isInstanceName(value) else {
                throw UsageProblem(
                    description: "--instance takes 1…32 letters, digits and dashes, not \(value)")
            }
            instance = value
        }
    }

    /// An instance's name is part of file names and of the service name `<service>@<instance>`.
    package static func isInstanceName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    package static func help(_ daemon: String) -> String {
        """
        Usage: \(daemon) [flags]

          --home DIR           the home; else $FUSION_HOME, else ./.fusion
          --config FILE        configuration; else etc/fusion.toml of the home
          --set section.field=value   one setting, over file and variables; may be repeated
          --instance ID        name of this instance; else the smallest free number
          --check-config       say everything that is wrong with the configuration, and end
          --print-config       show the settings in effect and where each comes from, and end
          --foreground         log to stderr also when it is no terminal
          --die-with-parent    end when the process that started this one ends
          --version            show the version, and end

        SIGTERM and SIGINT drain and end; a second one ends at once. SIGHUP reloads keys and policy.
        Exit status: 0 drained, 1 a part failed, 64 wrong flags, 70 could not start,
        75 the drain took too long, 78 wrong configuration.

        """
    }
}
