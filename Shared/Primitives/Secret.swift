/// A value that does not print: describing, debugging, dumping or mirroring it shows `<secret>`.
/// `reveal()` is the one way in.
public struct Secret<Value: Sendable>: Sendable, CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    private let value: Value

    public init(_ value: Value) { self.value = value }

    public func reveal() -> Value { value }

    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(reflecting: "<secret>") }
}

extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}

/// Codable, so that a message may carry a secret to the one who asked for it. Nothing else encodes
/// one.
extension Secret: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension Secret: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// Compares without leaving early, so that the time taken tells nothing about where two values
/// differ.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
