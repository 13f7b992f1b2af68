import Majordomo
import Primitives
import Testing

@Suite("Frames and tokens")
struct CodecTests {
    private func read(_ frames: [[UInt8]]) -> BrokerInput {
        withFrameViews(frames) { BrokerInput($0) }
    }

    private func text(_ string: String) -> [UInt8] { Array(string.utf8) }

    @Test("an address is sixteen characters, round trip, over the whole range")
    func tokens() {
        for slot: UInt32 in [0, 1, 255, 65_536, .max] {
            for part: UInt32 in [0, 1, 0xffff, 0xff_ffff] {
                let token = AddressToken(slot: slot, generation: part, random: part ^ 0x55)
                #expect(token.bytes.count == 16)
                #expect(AddressToken(token.bytes) == token)
            }
        }
        #expect(AddressToken(text("0123456789abcdew")) == nil)
        #expect(AddressToken(text("0123456789abcde")) == nil)
        #expect(AddressToken([UInt8](repeating: 0, count: 16)) == nil)
    }

    @Test("routing ids of any length keep their bytes, and differ by length")
    func routing() {
        for length in [0, 1, 5, 8, 9, 255] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            #expect(RoutingID(bytes).withBytes { Array($0) } == bytes)
        }
        #expect(RoutingID([0, 1]) != RoutingID([1]))
    }

    @Test("the raw header has the offsets of the header")
    func rawHeader() {
        var header = BusHeader(
            kind: .request, requestID: (1...16).map { UInt8($0) }, status: 0x1234,
            timeLeftMilliseconds: 0x0102_0304, attempt: 1,
            traceID: [UInt8](repeating: 3, count: 16),
            spanID: [UInt8](repeating: 4, count: 8), retryAfterMilliseconds: 77,
            principal: Principal(roles: [.service], name: "forged"))
        let bytes = header.encoded()
        bytes.withUnsafeBytes {
            #expect(RawHeader.isHeader($0))
            #expect(RawHeader.requestID($0) == RequestID(header.requestID))
            #expect(RawHeader.timeLeftMilliseconds($0) == 0x0102_0304)
            #expect(RawHeader.status($0) == 0x1234)
            #expect(RawHeader.retryAfterMilliseconds($0) == 77)
        }
        let written = [UInt8](unsafeUninitializedCapacity: 128) { target, count in
            bytes.withUnsafeBytes {
                RawHeader.writeReply(
                    ReplyHeader(
                        requestID: RequestID(header.requestID), status: .overloaded,
                        retryAfterMilliseconds: 9), from: $0, isFinal: true,
                    to: UnsafeMutableRawBufferPointer(target))
            }
            count = 128
        }
        header.kind = .final
        header.status = 8
        header.retryAfterMilliseconds = 9
        header.principal = nil
        #expect(BusHeader(written) == header)
    }

    @Test("lenient: no delimiter after the address, no body, trailing frames")
    func lenient() {
        let address = AddressToken(slot: 1, generation: 2, random: 3).bytes
        let strict = read([[], text("MDPW01"), [3], address, [], text("x")])
        let loose = read([[], text("MDPW01"), [3], address, text("x")])
        #expect(strict.bodyStart == 5 && strict.bodyBytes == 1)
        #expect(loose.bodyStart == 4 && loose.bodyBytes == 1)
        #expect(read([[], text("MDPW01"), [3], address]).kind == .worker(.final))
        #expect(read([text("MDPC02"), [1], text("echo")]).kind == .clientRequest)
        #expect(read([text("MDPW02"), [5], [], text("x"), []]).kind == .worker(.heartbeat))
        let unknownKeys = read([text("MDPW02"), [1], text("s"), text("new=1 credit=7 junk = x=")])
        #expect(unknownKeys.capabilities?.credit == 7)
    }

    @Test("0.2 with the empty frame of 0.1 in front is understood, and known as such")
    func delimited() {
        let request = read([[], text("MDPC02"), [1], text("s"), text("x")])
        #expect(request.kind == .clientRequest)
        #expect(request.dialect == .v02Delimited)
        #expect(request.bodyStart == 4)
        #expect(read([[], text("MDPW02"), [5]]).kind == .worker(.heartbeat))
    }

    @Test("malformed messages are told apart")
    func malformed() {
        #expect(read([]).kind == .malformed(.tooFewFrames))
        #expect(read([[]]).kind == .malformed(.tooFewFrames))
        #expect(read([text("HELLO")]).kind == .malformed(.unknownProtocol))
        #expect(read([[], text("MDPC03"), [1], text("s")]).kind == .malformed(.unknownProtocol))
        #expect(read([text("MDPC01"), text("s"), text("x")]).kind == .malformed(.unknownProtocol))
        #expect(read([text("MDPC02"), [2], text("s")]).kind == .malformed(.unknownCommand))
        #expect(read([text("MDPW02"), [2], text("s")]).kind == .malformed(.unknownCommand))
        #expect(read([text("MDPW02"), [9]]).kind == .malformed(.unknownCommand))
        #expect(read([text("MDPC02"), [1], []]).kind == .malformed(.badServiceName))
        #expect(read([text("MDPC02"), [1], [7]]).kind == .malformed(.badServiceName))
        #expect(read([text("MDPW02"), [4], text("x")]).kind == .malformed(.badAddress))
        let many = [[UInt8]](repeating: [1], count: 17)
        #expect(read(many).kind == .malformed(.tooManyFrames))
    }

    @Test("a malformed message of a known worker sends it away")
    func malformedWorker() {
        let bus = BrokerUnderTest()
        _ = bus.ready()
        _ = bus.request("1")
        #expect(
            bus.send([text("MDPW02"), [9]], from: BrokerUnderTest.worker).kinds == [.disconnect])
        #expect(bus.ready(BrokerUnderTest.otherWorker).bodies == ["1"])
    }

    @Test("random bytes and broken messages never stop the broker, and leak nothing")
    func fuzz() {
        let bus = BrokerUnderTest {
            $0.servicesMax = 64
            $0.clientsMax = 32
        }
        var random = SplitMix(seed: 42)
        let words = ["MDPC01", "MDPC02", "MDPW01", "MDPW02", "echo", "mmi.stats", "credit=9", ""]
        let peers = (0..<12).map { RoutingID([0, $0]) }
        var tokens: [[UInt8]] = [AddressToken(slot: 0, generation: 0, random: 0).bytes]
        for _ in 0..<20_000 {
            let count = Int(random.next() % 8)
            let frames: [[UInt8]] = (0..<count).map { _ in
                switch random.next() % 6 {
                case 0: return [UInt8(truncatingIfNeeded: random.next() % 8)]
                case 1:
                    return (0..<Int(random.next() % 40)).map { _ in
                        UInt8(truncatingIfNeeded: random.next())
                    }
                case 2: return tokens[Int(random.next() % UInt64(tokens.count))]
                case 3: return BrokerUnderTest.header(timeLeft: 100).encoded()
                default: return Array(words[Int(random.next() % UInt64(words.count))].utf8)
                }
            }
            let caller = CallerNumber(rawValue: Int(random.next() % 4))
            let peer = peers[Int(random.next() % UInt64(peers.count))]
            for message in bus.send(frames, from: peer, as: caller) {
                let address = Frames(message).address
                if !address.isEmpty { tokens.append(address) }
            }
            if random.next() % 50 == 0 { _ = bus.pass(.milliseconds(20)) }
            if random.next() % 200 == 0 { _ = bus.unreachable(peer) }
        }
        _ = bus.pass(.seconds(700))
        #expect(bus.broker.machine.isIdle)
        #expect(bus.broker.payloadsCount == 0)
        #expect(bus.broker.machine.counters.malformed.reduce(0, +) > 1_000)
        #expect(bus.broker.machine.counters.requests > 10)
    }
}

struct SplitMix {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
