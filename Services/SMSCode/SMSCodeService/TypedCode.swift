import Messages
import Primitives

/// A code as a person typed it, brought into the form in which codes are compared: digits of any script
/// and full-width letters as ASCII, spaces and dashes between characters dropped. It stays text: nothing
/// is added, nothing is cut, leading zeros count.
///
/// Signs, points, exponents written with signs, and every other character are refused, not counted.
struct TypedCode: Sendable {
    /// ASCII letters and digits, at least one.
    private let bytes: [UInt8]

    /// - Throws: `invalid_parameters` with the field `code`.
    init(_ text: String) throws(ServiceFailure) {
        var bytes: [UInt8] = []
        var gapOpen = false
        for scalar in Self.trimmed(text) {
            if Self.isGap(scalar) {
                // A dash in front would be a sign.
                guard !bytes.isEmpty else { throw Self.refused }
                gapOpen = true
            } else if let byte = Self.ascii(scalar) {
                bytes.append(byte)
                gapOpen = false
            } else {
                throw Self.refused
            }
        }
        guard !bytes.isEmpty, !gapOpen else { throw Self.refused }
        self.bytes = bytes
    }

    /// The form to compare: case folded unless the policy demands case.
    func comparable(caseSensitive: Bool) -> [UInt8] {
        caseSensitive ? bytes : Self.folded(bytes)
    }

    static func folded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 }
    }

    private static let refused = ServiceFailure(
        .invalidParameters, "a code has letters and digits only", field: "code")

    private static func trimmed(_ text: String) -> [Unicode.Scalar] {
        let scalars = Array(text.unicodeScalars)
        let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: { !isSpace($0) }),
            let last = scalars.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return Array(scalars[first...last])
    }

    private static func isGap(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .dashPunctuation
            || isInvisible(scalar)
    }

    /// Marks of direction that keyboards and the clipboard put around digits.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .format
    }

    private static func ascii(_ scalar: Unicode.Scalar) -> UInt8? {
        letter(scalar).map { UInt8($0.value) } ?? digit(scalar).map { UInt8(ascii: "0") + $0 }
    }

    /// An ASCII letter, also from its full-width form.
    static func letter(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.value {
        case 0x41...0x5a, 0x61...0x7a: scalar
        case 0xff21...0xff3a, 0xff41...0xff5a: Unicode.Scalar(scalar.value - 0xff21 + 0x41)
        default: nil
        }
    }

    /// The value of a decimal digit of any script.
    static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
        guard scalar.properties.generalCategory == .decimalNumber,
            let value = scalar.properties.numericValue, value >= 0, value <= 9
        else { return nil }
        return UInt8(value)
    }
}
