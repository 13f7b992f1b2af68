import Effects
import Primitives
import Testing

/// Bytes that count up, so that a draw is known.
private struct CountingRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
}

/// Gives the listed draws of four bytes in turn.
private final class ListedRandom: RandomSource {
    private let draws: Lock<[UInt32]>
    init(_ draws: [UInt32]) { self.draws = Lock(draws.reversed()) }
    func bytes(_ count: Int) -> [UInt8] {
        let draw = draws.withLock { $0.popLast() ?? 0 }
        return [
            UInt8(draw >> 24), UInt8(draw >> 16 & 255), UInt8(draw >> 8 & 255), UInt8(draw & 255),
        ]
    }
}

@Suite struct IdentifierTests {
    @Test("an id is its prefix and 26 characters; its text reads back")
    func form() throws {
        let id: RunID = CountingRandom().identifier()
        #expect(id.text.hasPrefix("run_") && id.text.count == 30)
        #expect(RunID(id.text) == id)
        #expect(id.text == "run_000g40r40m30e209185gr38e1w")
        let ones = RunID(random: Array(repeating: 255, count: 16))
        #expect(ones.text == "run_zzzzzzzzzzzzzzzzzzzzzzzzzw")
        #expect(ones != id)
    }

    @Test("another kind's id, another length or another letter is refused")
    func refusals() {
        let good = RunID(random: Array(0..<16)).text
        let bad = [
            "", "run_", "run", "chl_" + good.dropFirst(4), String(good.dropLast()), good + "0",
            "RUN_" + good.dropFirst(4), "run_" + good.dropFirst(4).uppercased(),
            good.dropLast() + "i", good.dropLast() + "é",
        ]
        for text in bad { #expect(RunID(text) == nil, "\(text)") }
    }
}

@Suite struct PhoneNumberTests {
    @Test(
        "E.164 only",
        arguments: [
            "", "+", "14155552671", "+0123456789", "+123456", "+1234567890123456",
            "+1 4155552671", "+1415555267a", "+٤١٥٥٥٥٢٦٧١", "++14155552671",
        ])
    func refusals(text: String) { #expect(PhoneNumber(e164: text) == nil) }

    @Test("a number prints masked, with at most five leading and two last characters")
    func masking() throws {
        for (text, masked) in [
            ("+14155552671", "+1415•••71"), ("+8613800138000", "+8613•••00"),
            ("+1234567", "+12•••67"), ("+123456789012345", "+1234•••45"),
        ] {
            let number = try #require(PhoneNumber(e164: text))
            #expect(number.masked == masked)
            var dumped = ""
            dump(number, to: &dumped)
            for shown in ["\(number)", String(reflecting: number), dumped, "\([number])"] {
                #expect(!shown.contains(text))
            }
            #expect(LogValue(number) == .text(masked))
        }
    }
}

@Suite struct BoundedQueueTests {
    @Test("first in, first out; full refuses and changes nothing")
    func order() {
        var queue = BoundedQueue<Int>(countMax: 2)
        #expect(queue.pop() == nil && queue.isEmpty)
        #expect(queue.push(1) && queue.push(2))
        #expect(queue.push(3) == false)
        #expect(queue.count == 2 && queue.first == 1)
        #expect(queue.pop() == 1)
        #expect(queue.push(4) == true)
        #expect(queue.pop() == 2 && queue.pop() == 4 && queue.pop() == nil)
        #expect(queue.isEmpty && queue.first == nil)
    }

    @Test("order and count survive thousands of pushes and pops at every fill")
    func long() {
        for fill in [1, 31, 32, 33, 64, 100] {
            var queue = BoundedQueue<Int>(countMax: fill)
            var next = 0
            var expected = 0
            for round in 0..<3000 {
                while queue.push(next) { next += 1 }
                #expect(queue.count == fill)
                for _ in 0...(round % fill) {
                    #expect(queue.pop() == expected)
                    expected += 1
                }
            }
        }
    }
}

@Suite struct TimeTests {
    @Test("whole milliseconds round towards zero and saturate")
    func duration() {
        #expect(Duration.seconds(2).wholeMilliseconds == 2000)
        #expect(Duration.microseconds(1999).wholeMilliseconds == 1)
        #expect(Duration.microseconds(-1999).wholeMilliseconds == -1)
        #expect(Duration.zero.wholeMilliseconds == 0)
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
    }

    @Test("an instant never wraps around")
    func saturation() {
        let last = WallTime(millisecondsSince1970: .max)
        let first = WallTime(millisecondsSince1970: .min)
        #expect(last + .seconds(1) == last)
        #expect(first - .seconds(1) == first)
        let now = WallTime(millisecondsSince1970: 1_800_000_000_000)
        #expect(now + .seconds(60) - now == .seconds(60))
        #expect(now - .seconds(60) < now)
        #expect(now - (now + .seconds(5)) == .seconds(-5))
    }
}

@Suite struct RandomSourceTests {
    @Test("a draw above the last whole multiple is thrown away, so no number is likelier")
    func rejection() {
        // 2³² mod 10 is 6: draws from 4294967290 on would favour 0…5.
        let random = ListedRandom([4_294_967_295, 4_294_967_290, 4_294_967_289])
        #expect(random.uniform(below: 10) == 9)
        #expect(ListedRandom([12345]).uniform(below: 1) == 0)
        #expect(ListedRandom([7]).uniform(below: .max) == 7)
    }
}

@Suite struct LogTests {
    private final class Probe: LogSink {
        let level = LogLevel.info
        let lines = Lock<[String]>([])
        func write(_ record: LogRecord) {
            lines.withLock { $0.append("\(record.message) \(record.metadata.map(\.key))") }
        }
    }

    @Test(
        "a line below the sink's level does not reach it; the others do, with their keys in order")
    func levels() {
        let probe = Probe()
        let log = Log(probe)
        log.debug("quiet")
        log.info("started", ["b": 1, "a": true])
        log.error("broken")
        #expect(probe.lines.withLock { $0 } == ["started [\"b\", \"a\"]", "broken []"])
    }
}
