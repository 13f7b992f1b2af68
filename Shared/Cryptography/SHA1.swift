/// SHA-1 (FIPS 180-4), only for HMAC-SHA1 signatures that others make: collisions do not break an
/// HMAC.
enum SHA1 {
    static let digestCount = 20
    static let blockCount = 64

    static func digest(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        var padded = message
        padded.append(0x80)
        let zeros = (blockCount + 56 - padded.count % blockCount) % blockCount
        padded += [UInt8](repeating: 0, count: zeros)
        let bitsCount = UInt64(message.count) * 8
        padded += (0..<8).map { UInt8(truncatingIfNeeded: bitsCount >> UInt64(56 - 8 * $0)) }
        for start in stride(from: 0, to: padded.count, by: blockCount) {
            absorb(padded[start..<start + blockCount], into: &state)
        }
        return state.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) }
        }
    }

    /// RFC 2104.
    static func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > blockCount ? digest(key) : key
        block += [UInt8](repeating: 0, count: blockCount - block.count)
        let inner = digest(block.map { $0 ^ 0x36 } + message)
        return digest(block.map { $0 ^ 0x5c } + inner)
    }

    private static func absorb(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words: [UInt32] = []
        words.reserveCapacity(80)
        var pending: UInt32 = 0
        for (index, byte) in block.enumerated() {
            pending = pending << 8 | UInt32(byte)
            if index % 4 == 3 { words.append(pending) }
        }
        for index in 16..<80 {
            let mixed = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
            words.append(rotated(mixed, 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for (index, word) in words.enumerated() {
            let (mix, constant): (UInt32, UInt32) =
                switch index {
                case 0..<20: ((b & c) | (~b & d), 0x5a82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case 40..<60: ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = rotated(a, 5) &+ mix &+ e &+ constant &+ word
            (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }

    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 {
        word << bits | word >> (32 - bits)
    }
}
