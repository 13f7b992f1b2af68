/// An address of either family, without port.
public struct IPAddress: Hashable, Sendable {
    /// Eight words of 16 bits; IPv4 in its IPv6 clothes (`::ffff:0:0/96`, RFC 4291 §2.5.5.2), so that
    /// both spellings of one address are equal.
    public let words: [UInt16]

    public var isIPv4: Bool { words.prefix(5).allSatisfy { $0 == 0 } && words[5] == 0xffff }

    /// nil unless `text` is an address, with or without a zone.
    public init?(_ text: String) {
        let bare = text.prefix { $0 != "%" }
        if bare.contains(":") {
            guard let words = Self.words(bare) else { return nil }
            self.words = words
        } else {
            guard let octets = Self.octets(bare) else { return nil }
            words =
                [0, 0, 0, 0, 0, 0xffff]
                + [octets[0] << 8 | octets[1], octets[2] << 8 | octets[3]]
        }
    }

    private static func octets(_ text: Substring) -> [UInt16]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var octets: [UInt16] = []
        for part in parts {
            guard (1...3).contains(part.utf8.count), let value = UInt16(part), value <= 255,
                part.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            octets.append(value)
        }
        return octets
    }

    /// Eight words of 16 bits.
    private static func words(_ text: Substring) -> [UInt16]? {
        let halves = text.split(
            separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = halves.first.flatMap(run) else { return nil }
        guard halves.count == 2 else { return head.count == 8 ? head : nil }
        guard let tail = halves.last.flatMap(run), head.count + tail.count < 8 else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    private static func run(_ text: Substring) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var words: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.contains(".") {
                guard index == parts.count - 1, let last = octets(part) else { return nil }
                words += [last[0] << 8 | last[1], last[2] << 8 | last[3]]
            } else {
                guard (1...4).contains(part.utf8.count), let word = UInt16(part, radix: 16)
                else { return nil }
                words.append(word)
            }
        }
        return words
    }
}
