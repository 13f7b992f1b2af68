/// `x-correlator`: the caller's own word for a request, echoed in every answer.
struct Correlator: Sendable, Hashable {
    static let field = "x-correlator"
    /// `^[a-zA-Z0-9-_:;.\/<>{}]{0,256}$`.
    private static let lengthMax = 256

    /// What the answer carries: the caller's word, or a fresh one where none came or it was not one.
    let text: String
    /// False asks for 400 INVALID_ARGUMENT (API Design Guide, §5.8.5).
    let isValid: Bool

    init(_ scope: RequestScope) {
        let given = scope.correlator ?? ""
        isValid = given.utf8.count <= Self.lengthMax && given.utf8.allSatisfy(Self.isAllowed)
        // Ours is a UUID, as the guide recommends.
        text = isValid && !given.isEmpty ? given : scope.requestID
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: punctuation.contains(byte)
        }
    }

    private static let punctuation = Array("-_:;./<>{}".utf8)
}
