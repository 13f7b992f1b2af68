import Effects
import Primitives

/// What one reading of a section found out: which fields it has, and everything wrong with them.
final class ConfigurationTrace {
    struct Field {
        let path: String
        let isSecret: Bool
    }

    private(set) var fields: [Field] = []
    private(set) var faults: [(path: String, message: String)] = []
    /// Paths below which nothing more can be said: dictionaries (any key is theirs) and broken
    /// values.
    private var closed: Set<String> = []
    private var asked: Set<String> = []

    func note(_ path: String, isSecret: Bool) {
        if asked.insert(path).inserted { fields.append(Field(path: path, isSecret: isSecret)) }
    }

    func close(_ path: String) { closed.insert(path) }
    func isClosed(_ path: String) -> Bool { closed.contains(path) }
    private func isAsked(_ path: String) -> Bool { asked.contains(path) }

    /// Paths of `value` that no field asked for, in order.
    func unaskedPaths(in value: ConfigurationValue, at path: String) -> [String] {
        guard !isClosed(path) else { return [] }
        switch value {
        case .object(let fields):
            return fields.keys.sorted().flatMap { key -> [String] in
                let place = path.isEmpty ? key : "\(path).\(key)"
                guard isAsked(place) else { return [place] }
                return fields[key].map { unaskedPaths(in: $0, at: place) } ?? []
            }
        case .array(let items):
            return items.enumerated().flatMap { index, item in
                unaskedPaths(in: item, at: "\(path)[\(index)]")
            }
        default:
            return []
        }
    }

    func fault(_ path: String, _ message: String) {
        faults.append((path, message))
        closed.insert(path)
    }
}

/// Thrown where a fault is already in the trace.
struct ReportedFault: Error {}

private struct ValueFault: Error {
    let message: String
}

/// Marks `Secret` among the types that a decoder is asked for.
protocol SecretMarker {}
extension Secret: SecretMarker {}

/// Reads a settings struct from a tree laid over the tree of its defaults. A wrong value is noted
/// and its default taken, so that one reading finds every fault.
struct ConfigurationDecoder: Decoder {
    let overlay: ConfigurationValue?
    let fallback: ConfigurationValue?
    let path: String
    let trace: ConfigurationTrace
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// A word of a flag or variable becomes what is asked for; lists and tables are written as in
    /// TOML.
    fileprivate func value(structured: Bool) throws -> ConfigurationValue? {
        guard case .word(let word) = overlay, structured else { return overlay ?? fallback }
        do throws(TomlDocument.Fault) {
            return try TomlDocument("v = \(word)").value["v"]
        } catch {
            throw ValueFault(message: "must be a list or table as TOML writes it")
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let whole = try value(structured: true)
        if let whole, whole != .null {
            guard case .object = whole else {
                throw ValueFault(message: "must be a table, not \(whole.kindText)")
            }
        }
        let overlay = overlay == nil ? nil : whole
        return KeyedDecodingContainer(
            KeyedValues(overlay: overlay, fallback: fallback, path: path, trace: trace))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let whole = try value(structured: true), case .array(let items) = whole else {
            let found = overlay ?? fallback
            throw ValueFault(message: "must be a list, not \(found?.kindText ?? "absent")")
        }
        return ListedValues(items: items, path: path, trace: trace)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleValue(value: overlay ?? fallback, decoder: self)
    }

    /// Decodes one field: any fault lands in the trace, under the field's own path.
    fileprivate static func decode<T: Decodable>(
        _ type: T.Type, overlay: ConfigurationValue?, fallback: ConfigurationValue?, path: String,
        trace: ConfigurationTrace
    ) throws -> T {
        trace.note(path, isSecret: type is any SecretMarker.Type)
        let fallback = fallback ?? defaults(of: type)
        do {
            guard overlay != nil || fallback != nil else { throw ValueFault(message: "is missing") }
            return try T(
                from: ConfigurationDecoder(
                    overlay: overlay, fallback: fallback, path: path, trace: trace))
        } catch {
            if !(error is ReportedFault) {
                trace.fault(path, message(of: error, type, overlay ?? fallback))
            }
            trace.close(path)
        }
        // The default stands in, so that the reading can go on; the fault is on record.
        let silent = ConfigurationTrace()
        let decoder = ConfigurationDecoder(
            overlay: nil, fallback: fallback, path: path, trace: silent)
        guard fallback != nil, let value = try? T(from: decoder) else { throw ReportedFault() }
        return value
    }

    private static func defaults<T>(of type: T.Type) -> ConfigurationValue? {
        guard let type = type as? any DefaultedConfiguration.Type else { return nil }
        return tree(type)
    }

    private static func tree<T: DefaultedConfiguration>(_ type: T.Type) -> ConfigurationValue? {
        ConfigurationValue(encoding: T())
    }

    private static func message<T>(
        of error: any Error, _ type: T.Type, _ value: ConfigurationValue?
    ) -> String {
        // A secret's value is not shown, not even a wrong one.
        if type is any SecretMarker.Type { return "is not of the right kind" }
        if let fault = error as? ValueFault { return fault.message }
        let found = value?.kindText ?? "this value"
        if let type = type as? any CaseIterable.Type {
            return "must be one of \(allowed(type).joined(separator: ", ")), not \(found)"
        }
        return "cannot be \(found)"
    }

    private static func allowed<T: CaseIterable>(_ type: T.Type) -> [String] {
        type.allCases.map { item in
            (item as? any RawRepresentable).map { "\($0.rawValue)" } ?? "\(item)"
        }
    }
}

// MARK: Scalars

extension ConfigurationDecoder {
    fileprivate static func flag(_ value: ConfigurationValue?) throws -> Bool {
        switch value {
        case .flag(let flag): return flag
        case .word("true"): return true
        case .word("false"): return false
        default: throw ValueFault(message: "must be true or false, not \(shown(value))")
        }
    }

