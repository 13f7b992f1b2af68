/// What a command line may hold, as data: parsing, help and the README's table come from it.
package struct CommandSyntax: Sendable {
    package struct Option: Sendable {
        /// Without the dashes.
        let name: String
        /// What the value is (`DIR`); nil for a flag.
        let value: String?
        let help: String
        /// It may stand alone, as a flag.
        var isValueOptional = false

        static func flag(_ name: String, _ help: String) -> Self {
            Self(name: name, value: nil, help: help)
        }
        static func value(_ name: String, _ value: String, _ help: String) -> Self {
            Self(name: name, value: value, help: help)
        }
        /// Of commands without operands only: the next word is its value.
        static func optional(_ name: String, _ value: String, _ help: String) -> Self {
            Self(name: name, value: value, help: help, isValueOptional: true)
        }
        /// `DIR`, `[URL]`; empty for a flag.
        var valueText: String {
            value.map { isValueOptional ? " [\($0)]" : " \($0)" } ?? ""
        }
    }
    struct Operand: Sendable {
        let name: String
        let isRequired: Bool
    }

    /// `["peer", "add"]`.
    let words: [String]
    let operands: [Operand]
    let options: [Option]
    let summary: String

    init(
        _ words: String, operands: [String] = [], optional: [String] = [],
        options: [Option] = [], _ summary: String
    ) {
        self.words = words.split(separator: " ").map(String.init)
        self.operands =
            operands.map { Operand(name: $0, isRequired: true) }
            + optional.map { Operand(name: $0, isRequired: false) }
        self.options = options + Self.everywhere
        self.summary = summary
    }

    static let everywhere: [Option] = [
        .value("home", "DIR", "the home folder; else $FUSION_HOME, else ./.fusion"),
        .flag("json", "one JSON document on stdout instead of a table"),
        .flag("help", "what this command takes"),
    ]

    /// Options of every command that calls the bus.
    static let calling: [Option] = [
        .value("peer", "FILE", "call over tcp as the peer of this file, instead of over ipc"),
        .value("timeout", "MILLISECONDS", "how long an answer may take"),
    ]

    var usage: String {
        let operands = operands.map { $0.isRequired ? $0.name : "[\($0.name)]" }
        return (["fusionctl"] + words + operands).joined(separator: " ")
    }
}

/// A command line that was read against a syntax.
package struct Arguments: Sendable, Equatable {
    package private(set) var operands: [String] = []
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    /// Bytes of one argument; a body for `call` must fit.
    static let argumentBytesMax = 1 << 20

    init(_ words: [String], _ syntax: CommandSyntax) throws(CommandFailure) {
        var rest = words[...]
        var optionsEnded = false
        while let word = rest.popFirst() {
            guard word.utf8.count <= Self.argumentBytesMax else {
                throw CommandFailure.usage("an argument is longer than 1 MiB", syntax)
            }
            if !optionsEnded, word == "--" {
                optionsEnded = true
            } else if !optionsEnded, word.hasPrefix("--"), word.utf8.count > 2 {
                try readOption(String(word.dropFirst(2)), &rest, syntax)
            } else if !optionsEnded, word == "-h" {
                flags.insert("help")
            } else {
                operands.append(word)
            }
        }
        guard !has("help") else { return }
        let required = syntax.operands.filter(\.isRequired)
        guard operands.count >= required.count else {
            throw CommandFailure.usage("\(required[operands.count].name) is missing", syntax)
        }
        guard operands.count <= syntax.operands.count else {
            throw CommandFailure.usage("“\(operands[syntax.operands.count])” is too much", syntax)
        }
    }

    private mutating func readOption(
        _ text: String, _ rest: inout ArraySlice<String>, _ syntax: CommandSyntax
    ) throws(CommandFailure) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? text
        guard let option = syntax.options.first(where: { $0.name == name }) else {
            throw CommandFailure.usage("there is no option --\(name)", syntax)
        }
        guard values[name] == nil, !flags.contains(name) else {
            throw CommandFailure.usage("--\(name) was given twice", syntax)
        }
        guard let kind = option.value else {
            guard parts.count == 1 else {
                throw CommandFailure.usage("--\(name) takes no value", syntax)
            }
            flags.insert(name)
            return
        }
        if parts.count == 2 {
            values[name] = String(parts[1])
        } else if option.isValueOptional, rest.first?.hasPrefix("--") ?? true {
            flags.insert(name)
        } else if let value = rest.popFirst() {
            values[name] = value
        } else {
            throw CommandFailure.usage("--\(name) needs its \(kind)", syntax)
        }
    }

    package func has(_ flag: String) -> Bool { flags.contains(flag) }
    package subscript(_ option: String) -> String? { values[option] }

    func operand(_ index: Int) -> String? {
        operands.indices.contains(index) ? operands[index] : nil
    }

    /// For an operand that the syntax requires.
    func required(_ index: Int) throws(CommandFailure) -> String {
        guard let operand = operand(index) else {
            throw CommandFailure("an argument is missing", next: "fusionctl help")
        }
        return operand
    }

    func required(_ option: String) throws(CommandFailure) -> String {
        guard let value = values[option] else {
            throw CommandFailure("--\(option) is missing", next: "add --\(option) VALUE")
        }
        return value
    }

    func integer(_ option: String, in range: ClosedRange<Int64>) throws(CommandFailure) -> Int64? {
        guard let text = values[option] else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw CommandFailure(
                "--\(option) takes a whole number in \(range.lowerBound)…\(range.upperBound)",
                next: "correct --\(option)", status: .usage)
        }
        return value
    }

    /// Comma-separated whole numbers.
    func integers(_ option: String, in range: ClosedRange<Int>) throws(CommandFailure) -> [Int]? {
        guard let words = list(option) else { return nil }
        let numbers = words.compactMap { Int($0) }.filter(range.contains)
        guard numbers.count == words.count, !numbers.isEmpty else {
            throw CommandFailure(
                "--\(option) takes numbers in \(range.lowerBound)…\(range.upperBound)",
                next: "correct --\(option)", status: .usage)
        }
        return numbers
    }

    /// Comma-separated.
    func list(_ option: String) -> [String]? {
        values[option].map { $0.split(separator: ",").map(String.init) }
    }
}
