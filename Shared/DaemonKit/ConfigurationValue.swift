import CToml
import FoundationEssentials

/// A setting as some layer gave it, before it has a type.
enum ConfigurationValue: Sendable, Hashable {
    case object([String: ConfigurationValue])
    case array([ConfigurationValue])
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    /// From a flag or a variable: its type is that of the field.
    case word(String)
    case null

    subscript(key: String) -> ConfigurationValue? {
        if case .object(let fields) = self { return fields[key] }
        return nil
    }

    /// The same value with `value` at `path`; tables on the way are made.
    func setting(_ value: ConfigurationValue, at path: ArraySlice<String>) -> ConfigurationValue {
        guard let first = path.first else { return value }
        var fields: [String: ConfigurationValue] = [:]
        if case .object(let known) = self { fields = known }
        fields[first] = (fields[first] ?? .object([:])).setting(value, at: path.dropFirst())
        return .object(fields)
    }

    /// What a person reads: TOML.
    var text: String {
        switch self {
        case .object(let fields):
            "{"
                + fields.keys.sorted().map { "\($0) = \(fields[$0]?.text ?? "")" }
                .joined(separator: ", ") + "}"
        case .array(let items): "[" + items.map(\.text).joined(separator: ", ") + "]"
        case .text(let text), .word(let text):
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .flag(let flag): String(flag)
        case .null: "(none)"
        }
    }

    /// The words of a message: what was found, in terms of TOML.
    var kindText: String {
        switch self {
        case .object: "a table"
        case .array: "a list"
        case .text, .word: text
        case .integer, .number, .flag, .null: text
        }
    }
}

extension ConfigurationValue: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            var fields: [String: ConfigurationValue] = [:]
            for key in container.allKeys {
                fields[key.stringValue] = try container.decode(Self.self, forKey: key)
            }
            self = .object(fields)
        } else if var container = try? decoder.unkeyedContainer() {
            var items: [ConfigurationValue] = []
            while !container.isAtEnd { items.append(try container.decode(Self.self)) }
            self = .array(items)
        } else {
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

    /// The tree of a settings struct; nil when it cannot be encoded.
    init?(encoding value: some Encodable) {
        guard let data = try? JSONEncoder().encode(value),
            let tree = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = tree
    }
}

/// A TOML document: its tree and the line of each key.
struct TomlDocument: Sendable {
    /// Bytes of a configuration file.
    static let bytesMax = 1024 * 1024

    struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        let message: String
        let line: Int
        let column: Int
        var description: String { "line \(line), column \(column): \(message)" }
    }

    private struct Wire: Decodable {
        let value: ConfigurationValue
        let lines: [String: Int]
    }

    var value: ConfigurationValue
    /// By dotted path, array elements as `name[0].field`.
    var lines: [String: Int]

    static let empty = TomlDocument(value: .object([:]), lines: [:])

    private init(value: ConfigurationValue, lines: [String: Int]) {
        self.value = value
        self.lines = lines
    }

    init(_ text: String) throws(Fault) {
        var result = ctoml_result()
        defer { ctoml_free(&result) }
        // Never empty, so that there is a pointer to give.
        var text = text + "\n"
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let base = characters.baseAddress else { return }
                ctoml_parse(base, characters.count, &result)
            }
        }
        if let message = result.message {
            throw Fault(
                message: String(cString: message), line: Int(result.line),
                column: Int(result.column))
        }
        guard let json = result.json,
            let wire = try? JSONDecoder().decode(Wire.self, from: Data(String(cString: json).utf8))
        else { throw Fault(message: "not a TOML document", line: 1, column: 1) }
        self.init(value: wire.value, lines: wire.lines)
    }
}