    fileprivate static func text(_ value: ConfigurationValue?) throws -> String {
        switch value {
        case .text(let text), .word(let text): return text
        default: throw ValueFault(message: "must be a text, not \(shown(value))")
        }
    }

    fileprivate static func number(_ value: ConfigurationValue?) throws -> Double {
        switch value {
        case .number(let number): return number
        case .integer(let number): return Double(number)
        case .word(let word):
            if let number = Double(word), number.isFinite { return number }
        default: break
        }
        throw ValueFault(message: "must be a number, not \(shown(value))")
    }

    fileprivate static func integer<T: FixedWidthInteger>(
        _ value: ConfigurationValue?, _ type: T.Type
    ) throws -> T {
        var found: Int64?
        switch value {
        case .integer(let number): found = number
        case .number(let number): found = Int64(exactly: number)
        case .word(let word): found = Int64(word)
        default: break
        }
        guard let found else {
            throw ValueFault(message: "must be a whole number, not \(shown(value))")
        }
        guard let fitting = T(exactly: found) else {
            throw ValueFault(message: "must lie in \(T.min)…\(T.max), not \(found)")
        }
        return fitting
    }

    private static func shown(_ value: ConfigurationValue?) -> String {
        value?.kindText ?? "absent"
    }

    /// nil for a type that is no scalar.
    fileprivate static func scalar<T>(_ value: ConfigurationValue?, _ type: T.Type) throws -> T? {
        let scalar: Any? =
            switch type {
            case is Bool.Type: try flag(value)
            case is String.Type: try text(value)
            case is Double.Type: try number(value)
            case is Float.Type: Float(try number(value))
            case is any FixedWidthInteger.Type: try anyInteger(value, type)
            default: nil
            }
        return scalar as? T
    }

    private static func anyInteger<T>(_ value: ConfigurationValue?, _ type: T.Type) throws -> Any? {
        guard let type = type as? any FixedWidthInteger.Type else { return nil }
        func open<I: FixedWidthInteger>(_ type: I.Type) throws -> Any { try integer(value, type) }
        return try open(type)
    }
}

// MARK: Containers
// One generic `decode` stands for the requirement of every scalar type.

private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let overlay: ConfigurationValue?
    let fallback: ConfigurationValue?
    let path: String
    let trace: ConfigurationTrace
    var codingPath: [any CodingKey] { [] }

    /// Only dictionaries ask for this: their keys are the operator's own.
    var allKeys: [Key] {
        trace.close(path)
        guard case .object(let fields) = overlay ?? fallback else { return [] }
        return fields.keys.sorted().compactMap { Key(stringValue: $0) }
    }

    private func place(_ key: Key) -> String {
        path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
    }

    /// An optional field is asked for here first, even when no layer has it.
    func contains(_ key: Key) -> Bool {
        trace.note(place(key), isSecret: false)
        return overlay?[key.stringValue] != nil || fallback?[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        (overlay?[key.stringValue] ?? fallback?[key.stringValue] ?? .null) == .null
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        // A dictionary laid over the defaults replaces them: no default stands in for its values.
        let isDictionary = trace.isClosed(path) && overlay != nil
        return try ConfigurationDecoder.decode(
            type, overlay: overlay?[key.stringValue],
            fallback: isDictionary ? nil : fallback?[key.stringValue], path: place(key),
            trace: trace)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        trace.note(place(key), isSecret: type is any SecretMarker.Type)
        return try decodeNil(forKey: key) ? nil : try decode(type, forKey: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw ValueFault(message: "is not readable") }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw ValueFault(message: "is not readable")
    }

    func superDecoder() throws -> any Decoder { throw ValueFault(message: "is not readable") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

private struct ListedValues: UnkeyedDecodingContainer {
    let items: [ConfigurationValue]
    let path: String
    let trace: ConfigurationTrace
    var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    init(items: [ConfigurationValue], path: String, trace: ConfigurationTrace) {
        self.items = items
        self.path = path
        self.trace = trace
    }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !isAtEnd else { throw ValueFault(message: "has too few items") }
        defer { currentIndex += 1 }
        return try ConfigurationDecoder.decode(
            type, overlay: items[currentIndex], fallback: nil, path: "\(path)[\(currentIndex)]",
            trace: trace)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> { throw ValueFault(message: "is not readable") }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw ValueFault(message: "is not readable")
    }

    mutating func superDecoder() throws -> any Decoder {
        throw ValueFault(message: "is not readable")
    }
}

private struct SingleValue: SingleValueDecodingContainer {
    let value: ConfigurationValue?
    let decoder: ConfigurationDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { (value ?? .null) == .null }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let scalar = try ConfigurationDecoder.scalar(value, type) { return scalar }
        return try T(from: decoder)
    }
}
