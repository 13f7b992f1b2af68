import Primitives

/// What an address is counted under: an IPv4 address itself, the /64 of an IPv6 one.
struct AddressKey: Hashable, Sendable {
    /// nil for loopback, which is never counted.
    let text: String?

    /// Anything that is no address is counted under its own text: an odd spelling buys no fresh
    /// budget beyond that one.
    init(_ address: String) {
        let trimmed = address.prefix { $0 != "%" }
        if let four = Self.ipv4(trimmed) {
            text = four.first == 127 ? nil : Self.dotted(four)
        } else if let six = Self.ipv6(trimmed) {
            if six.dropLast().allSatisfy({ $0 == 0 }), six.last == 1 {
                text = nil
            } else if six.prefix(5).allSatisfy({ $0 == 0 }), six[5] == 0xffff {
                // IPv4-mapped.
                let four = [six[6] >> 8, six[6] & 255, six[7] >> 8, six[7] & 255].map(Int.init)
                text = four.first == 127 ? nil : Self.dotted(four)
            } else {
                text = six.prefix(4).map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
            }
        } else {
            text = String(address.prefix(64))
        }
    }

    private static func dotted(_ parts: [Int]) -> String {
        parts.map(String.init).joined(separator: ".")
    }

    private static func ipv4(_ text: Substring) -> [Int]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let numbers = parts.compactMap { part -> Int? in
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }),
                let number = Int(part), number <= 255
            else { return nil }
            return number
        }
        return numbers.count == 4 ? numbers : nil
    }

    /// Eight groups.
    private static func ipv6(_ text: Substring) -> [UInt16]? {
        guard text.contains(":"), text.utf8.count <= 45 else { return nil }
        var source = String(text)
        if let colon = source.lastIndex(of: ":"), source[colon...].contains(".") {
            guard let four = ipv4(source[source.index(after: colon)...]) else { return nil }
            let groups = [four[0] << 8 | four[1], four[2] << 8 | four[3]]
            source = source[...colon] + groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        let halves = source.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        func groups(_ text: Substring) -> [UInt16]? {
            guard !text.isEmpty else { return [] }
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { $0.utf8.count <= 4 ? UInt16($0, radix: 16) : nil }
            return numbers.count == parts.count ? numbers : nil
        }
        guard let head = groups(halves[0]) else { return nil }
        guard halves.count == 2 else { return head.count == 8 ? head : nil }
        guard let tail = groups(halves[1]), head.count + tail.count <= 7 else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }
}
