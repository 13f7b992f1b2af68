import Primitives
import Testing

@Suite struct BusHeaderTests {
    private func full() -> BusHeader {
        BusHeader(
            kind: .request, requestID: Array(1...16), flags: 0x81, status: 0x0102,
            timeLeftMilliseconds: 0xdead_beef, attempt: 2, traceID: Array(17...32),
            spanID: Array(33...40), retryAfterMilliseconds: 60_000,
            principal: Principal(roles: [.gateway, .operator], name: "edge-1"))
    }

    @Test("every field comes back from the 128 bytes")
    func roundTrip() throws {
        let header = full()
        let bytes = header.encoded()
        #expect(bytes.count == BusHeader.bytesCount)
        #expect(BusHeader(bytes) == header)
        for kind in [BusHeader.Kind.request, .partial, .final] {
            let plain = BusHeader(kind: kind, requestID: Array(repeating: 9, count: 16))
            #expect(BusHeader(plain.encoded()) == plain)
        }
    }

    @Test("the fields lie where the layout says, big-endian")
    func layout() {
        let bytes = full().encoded()
        #expect(Array(bytes[0..<4]) == Array("BUS1".utf8))
        #expect(bytes[4] == 1 && bytes[5] == 0x81)
        #expect(Array(bytes[6..<8]) == [1, 2])
        #expect(Array(bytes[8..<24]) == Array(1...16))
        #expect(Array(bytes[24..<28]) == [0xde, 0xad, 0xbe, 0xef])
        #expect(bytes[28] == 2 && bytes[29] == 0b1010 && bytes[30] == 6 && bytes[31] == 0)
        #expect(Array(bytes[32..<48]) == Array(17...32))
        #expect(Array(bytes[48..<56]) == Array(33...40))
        #expect(Array(bytes[56..<60]) == [0, 0, 0xea, 0x60])
        #expect(Array(bytes[60..<64]) == [0, 0, 0, 0])
        #expect(Array(bytes[64..<70]) == Array("edge-1".utf8))
        #expect(bytes[70...].allSatisfy { $0 == 0 })
    }

    @Test("a cut, long, foreign or overlong-name frame is no header, and no byte pattern traps")
    func malformed() {
        let good = full().encoded()
        for count in 0..<good.count { #expect(BusHeader(Array(good.prefix(count))) == nil) }
        #expect(BusHeader(good + [0]) == nil)
        for (place, value): (Int, UInt8) in [(0, 0x62), (4, 0), (4, 4), (30, 65), (30, 255)] {
            var bytes = good
            bytes[place] = value
            #expect(BusHeader(bytes) == nil)
        }
        for place in good.indices {
            for value: UInt8 in [0, 1, 127, 128, 255] {
                var bytes = good
                bytes[place] = value
                if let header = BusHeader(bytes) { #expect(header.encoded().count == 128) }
            }
        }
    }

    @Test("a name that is not one leaves the header without a principal")
    func badName() {
        var bytes = full().encoded()
        bytes[64] = 0
        #expect(BusHeader(bytes)?.principal == nil)
        bytes[30] = 64
        for index in 64..<128 { bytes[index] = 0xff }
        #expect(BusHeader(bytes) != nil)
        #expect(
            BusHeader(bytes)?.principal == nil, "replacement characters need more than 64 bytes")
    }

    @Test("a principal's name has 1…64 bytes and no control character; roles read by name")
    func principal() {
        #expect(Principal(roles: .service, name: "") == nil)
        #expect(Principal(roles: .service, name: String(repeating: "a", count: 65)) == nil)
        #expect(Principal(roles: .service, name: "a\nb") == nil)
        #expect(Principal(roles: .service, name: "a\u{7f}") == nil)
        let name = String(repeating: "é", count: 32)
        let principal = Principal(roles: [.integrator, .operator], name: name)
        #expect(principal?.description == "integrator+operator:\(name)")
        #expect(Roles(name: "gateway") == .gateway)
        #expect(Roles(name: "root") == nil)
        #expect(Roles(rawValue: 0).names.isEmpty)
    }
}
