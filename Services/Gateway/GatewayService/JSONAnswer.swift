import FoundationEssentials
package import HTTPTypes

/// JSON bodies of the gateway: keys sorted, slashes plain.
package enum JSONAnswer {
    package static let type = "application/json; charset=utf-8"

    package static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Our own plain values; what cannot be encoded would be a fault of ours, seen by its test.
        return (try? encoder.encode(value)).map { [UInt8]($0) } ?? Array("{}".utf8)
    }

    package static func make(
        _ status: Int, _ value: some Encodable, type: String = JSONAnswer.type
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": type, "Cache-Control": "no-store"],
            body: .bytes(encode(value)))
    }
}
