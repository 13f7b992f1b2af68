import Foundation
import Messages
import Testing

@Suite("AsyncAPI document")
struct SchemaTests {
    @Test("the document on file is the one that the types make")
    func document() throws {
        let made = Data(try MessageSchema.asyncAPI().text.utf8)
        if Golden.isUpdating { try Golden.write(made, Golden.documentName) }
        #expect(
            Golden.read(Golden.documentName) == made,
            "the types changed: write the document with UPDATE_GOLDEN=1 and review it")
    }

    @Test("made twice the document is the same text, and it is JSON")
    func deterministic() throws {
        let text = try MessageSchema.asyncAPI().text
        #expect(try MessageSchema.asyncAPI().text == text)
        _ = try JSONDocument()
    }

    @Test("every reference of the document leads somewhere")
    func references() throws {
        let document = try JSONDocument()
        var references: [String] = []
        func collect(_ value: Any) {
            if let object = value as? [String: Any] {
                if let target = object["$ref"] as? String { references.append(target) }
                for name in object.keys.sorted() { collect(object[name] as Any) }
            } else if let items = value as? [Any] {
                for item in items { collect(item) }
            }
        }
        collect(document.root)
        #expect(references.count > 200)
        #expect(references.filter { document.resolve($0) == nil } == [])
    }

    @Test("every sample fits its schema")
    func samples() throws {
        let document = try JSONDocument()
        func check<Request: BusRequest>(_ type: Request.Type) throws {
            let name = Request.method.name
            let sample = try GoldenFile<Request>.sample()
            #expect(
                try document.faults(jsonObject(sample.request), document.parameters(of: name))
                    == [],
                "\(name)")
            #expect(
                try document.faults(jsonObject(sample.reply), document.result(of: name)) == [],
                "\(name)")
        }
        for request in MessageCatalog.requests { try check(request) }
    }

    @Test("a field is required by the schema exactly when the types require it")
    func required() throws {
        let document = try JSONDocument()
        var fieldsCount = 0
        func check<Value: Codable>(_ value: Value, _ schema: Any, _ name: String) throws {
            guard let full = try jsonObject(value) as? [String: Any] else { return }
            for field in full.keys.sorted() {
                var cut = full
                cut[field] = nil
                let data = try JSONSerialization.data(withJSONObject: cut)
                let decodes = (try? JSONDecoder().decode(Value.self, from: data)) != nil
                let fits = document.faults(cut, schema).isEmpty
                #expect(decodes == fits, "\(name).\(field)")
                fieldsCount += 1
            }
        }
        func check<Request: BusRequest>(_ type: Request.Type) throws {
            let name = Request.method.name
            let sample = try GoldenFile<Request>.sample()
            try check(sample.request, document.parameters(of: name), name)
            try check(sample.reply, document.result(of: name), "\(name).reply")
        }
        for request in MessageCatalog.requests { try check(request) }
        #expect(fieldsCount > 200)
    }

    @Test("the schema refuses another type, an unknown word and a foreign id")
    func refusals() throws {
        let document = try JSONDocument()
        let schema = try document.result(of: "verification.verify")
        let full = try #require(
            try jsonObject(GoldenFile<VerifyMaskToken>.sample().reply) as? [String: Any])
        #expect(document.faults(full, schema) == [])
        for (field, value): (String, Any) in [
            ("phoneScore", "1"), ("result", "MAYBE"),
            ("verificationId", "run_04106105041061050410610504"), ("phoneNumber", "123"),
        ] {
            var wrong = full
            wrong[field] = value
            #expect(document.faults(wrong, schema).count == 1, "\(field)")
        }
    }
}

private func jsonObject(_ value: some Encodable) throws -> Any {
    try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
}

/// The document as any tool reads it, with as much of JSON Schema as it uses.
struct JSONDocument {
    let root: Any

    init() throws {
        root = try JSONSerialization.jsonObject(
            with: Data(try MessageSchema.asyncAPI().text.utf8))
    }

    struct NoSuchPart: Error { let path: [String] }

    func parameters(of method: String) throws -> Any {
        try part(["components", "messages", method, "payload", "properties", "params"])
    }

    func result(of method: String) throws -> Any {
        let choices = try part(["components", "messages", "\(method).reply", "payload", "oneOf"])
        guard let body = (choices as? [Any])?.first as? [String: Any],
            let result = (body["properties"] as? [String: Any])?["result"]
        else { throw NoSuchPart(path: [method]) }
        return result
    }

    private func part(_ path: [String]) throws -> Any {
        var value = root
        for name in path {
            guard let next = (value as? [String: Any])?[name] else { throw NoSuchPart(path: path) }
            value = next
        }
        return value
    }

    /// `#/a/b` into this document; names hold points but no slashes.
    func resolve(_ reference: String) -> Any? {
        guard reference.hasPrefix("#/") else { return nil }
        return try? part(reference.dropFirst(2).split(separator: "/").map(String.init))
    }

    /// What is wrong with `value`; empty when it fits.
    func faults(_ value: Any, _ schema: Any, _ path: String = "$") -> [String] {
        guard let schema = schema as? [String: Any] else { return ["\(path): no schema"] }
        if let target = schema["$ref"] as? String {
            return resolve(target).map { faults(value, $0, path) } ?? ["\(path): \(target) is gone"]
        }
        if let words = schema["enum"] as? [AnyHashable] {
            return (value as? AnyHashable).map(words.contains) == true
                ? [] : ["\(path): not one of the words"]
        }
        switch schema["type"] as? String {
        case "object": return objectFaults(value, schema, path)
        case "array":
            guard let items = value as? [Any], let item = schema["items"] else {
                return ["\(path): no array"]
            }
            return items.enumerated().flatMap { faults($1, item, "\(path)[\($0)]") }
        case "string": return textFaults(value, schema, path)
        case "integer":
            return value is Int ? [] : ["\(path): no integer"]
        case "number": return value is Double ? [] : ["\(path): no number"]
        case "boolean": return value is Bool ? [] : ["\(path): no boolean"]
        default: return ["\(path): unknown type"]
        }
    }

    private func objectFaults(
        _ value: Any, _ schema: [String: Any], _ path: String
    ) -> [String] {
        guard let object = value as? [String: Any] else { return ["\(path): no object"] }
        let required = schema["required"] as? [String] ?? []
        let properties = schema["properties"] as? [String: Any] ?? [:]
        var found = required.filter { object[$0] == nil }.map { "\(path).\($0): is missing" }
        for name in object.keys.sorted() {
            if let part = properties[name] ?? schema["additionalProperties"] {
                found += faults(object[name] as Any, part, "\(path).\(name)")
            } else {
                found.append("\(path).\(name): is not in the schema")
            }
        }
        return found
    }

    private func textFaults(_ value: Any, _ schema: [String: Any], _ path: String) -> [String] {
        guard let text = value as? String else { return ["\(path): no text"] }
        guard let pattern = schema["pattern"] as? String else { return [] }
        let fits = (try? Regex(pattern).wholeMatch(in: text)) ?? nil
        return fits == nil ? ["\(path): does not match \(pattern)"] : []
    }
}
