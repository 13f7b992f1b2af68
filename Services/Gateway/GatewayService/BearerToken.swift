import Bus
package import HTTPTypes
package import Primitives

/// `Authorization: Bearer …` (RFC 6750 §2.1). A token in a query or a form is not looked at.
package enum BearerToken {
    package static let field = "Authorization"

    package static let missing = ServiceFailure(
        .tokenInvalid, "a bearer token is missing", field: field)
    package static let malformed = ServiceFailure(
        .tokenInvalid, "this is not one bearer token", field: field)

    /// Judged on its form only.
    /// - Parameter bytesMax: the default is what ours never exceed.
    /// - Throws: `missing`; `malformed` for another scheme, several fields, characters that no
    ///   token has, or a larger token.
    package static func read(
        _ headers: HTTPHeaders, bytesMax: Int = CompactToken.bytesMax
    ) throws(ServiceFailure) -> Secret<String> {
        let given = headers.values(field)
        guard let value = given.first else { throw missing }
        let parts = value.trimmedSpaces.split(separator: " ", maxSplits: 1)
        guard given.count == 1, let scheme = parts.first,
            HTTPHeaders.isSame(String(scheme), "Bearer"), let rest = parts.dropFirst().first
        else { throw malformed }
        let token = String(rest).trimmedSpaces
        guard (1...bytesMax).contains(token.utf8.count),
            token.utf8.allSatisfy(isTokenByte)
        else { throw malformed }
        return Secret(token)
    }

    /// `WWW-Authenticate` of a 401. Who sent no token is told no error (RFC 6750 §3.1).
    package static func challenge(_ failure: ServiceFailure) -> String {
        let realm = "Bearer realm=\"fusionbus\""
        return failure == missing ? realm : realm + ", error=\"invalid_token\""
    }

    /// b64token of RFC 6750 §2.1, its padding taken anywhere.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"),
            UInt8(ascii: "="):
            true
        default: false
        }
    }
}
