/// JSON as it is printed: members keep their order.
package enum JSONText: Sendable, Hashable {
    case object([Member])
    case array([JSONText])
    case text(String)
    case integer(Int64)
    case flag(Bool)

    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: JSONText

        package init(name: String, value: JSONText) {
            self.name = name
            self.value = value
        }
    }

    package static func members(_ members: KeyValuePairs<String, JSONText>) -> JSONText {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    package static func texts(_ texts: some Sequence<String>) -> JSONText {
        .array(texts.map { .text($0) })
    }

    package subscript(_ name: String) -> JSONText? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The same object with one more member; anything else stays as it is.
    package func adding(_ name: String, _ value: JSONText) -> JSONText {
        guard case .object(let members) = self else { return self }
        return .object(members + [Member(name: name, value: value)])
    }

    /// Two blanks a level, one member a line, a newline at the end.
    package var text: String {
        var text = ""
        write(to: &text, level: 0)
        return text + "\n"
    }

    private func write(to text: inout String, level: Int) {
        switch self {
        case .object(let members):
            Self.write(members, "{", "}", to: &text, level) { member, text in
                Self.write(member.name, to: &text)
                text += ": "
                member.value.write(to: &text, level: level + 1)
            }
        case .array(let items):
            Self.write(items, "[", "]", to: &text, level) { item, text in
                item.write(to: &text, level: level + 1)
            }
        case .text(let value): Self.write(value, to: &text)
        case .integer(let value): text += String(value)
        case .flag(let value): text += value ? "true" : "false"
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: String, _ close: String, to text: inout String, _ level: Int,
        _ each: (Item, inout String) -> Void
    ) {
        guard !items.isEmpty else {
            text += open + close
            return
        }
        text += open
        for (index, item) in items.enumerated() {
            text += (index == 0 ? "\n" : ",\n") + String(repeating: "  ", count: level + 1)
            each(item, &text)
        }
        text += "\n" + String(repeating: "  ", count: level) + close
    }

    private static func write(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
