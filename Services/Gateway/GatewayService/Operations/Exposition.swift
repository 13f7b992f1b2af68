/// The text format 0.0.4 of Prometheus, out of a snapshot of `Metrics`.
enum Exposition {
    private typealias Line = (labels: String, value: Double)

    /// Endings of a distribution, with what becomes of each.
    private static let parts = ["_count", "_sum", "_p50", "_p99", "_max"]

    static func text(_ snapshot: [(name: String, value: Double)]) -> String {
        var families: [String: [Line]] = [:]
        for (name, value) in snapshot {
            let base = name.prefix { $0 != "{" }
            let labels = name.dropFirst(base.count).dropFirst().dropLast()
            families[clean(base), default: []].append((String(labels), value))
        }
        var text = ""
        for name in distributions(families) {
            let of = { (part: String) in families.removeValue(forKey: name + part) ?? [] }
            let (counts, sums, medians, nineties, largest) = (
                of("_count"), of("_sum"), of("_p50"), of("_p99"), of("_max")
            )
            text += head(name, "summary", "Distribution since the process began.")
            for line in medians { text += row(name, line, and: "quantile=\"0.5\"") }
            for line in nineties { text += row(name, line, and: "quantile=\"0.99\"") }
            for line in sums { text += row("\(name)_sum", line) }
            for line in counts { text += row("\(name)_count", line) }
            text += head("\(name)_max", "gauge", "Largest value since the process began.")
            for line in largest { text += row("\(name)_max", line) }
        }
        for name in families.keys.sorted() {
            let full = name.hasSuffix("_total") ? name : "\(name)_total"
            text += head(full, "counter", "How many since the process began.")
            for line in families[name] ?? [] { text += row(full, line) }
        }
        return text
    }

    /// Names of which every part is there.
    private static func distributions(_ families: [String: [Line]]) -> [String] {
        families.keys.filter { $0.hasSuffix("_count") }.map { String($0.dropLast(6)) }
            .filter { name in parts.allSatisfy { families[name + $0] != nil } }.sorted()
    }

    private static func head(_ name: String, _ type: String, _ help: String) -> String {
        "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private static func row(_ name: String, _ line: Line, and label: String = "") -> String {
        let labels = [line.labels, label].filter { !$0.isEmpty }.joined(separator: ",")
        return "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(line.value)\n"
    }

    /// Letters, digits, `_` and `:`; anything else of a name becomes `_`.
    private static func clean(_ name: some StringProtocol) -> String {
        String(
            name.map { character in
                let isKnown =
                    character.isASCII
                    && (character.isLetter || character.isNumber || character == "_"
                        || character == ":")
                return isKnown ? character : "_"
            })
    }
}
