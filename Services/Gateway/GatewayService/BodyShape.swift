import FoundationEssentials
package import HTTPTypes
package import Messages
package import Primitives

/// Reads bodies of one type, and holds them to the schema of that type: the very one that a
/// published document shows, so that the two cannot differ.
package struct BodyShape<Body: Decodable & Sendable>: Sendable {
    /// A reference to one of the definitions.
    package let schema: JSONText
    /// Of this type and those inside it; they take no property that they do not name.
    package let definitions: [JSONText.Member]

    /// - Throws: `SchemaProblem` for a type that the recorder cannot look into.
    package init() throws {
        let made = try MessageSchema.schemas(of: [Body.self])
        schema = made.schemas.first ?? .object([])
        definitions = made.definitions.map { entry in
            let isClosed = entry.value["properties"] != nil
            return JSONText.Member(
                name: entry.name,
                value: isClosed
                    ? entry.value.adding("additionalProperties", .flag(false)) : entry.value)
        }
    }

    /// - Throws: `media_type_unsupported` where the body is not JSON by its head;
    ///   `invalid_parameters` with the field, for anything but a body of this type.
    package func read(_ request: HTTPRequest) throws(ServiceFailure) -> Body {
        try JSONMedia.judge(request.headers)
        let tree = try StrictJSON.read(request.body)
        try check(tree, schema, [])
        do {
            return try JSONDecoder().decode(Body.self, from: Data(request.body))
        } catch let error as DecodingError {
            throw ServiceFailure(
                .invalidParameters, "is not valid", field: JSONPath.text(error.path))
        } catch {
            throw ServiceFailure(.invalidParameters, "is not valid", field: "body")
        }
    }

    private func check(
        _ tree: JSONTree, _ schema: JSONText, _ path: [String]
    ) throws(ServiceFailure) {
        if case .text(let reference)? = schema["$ref"] {
            let name = reference.split(separator: "/").last.map(String.init)
            guard let definition = definitions.first(where: { $0.name == name }) else { return }
            return try check(tree, definition.value, path)
        }
        guard case .text(let type)? = schema["type"] else { return }
        switch (type, tree) {
        case ("object", .object(let members)): try check(members, schema, path)
        case ("array", .array(let items)):
            guard let item = schema["items"] else { return }
            for (index, value) in items.enumerated() {
                try check(value, item, path + ["[\(index)]"])
            }
        case ("string", .text), ("integer", .integer), ("number", .number), ("number", .integer),
            ("boolean", .flag):
            break
        default: throw Self.mismatch(tree, type, path)
        }
    }

    private func check(
        _ members: [JSONTree.Member], _ schema: JSONText, _ path: [String]
    ) throws(ServiceFailure) {
        for member in members {
            let place = path + [member.name]
            if let property = schema["properties"]?[member.name] {
                try check(member.value, property, place)
            } else if case .flag(false)? = schema["additionalProperties"] {
                throw ServiceFailure(
                    .invalidParameters, "is not known here", field: JSONPath.text(place))
            } else if let other = schema["additionalProperties"] {
                try check(member.value, other, place)
            }
        }
        guard case .array(let required)? = schema["required"] else { return }
        for case .text(let name) in required where !members.contains(where: { $0.name == name }) {
            throw ServiceFailure(
                .invalidParameters, "is missing", field: JSONPath.text(path + [name]))
        }
    }

    private static func mismatch(
        _ tree: JSONTree, _ type: String, _ path: [String]
    ) -> ServiceFailure {
        let words = [
            "object": "an object", "array": "a list", "string": "text",
            "integer": "a whole number", "number": "a number", "boolean": "true or false",
        ]
        let text =
            tree == .null ? "must not be null; leave it out" : "must be \(words[type] ?? type)"
        return ServiceFailure(.invalidParameters, text, field: JSONPath.text(path))
    }
}

/// `Content-Type: application/json`, in UTF-8 and as it is.
package enum JSONMedia {
    package static func judge(_ headers: HTTPHeaders) throws(ServiceFailure) {
        let types = headers.values("content-type")
        guard types.count == 1, let type = types.first, isJSON(type) else {
            throw ServiceFailure(
                .mediaTypeUnsupported, "must be application/json in UTF-8", field: "Content-Type")
        }
        guard
            headers.values("content-encoding").allSatisfy({
                HTTPHeaders.isSame($0.trimmedSpaces, "identity")
            })
        else {
            throw ServiceFailure(
                .mediaTypeUnsupported, "takes no encoded body", field: "Content-Encoding")
        }
    }

    /// JSON has no parameters of its own (RFC 8259 §11); the one that many send is let in.
    private static func isJSON(_ value: String) -> Bool {
        let parts = value.split(separator: ";").map { String($0).trimmedSpaces.lowercased() }
        return parts.first == "application/json"
            && parts.dropFirst().allSatisfy {
                $0.isEmpty || $0 == "charset=utf-8" || $0 == "charset=\"utf-8\""
            }
    }
}

extension DecodingError {
    fileprivate var path: [String] {
        let context =
            switch self {
            case .keyNotFound(_, let context), .typeMismatch(_, let context),
                .valueNotFound(_, let context), .dataCorrupted(let context):
                context
            @unknown default: Context(codingPath: [], debugDescription: "")
            }
        return context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
    }
}
