/// Header fields in the order in which they came (RFC 9110 §6.3). Names compare without case.
package struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package struct Field: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var fields: [Field]

    package init(_ fields: [Field] = []) { self.fields = fields }

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first field of that name.
    package subscript(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }?.value
    }

    /// Every field of that name, in order.
    package func values(_ name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    package mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Replaces every field of that name.
    package mutating func set(_ name: String, _ value: String) {
        fields.removeAll { Self.isSame($0.name, name) }
        add(name, value)
    }

    /// ASCII without case: other letters of a name are never equal to ASCII ones.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        let (left, right) = (one.utf8, other.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { lower($0) == lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
    }
}
