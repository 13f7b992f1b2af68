import Primitives

/// A type that the recorder cannot look into; the message names it.
package struct SchemaProblem: Error, CustomStringConvertible {
    package let description: String
}

/// Learns the JSON form of a type by letting it decode itself: whatever it asks for is noted, and
/// answered with a sample. So the schema is that of the code, and the sample has every field.
///
/// An optional field is one that the type looks for before it decodes it.
final class SchemaRecorder {
    /// Named objects and enumerations, by name.
    private(set) var definitions: [String: JSONText] = [:]
    private var inProgress: Set<String> = []

    /// - Parameter field: the name that the value goes by, for a telling sample.
    /// - Returns: a schema, which for a named type is a reference to its definition.
    func record<Value: Decodable>(
        _ type: Value.Type, field: String
    ) throws -> (schema: JSONText, sample: Value) {
        if let leaf = type as? any SchemaLeaf.Type, let sample = leaf.sample as? Value {
            return (leaf.schema, sample)
        }
        if let (schema, sample) = try plain(type, field) { return (schema, sample) }
        if let cases = type as? any CaseIterable.Type, let first = cases.firstCase as? Value {
            let name = Self.name(type)
            definitions[name] = try cases.enumeration()
            return (Self.reference(name), first)
        }
        if let map = type as? any SchemaMap.Type {
            let (schema, sample) = try map.record(with: self, field: field)
            if let sample = sample as? Value { return (schema, sample) }
        }
        let name = Self.name(type)
        guard inProgress.insert(name).inserted else {
            throw SchemaProblem(description: "\(name) contains itself")
        }
        defer { inProgress.remove(name) }
        let shape = Shape(field: field)
        let sample = try Value(from: RecordingDecoder(recorder: self, shape: shape, codingPath: []))
        if var schema = shape.inline {
            if type is any SchemaSecret.Type { schema = schema.adding("format", .text("password")) }
            return (schema, sample)
        }
        definitions[name] = shape.object
        return (Self.reference(name), sample)
    }

    private func plain<Value>(
        _ type: Value.Type, _ field: String
    ) throws -> (schema: JSONText, sample: Value)? {
        let form: (String, Any)
        switch type {
        case is String.Type: form = ("string", Self.sampleText(field))
        case is Bool.Type: form = ("boolean", true)
        case is Int.Type: form = ("integer", Int(1))
        case is Int64.Type: form = ("integer", Self.sampleInteger(field))
        case is Double.Type: form = ("number", 1.5)
        default: return nil
        }
        guard let sample = form.1 as? Value else { return nil }
        return (.members(["type": .text(form.0)]), sample)
    }

    private static func sampleText(_ field: String) -> String {
        switch field {
        case "schemeCode", "defaultSchemeCode", "schemeCodes": "FA00000000000001"
        case "number", "sender", "numbers", "oldNumber", "excludedNumber": "+14155550100"
        case "day", "fromDay", "toDay", "sendDate": "20270115"
        case "templateId": "100001"
        case "nodeId", "effectNode": "300000100001005"
        default: "text"
        }
    }

    private static func sampleInteger(_ field: String) -> Int64 {
        field.hasSuffix("AtMilliseconds") ? 1_800_000_000_000 : 1
    }

    /// Without its module: `IssueAuthToken.Issued`.
    static func name(_ type: Any.Type) -> String {
        let full = String(reflecting: type)
        return full.firstIndex(of: ".").map { String(full[full.index(after: $0)...]) } ?? full
    }

    static func reference(_ name: String) -> JSONText {
        .members(["$ref": .text("#/components/schemas/\(name)")])
    }
}

/// What one type asked for while it decoded itself.
private final class Shape {
    let field: String
    /// Of an array or a single value.
    var inline: JSONText?
    private var properties: [JSONText.Member] = []
    private var optional: Set<String> = []

    init(field: String) { self.field = field }

    func lookedFor(_ key: String) { optional.insert(key) }

    func add(_ key: String, _ schema: JSONText) {
        properties.append(JSONText.Member(name: key, value: schema))
    }

    var object: JSONText {
        let required = properties.map(\.name).filter { !optional.contains($0) }
        let object = JSONText.members([
            "type": .text("object"), "properties": .object(properties),
        ])
        return required.isEmpty ? object : object.adding("required", .texts(required))
    }
}

private struct RecordingDecoder: Decoder {
    let recorder: SchemaRecorder
    let shape: Shape
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(
            RecordingFields(recorder: recorder, shape: shape, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        RecordingItems(recorder: recorder, shape: shape, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        RecordingValue(recorder: recorder, shape: shape, codingPath: codingPath)
    }
}

private struct RecordingFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: SchemaRecorder
    let shape: Shape
    let codingPath: [any CodingKey]
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        shape.lookedFor(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (schema, sample) = try recorder.record(type, field: key.stringValue)
        shape.add(key.stringValue, schema)
        return sample
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw Self.unsupported }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw Self.unsupported
    }

    func superDecoder() throws -> any Decoder { throw Self.unsupported }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Self.unsupported }

    private static var unsupported: SchemaProblem {
        SchemaProblem(description: "a message nests its containers by hand")
    }
}

private struct RecordingItems: UnkeyedDecodingContainer {
    let recorder: SchemaRecorder
    let shape: Shape
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0
    var count: Int? { 1 }
    var isAtEnd: Bool { currentIndex > 0 }

    init(recorder: SchemaRecorder, shape: Shape, codingPath: [any CodingKey]) {
        self.recorder = recorder
        self.shape = shape
        self.codingPath = codingPath
    }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, sample) = try recorder.record(type, field: shape.field)
        shape.inline = .members(["type": .text("array"), "items": schema])
        currentIndex += 1
        return sample
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw Self.unsupported }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw Self.unsupported
    }

    mutating func superDecoder() throws -> any Decoder { throw Self.unsupported }

    private static var unsupported: SchemaProblem {
        SchemaProblem(description: "a message nests its containers by hand")
    }
}

private struct RecordingValue: SingleValueDecodingContainer {
    let recorder: SchemaRecorder
    let shape: Shape
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, sample) = try recorder.record(type, field: shape.field)
        shape.inline = schema
        return sample
    }
}

extension CaseIterable {
    fileprivate static var firstCase: Self? { allCases.first { _ in true } }

    fileprivate static func enumeration() throws -> JSONText {
        let values = allCases.map { ($0 as? any RawRepresentable)?.rawValue as Any }
        let texts = values.compactMap { $0 as? String }
        if texts.count == values.count {
            return .members(["type": .text("string"), "enum": .texts(texts)])
        }
        let numbers = values.compactMap { $0 as? Int }
        guard numbers.count == values.count else {
            throw SchemaProblem(description: "\(Self.self) has raw values of another kind")
        }
        return .members([
            "type": .text("integer"), "enum": .array(numbers.map { .integer(Int64($0)) }),
        ])
    }
}
