/// What a peer may be. A tcp key has exactly one role; a Unix uid may have several.
public struct Roles: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let integrator = Self(rawValue: 1 << 0)
    public static let gateway = Self(rawValue: 1 << 1)
    public static let service = Self(rawValue: 1 << 2)
    public static let `operator` = Self(rawValue: 1 << 3)

    private static let named: [(Roles, String)] = [
        (.integrator, "integrator"), (.gateway, "gateway"), (.service, "service"),
        (.operator, "operator"),
    ]

    /// nil for a word that names no role.
    public init?(name: String) {
        guard let found = Self.named.first(where: { $0.1 == name }) else { return nil }
        self = found.0
    }

    public var names: [String] { Self.named.filter { contains($0.0) }.map(\.1) }
    public var description: String { names.joined(separator: "+") }
}

/// Who called, as the broker authenticated it: by Unix uid on ipc, by CURVE key on tcp.
public struct Principal: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of UTF-8; the fixed header has room for no more.
    public static let nameBytesMax = 64

    public let roles: Roles
    public let name: String

    /// nil for an empty or too long name, or one with a control character.
    public init?(roles: Roles, name: String) {
        guard !name.isEmpty, name.utf8.count <= Self.nameBytesMax,
            name.unicodeScalars.allSatisfy({ $0.value > 0x1f && $0.value != 0x7f })
        else { return nil }
        self.roles = roles
        self.name = name
    }

    public var description: String { "\(roles):\(name)" }
}
