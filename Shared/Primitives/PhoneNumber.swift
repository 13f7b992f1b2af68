/// A phone number in E.164 form (ITU-T E.164): `+`, then 7 to 15 digits, the first not zero.
///
/// It prints masked (`+1415•••71`); `e164` is the whole number. Whether a number exists in its
/// country's plan is `PhoneNumberParser`'s matter, not this type's.
public struct PhoneNumber: Hashable, Sendable, CustomStringConvertible,
    CustomDebugStringConvertible,
    CustomReflectable
{
    public static let digitsMin = 7
    public static let digitsMax = 15

    public let e164: String

    public init?(e164 text: String) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "+") else { return nil }
        let digits = bytes.dropFirst()
        guard digits.count >= Self.digitsMin, digits.count <= Self.digitsMax,
            digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
        else { return nil }
        e164 = text
    }

    /// At most the first five characters and the last two.
    public var masked: String { "\(e164.prefix(min(5, e164.count - 5)))•••\(e164.suffix(2))" }

    public var description: String { masked }
    public var debugDescription: String { masked }
    public var customMirror: Mirror { Mirror(reflecting: masked) }
}

extension PhoneNumber: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let number = Self(e164: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a phone number in E.164 form (+ and digits)")
        }
        self = number
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(e164)
    }
}
