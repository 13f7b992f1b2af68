/// What an address counts as: an IPv4 address, or the first 64 bits of an IPv6 one, which is what
/// one customer of a network gets.
public struct ClientAddress: Hashable, Sendable {
    /// For the row's key.
    public let text: String
    public let isLoopback: Bool

    /// What all share whose address cannot be read (the word of RFC 7239 §6.3): one budget, and never
    /// that of this machine.
    public static let unknown = "unknown"

    /// nil unless `text` is an address, with or without a zone, or `unknown`.
    public init?(_ text: String) {
        if text == Self.unknown {
            self = Self(shared: text)
            return
        }
        guard let address = IPAddress(text) else { return nil }
        self.init(address)
    }

    private init(shared text: String) {
        self.text = text
        isLoopback = false
    }

    public init(_ address: IPAddress) {
        let words = address.words
        if address.isIPv4 {
            let octets = [words[6] >> 8, words[6] & 255, words[7] >> 8, words[7] & 255]
            text = octets.map { String($0) }.joined(separator: ".")
            isLoopback = octets[0] == 127
        } else {
            text = words.prefix(4).map { String($0, radix: 16) }.joined(separator: ":") + "/64"
            isLoopback = words.dropLast().allSatisfy { $0 == 0 } && words[7] == 1
        }
    }
}
