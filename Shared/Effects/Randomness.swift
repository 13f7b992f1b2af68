package import Primitives

/// Random bytes fit for keys and ids; seeded in tests.
package protocol RandomSource: Sendable {
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    package func identifier<Kind: IdentifierKind>() -> Identifier<Kind> {
        Identifier(random: bytes(Identifier<Kind>.randomBytesCount))
    }

    /// Uniform in `0..<bound`, without bias: draws above the last whole multiple are thrown away.
    package func uniform(below bound: UInt32) -> UInt32 {
        precondition(bound > 0, "no number lies below zero")
        let ceiling = UInt32.max - UInt32.max % bound
        while true {
            let draw = bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            if draw < ceiling { return draw % bound }
        }
    }
}
