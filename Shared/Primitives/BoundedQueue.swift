/// A first-in, first-out queue that refuses instead of growing past its bound.
public struct BoundedQueue<Element: Sendable>: Sendable {
    public let countMax: Int
    private var items: [Element?] = []
    private var head = 0

    public init(countMax: Int) {
        precondition(countMax > 0, "a queue that holds nothing")
        self.countMax = countMax
    }

    public var count: Int { items.count - head }
    public var isEmpty: Bool { count == 0 }
    public var first: Element? { isEmpty ? nil : items[head] }

    /// Returns false, and changes nothing, when the queue is full.
    public mutating func push(_ item: Element) -> Bool {
        guard count < countMax else { return false }
        items.append(item)
        return true
    }

    public mutating func pop() -> Element? {
        guard head < items.count else { return nil }
        defer {
            items[head] = nil
            head += 1
            // Shift only when at least half is spent, so that the cost per element stays constant.
            if head > 32, head * 2 > items.count {
                items.removeFirst(head)
                head = 0
            }
        }
        return items[head]
    }
}
