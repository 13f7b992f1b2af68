package import HTTPTypes
import Primitives

/// Networks whose word on `X-Forwarded-For` and `X-Forwarded-Proto` counts.
package struct TrustedProxies: Sendable, Hashable {
    private let networks: [AddressRange]

    /// - Parameter texts: `10.0.0.0/8`, `fd00::/8`, or a single address.
    /// - Returns: nil when one of them is none.
    package init?(_ texts: [String]) {
        var networks: [AddressRange] = []
        for text in texts {
            guard let range = AddressRange(text) else { return nil }
            networks.append(range)
        }
        self.networks = networks
    }

    package func contains(_ address: String) -> Bool {
        guard !networks.isEmpty, let bits = IPAddress(address) else { return false }
        return networks.contains { $0.contains(bits) }
    }

    /// What proxies add to a request. A peer that sends any of them speaks for somebody else.
    private static let forwardingFields = [
        "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
    ]

    /// Where a request came from: from right to left through `X-Forwarded-For`, the first address
    /// that is no trusted proxy. Whatever stands left of it was written by that stranger. An entry
    /// that is no address ends the walk: the client is then `ClientAddress.unknown`. So is one behind
    /// a proxy of this machine that is not trusted, or does not tell addresses: its own address is
    /// loopback, for which there are no limits.
    package func client(of head: HTTPRequestHead) -> (address: String, isSecure: Bool) {
        guard contains(head.peerAddress) else {
            let isForwarded = Self.isForwarded(head) && Self.isLoopback(head.peerAddress)
            return (isForwarded ? ClientAddress.unknown : head.peerAddress, head.isSecure)
        }
        let proto = head.headers.values("x-forwarded-proto").last?.trimmedSpaces
        let isSecure = proto.map { HTTPHeaders.isSame($0, "https") } ?? head.isSecure
        let hops = head.headers.values("x-forwarded-for").flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map {
                String($0).trimmedSpaces
            }
        }
        for hop in hops.reversed() {
            let address = Self.withoutPort(hop)
            guard IPAddress(address) != nil else { return (ClientAddress.unknown, isSecure) }
            if !contains(address) { return (address, isSecure) }
        }
        if let first = hops.first { return (Self.withoutPort(first), isSecure) }
        return (Self.isForwarded(head) ? ClientAddress.unknown : head.peerAddress, isSecure)
    }

    private static func isForwarded(_ head: HTTPRequestHead) -> Bool {
        forwardingFields.contains { head.headers[$0] != nil }
    }

    private static func isLoopback(_ address: String) -> Bool {
        ClientAddress(address)?.isLoopback ?? false
    }

    /// `192.0.2.1:4711` and `[2001:db8::1]:4711` as some proxies write them.
    private static func withoutPort(_ text: String) -> String {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return String(text[text.index(after: text.startIndex)..<end])
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].contains(".") ? String(parts[0]) : text
    }
}

private struct AddressRange: Hashable {
    private let base: IPAddress
    private let length: Int

    init?(_ text: String) {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = halves.first, let base = IPAddress(String(first)) else { return nil }
        let full = base.isIPv4 ? 32 : 128
        guard let length = halves.count == 2 ? Int(halves[1]) : full, (0...full).contains(length)
        else { return nil }
        self.base = base
        self.length = base.isIPv4 ? length + 96 : length
    }

    func contains(_ address: IPAddress) -> Bool {
        var left = length
        for (mine, other) in zip(base.words, address.words) where left > 0 {
            let bits = min(left, 16)
            let mask = UInt16(truncatingIfNeeded: 0xffff << (16 - bits))
            guard mine & mask == other & mask else { return false }
            left -= bits
        }
        return true
    }
}
