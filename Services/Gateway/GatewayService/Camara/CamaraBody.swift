import HTTPTypes
import Primitives

/// A body of the two APIs: one JSON object whose values are texts, and no property beside those of
/// its schema.
struct CamaraBody: Sendable {
    /// An object of two texts, 160 characters the longer, each perhaps escaped.
    static let bytesMax = 8 * 1024

    private let values: [String: String]

    init(_ request: HTTPRequest, _ properties: [String]) throws(CamaraError) {
        guard !request.body.isEmpty else { throw .invalid("The request body is missing.") }
        do throws(ServiceFailure) { try JSONMedia.judge(request.headers) } catch {
            throw .unsupportedMediaType
        }
        let tree: JSONTree
        do throws(ServiceFailure) { tree = try StrictJSON.read(request.body) } catch {
            // The field may be a name of the caller's.
            throw .invalid(
                error.field == "body"
                    ? "The request body \(error.message)."
                    : "A property of the request body is there twice.")
        }
        guard case .object(let members) = tree else {
            throw .invalid("The request body must be a JSON object.")
        }
        var values: [String: String] = [:]
        for member in members {
            guard properties.contains(member.name) else {
                // Names of others are not repeated: they may be anything.
                throw .invalid(
                    "The request body takes these properties only: "
                        + properties.joined(separator: ", ") + ".")
            }
            guard case .text(let text) = member.value else {
                throw .invalid("\(member.name) must be a text.")
            }
            values[member.name] = text
        }
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }

    /// - Parameter lengthMax: code points, as JSON Schema counts.
    func required(_ name: String, lengthMax: Int) throws(CamaraError) -> String {
        guard let value = values[name], !value.isEmpty else {
            throw .invalid("\(name) is missing.")
        }
        guard value.unicodeScalars.count <= lengthMax else {
            throw .invalid("\(name) has at most \(lengthMax) characters.")
        }
        return value
    }

    /// `^\+[1-9][0-9]{4,14}$`.
    static func isPhoneNumber(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let digits = bytes.dropFirst()
        return bytes.first == UInt8(ascii: "+") && (5...15).contains(digits.count)
            && digits.first != UInt8(ascii: "0")
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// `^[a-fA-F0-9]{64}$`.
    static func isNumberHash(_ text: String) -> Bool { Hex.decode(text)?.count == 32 }
}
