/// Rows for people: columns as wide as their widest cell, no lines.
package struct Table: Sendable {
    let header: [String]
    private var rows: [[String]] = []

    package init(_ header: [String]) { self.header = header }

    package mutating func add(_ cells: [String]) {
        precondition(cells.count == header.count, "a row has a cell for every column")
        rows.append(cells)
    }

    var isEmpty: Bool { rows.isEmpty }

    package var text: String {
        let all = (header.allSatisfy(\.isEmpty) ? [] : [header]) + rows
        let widths = header.indices.map { column in
            all.map { Self.width($0[column]) }.max() ?? 0
        }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                if column < row.count - 1 {
                    line += String(
                        repeating: " ", count: widths[column] - Self.width(cell) + 2)
                }
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }

    /// Columns on a terminal: East Asian wide characters take two.
    private static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { sum, scalar in
            switch scalar.value {
            case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
                0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6:
                sum + 2
            default: sum + 1
            }
        }
    }
}

/// Any JSON answer as a table: an object as name and value, a list of objects as rows.
enum Rendering {
    /// Fields in a table of objects; more are left to `--json`.
    static let columnsMax = 8

    static func people(_ value: JSONValue) -> String {
        guard case .object(let members) = value else {
            if case .list(let items) = value { return rows(items) }
            return cell(value)
        }
        var blocks: [String] = []
        var facts = Table(["", ""])
        for member in members {
            if case .list(let items) = member.value, items.contains(where: isObject) {
                blocks.append("\(member.name)\n\(rows(items))")
            } else {
                for (name, value) in flattened(member.name, member.value) {
                    facts.add([name, cell(value)])
                }
            }
        }
        if !facts.isEmpty { blocks.insert(facts.text, at: 0) }
        return blocks.isEmpty ? "done" : blocks.joined(separator: "\n\n")
    }

    static func rows(_ items: [JSONValue]) -> String {
        guard items.contains(where: isObject) else {
            return items.isEmpty ? "none" : items.map(cell).joined(separator: "\n")
        }
        let flat = items.map { flattened("", $0) }
        var columns: [String] = []
        for row in flat {
            for (name, _) in row where !columns.contains(name) && columns.count < columnsMax {
                columns.append(name)
            }
        }
        var table = Table(columns)
        for row in flat {
            table.add(
                columns.map { column in row.first { $0.0 == column }.map { cell($0.1) } ?? "–" })
        }
        return table.text
    }

    private static func flattened(_ name: String, _ value: JSONValue) -> [(String, JSONValue)] {
        guard case .object(let members) = value else { return [(name, value)] }
        return members.flatMap { member in
            flattened(name.isEmpty ? member.name : "\(name).\(member.name)", member.value)
        }
    }

    private static func isObject(_ value: JSONValue) -> Bool {
        if case .object = value { true } else { false }
    }

    static func cell(_ value: JSONValue) -> String {
        switch value {
        case .null: "–"
        case .text(let text): text
        case .list(let items): items.isEmpty ? "–" : items.map(cell).joined(separator: ", ")
        default: value.compact
        }
    }
}
