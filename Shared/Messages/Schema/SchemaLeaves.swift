import Primitives

/// A type whose text has a form of its own.
protocol SchemaLeaf {
    static var schema: JSONText { get }
    static var sample: Self { get }
}

extension Identifier: SchemaLeaf {
    static var schema: JSONText {
        .members([
            "type": .text("string"),
            "pattern": .text("^\(Kind.prefix)_[0-9a-hjkmnp-tv-z]{26}$"),
        ])
    }
    static var sample: Self { Self(random: Array(repeating: 1, count: randomBytesCount)) }
}

extension PhoneNumber: SchemaLeaf {
    static var schema: JSONText {
        .members([
            "type": .text("string"),
            "pattern": .text("^\\+[1-9][0-9]{\(digitsMin - 1),\(digitsMax - 1)}$"),
        ])
    }
    static var sample: Self {
        guard let number = Self(e164: "+14155550100") else {
            preconditionFailure("a number reserved for examples is one")
        }
        return number
    }
}

/// A map from texts; its keys are data, not fields.
protocol SchemaMap {
    static func record(
        with recorder: SchemaRecorder, field: String
    ) throws -> (schema: JSONText, sample: Any)
}

extension Dictionary: SchemaMap where Key == String, Value: Decodable {
    static func record(
        with recorder: SchemaRecorder, field: String
    ) throws -> (schema: JSONText, sample: Any) {
        let (schema, sample) = try recorder.record(Value.self, field: field)
        return (
            .members(["type": .text("object"), "additionalProperties": schema]),
            [field: sample] as [String: Value]
        )
    }
}

/// Shown as a password by tools that draw forms.
protocol SchemaSecret {}
extension Secret: SchemaSecret {}
