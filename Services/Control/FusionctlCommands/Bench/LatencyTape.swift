/// Times of one kind of call, in buckets that are a thirty-second of their power of two wide: figures are
/// right to three parts in a hundred, and a long run takes no more memory than a short one.
struct LatencyTape: Sendable {
    private static let stepsPerDoubling = 32
    private static let doublingsMax = 40

    private var buckets = [Int](repeating: 0, count: stepsPerDoubling * doublingsMax)
    private(set) var count = 0

    mutating func add(_ span: Duration) {
        let (seconds, attoseconds) = span.components
        let microseconds = max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        buckets[Self.bucket(of: microseconds)] += 1
        count += 1
    }

    mutating func add(_ other: LatencyTape) {
        for index in buckets.indices { buckets[index] += other.buckets[index] }
        count += other.count
    }

    /// The time that `share` of the calls did not exceed; 0 when nothing was timed.
    func microseconds(_ share: Double) -> Double {
        let wanted = max(1, Int((Double(count) * share).rounded(.up)))
        var seen = 0
        for (index, number) in buckets.enumerated() {
            seen += number
            if number > 0, seen >= wanted { return Double(Self.middle(of: index)) }
        }
        return 0
    }

    private static func bucket(of microseconds: Int64) -> Int {
        let steps = Int64(stepsPerDoubling)
        guard microseconds >= steps else { return Int(microseconds) }
        let doubling = Int(63 - microseconds.leadingZeroBitCount) - 5
        let index = (doubling + 1) * stepsPerDoubling + Int(microseconds >> Int64(doubling)) - 32
        return min(index, stepsPerDoubling * doublingsMax - 1)
    }

    private static func middle(of bucket: Int) -> Int64 {
        guard bucket >= stepsPerDoubling else { return Int64(bucket) }
        let doubling = bucket / stepsPerDoubling - 1
        let low = Int64(bucket % stepsPerDoubling + stepsPerDoubling) << Int64(doubling)
        return low + (Int64(1) << Int64(doubling)) / 2
    }
}
