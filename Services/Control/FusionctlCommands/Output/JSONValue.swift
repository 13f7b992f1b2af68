import FoundationEssentials

/// JSON as a value whose members keep the order in which they were written.
package indirect enum JSONValue: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        let name: String
        let value: JSONValue
    }
    case null
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([Member])

    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> Self {
        .object(members.map { Member(name: $0, value: $1) })
    }
    package static func text(_ text: String?) -> Self { text.map { .text($0) } ?? .null }
    package static func integer(_ value: Int?) -> Self {
        value.map { .integer(Int64($0)) } ?? .null
    }

    /// nil when `bytes` is no JSON text. Members come in order of their names.
    package init?(_ bytes: [UInt8]) {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
            return nil
        }
        self = value
    }

    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    var string: String? { if case .text(let text) = self { text } else { nil } }

    // MARK: Writing

    /// One line.
    package var compact: String {
        var text = ""
        write(into: &text, indent: nil)
        return text
    }

    /// Two spaces a level.
    package var pretty: String {
        var text = ""
        write(into: &text, indent: 0)
        return text
    }

    private func write(into text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .flag(let flag): text += flag ? "true" : "false"
        case .integer(let integer): text += "\(integer)"
        case .number(let number): text += number.isFinite ? "\(number)" : "null"
        case .text(let string): Self.writeString(string, into: &text)
        case .list(let items):
            Self.writeParts(items, "[", "]", into: &text, indent) { item, text, indent in
                item.write(into: &text, indent: indent)
            }
        case .object(let members):
            Self.writeParts(members, "{", "}", into: &text, indent) { member, text, indent in
                Self.writeString(member.name, into: &text)
                text += indent == nil ? ":" : ": "
                member.value.write(into: &text, indent: indent)
            }
        }
    }

    private static func writeParts<Part>(
        _ parts: [Part], _ open: String, _ close: String, into text: inout String, _ indent: Int?,
        _ write: (Part, inout String, Int?) -> Void
    ) {
        text += open
        let inner = indent.map { $0 + 2 }
        for (index, part) in parts.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            write(part, &text, inner)
        }
        if let indent, !parts.isEmpty { text += "\n" + String(repeating: " ", count: indent) }
        text += close
    }

    private static func writeString(_ string: String, into text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let hex = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONValue: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            let keys = container.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(
                try keys.map {
                    Member(name: $0.stringValue, value: try container.decode(Self.self, forKey: $0))
                })
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var items: [JSONValue] = []
            while !container.isAtEnd { items.append(try container.decode(Self.self)) }
            self = .list(items)
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }
}
