extension MessageSchema {
    /// JSON Schemas of single types, for documents and checks beside that of the bus.
    /// - Returns: a schema for each type, in order, and the definitions that they refer to, by name
    ///   below `#/components/schemas/`.
    package static func schemas(
        of types: [any Decodable.Type]
    ) throws -> (schemas: [JSONText], definitions: [JSONText.Member]) {
        let recorder = SchemaRecorder()
        func record<Value: Decodable>(_ type: Value.Type) throws -> JSONText {
            try recorder.record(type, field: "").schema
        }
        let schemas = try types.map { try record($0) }
        return (
            schemas,
            recorder.definitions.sorted { $0.key < $1.key }.map {
                JSONText.Member(name: $0.key, value: $0.value)
            }
        )
    }
}
