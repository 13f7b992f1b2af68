package import Effects

package struct TomlFileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line each.
    package let sentences: [String]
    package var description: String { sentences.joined(separator: "\n") }
}

/// A TOML file beside the configuration, such as the policy: read whole into one type.
package enum TomlFile {
    /// - Parameter name: for messages.
    /// - Throws: everything that is wrong, with line numbers; a setting that is none is wrong too.
    package static func read<T: DefaultedConfiguration>(
        _ type: T.Type, _ text: String, name: String
    ) throws(TomlFileProblem) -> T {
        let document: TomlDocument
        do throws(TomlDocument.Fault) {
            document = try TomlDocument(text)
        } catch {
            throw TomlFileProblem(sentences: ["\(name): \(error)"])
        }
        let trace = ConfigurationTrace()
        let decoder = ConfigurationDecoder(
            overlay: document.value, fallback: ConfigurationValue(encoding: T()), path: "",
            trace: trace)
        let value = try? T(from: decoder)
        var problems = trace.faults.map { path, message in
            "\(name)\(place(path, document)): \(path) \(message)"
        }
        problems += trace.unaskedPaths(in: document.value, at: "").map { path in
            "\(name)\(place(path, document)): \(path) is no setting"
        }
        guard let value, problems.isEmpty else {
            throw TomlFileProblem(
                sentences: problems.isEmpty ? ["\(name): cannot be read"] : problems)
        }
        return value
    }

    private static func place(_ path: String, _ document: TomlDocument) -> String {
        document.lines[path].map { ", line \($0)" } ?? ""
    }
}
