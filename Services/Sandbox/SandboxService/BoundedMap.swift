/// A dictionary that forgets its oldest entries instead of growing past its bound.
struct BoundedMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let countMax: Int
    private var values: [Key: Value] = [:]
    /// In order of first insertion; keys that were removed stay until their turn.
    private var order: [Key] = []
    private var head = 0

    init(countMax: Int) {
        precondition(countMax > 0, "a map that holds nothing")
        self.countMax = countMax
    }

    var count: Int { values.count }

    subscript(key: Key) -> Value? { values[key] }

    mutating func put(_ key: Key, _ value: Value) {
        if values.updateValue(value, forKey: key) == nil { order.append(key) }
        while values.count > countMax, head < order.count {
            values[order[head]] = nil
            head += 1
        }
        // Shift only when at least half is spent, so that the cost per entry stays constant.
        if head > 64, head * 2 > order.count {
            order.removeFirst(head)
            head = 0
        }
    }

    mutating func removeAll() {
        values = [:]
        order = []
        head = 0
    }
}
