/// A doubly linked list whose links live in a `LinkTable`: taking one out of the middle costs the
/// same as taking the first.
struct IndexList: Sendable {
    var head: Int32 = -1
    var tail: Int32 = -1
    var count: Int32 = 0
    var isEmpty: Bool { head < 0 }
}

/// Links of elements that are named by small integers; an element is in at most one list per table.
struct LinkTable: Sendable {
    private var next: [Int32] = []
    private var previous: [Int32] = []

    mutating func reserve(_ count: Int) {
        while next.count < count {
            next.append(-1)
            previous.append(-1)
        }
    }

    func following(_ index: Int32) -> Int32 { next[Int(index)] }

    mutating func append(_ index: Int32, to list: inout IndexList) {
        next[Int(index)] = -1
        previous[Int(index)] = list.tail
        if list.tail >= 0 { next[Int(list.tail)] = index } else { list.head = index }
        list.tail = index
        list.count += 1
    }

    mutating func prepend(_ index: Int32, to list: inout IndexList) {
        previous[Int(index)] = -1
        next[Int(index)] = list.head
        if list.head >= 0 { previous[Int(list.head)] = index } else { list.tail = index }
        list.head = index
        list.count += 1
    }

    mutating func remove(_ index: Int32, from list: inout IndexList) {
        let before = previous[Int(index)]
        let after = next[Int(index)]
        if before >= 0 { next[Int(before)] = after } else { list.head = after }
        if after >= 0 { previous[Int(after)] = before } else { list.tail = before }
        next[Int(index)] = -1
        previous[Int(index)] = -1
        list.count -= 1
    }
}

/// A wheel of 10 ms teeth. Arming and disarming cost the same whatever the number of timers; a
/// timer further away than one turn is looked at once per turn. Never early, at most one tooth
/// late.
package struct DeadlineWheel: Sendable {
    package static let toothMicroseconds: Int64 = 10_000
    private static let teethCount = 4096

    private var teeth = [IndexList](repeating: IndexList(), count: teethCount)
    private var links = LinkTable()
    private var dueAt: [Int64] = []
    private var toothOf: [Int32] = []
    /// Every tooth up to and including this one has been looked at.
    private var position: Int64

    package init(startingAt now: SteadyTime) {
        position = now.microseconds / Self.toothMicroseconds
    }

    package mutating func reserve(_ count: Int) {
        links.reserve(count)
        while dueAt.count < count {
            dueAt.append(0)
            toothOf.append(-1)
        }
    }

    package mutating func arm(_ index: Int32, at instant: SteadyTime) {
        disarm(index)
        let wanted = instant.microseconds / Self.toothMicroseconds + 1
        let tooth = Int(max(wanted, position + 1) % Int64(Self.teethCount))
        dueAt[Int(index)] = instant.microseconds
        toothOf[Int(index)] = Int32(tooth)
        links.append(index, to: &teeth[tooth])
    }

    package mutating func disarm(_ index: Int32) {
        let tooth = toothOf[Int(index)]
        guard tooth >= 0 else { return }
        links.remove(index, from: &teeth[Int(tooth)])
        toothOf[Int(index)] = -1
    }

    /// Disarms everything due at `now` and appends it to `due`.
    package mutating func advance(to now: SteadyTime, into due: inout [Int32]) {
        let target = now.microseconds / Self.toothMicroseconds
        guard target > position else { return }
        let teethPassed = min(target - position, Int64(Self.teethCount))
        for step in 1...teethPassed {
            let tooth = Int((position + step) % Int64(Self.teethCount))
            var index = teeth[tooth].head
            while index >= 0 {
                let following = links.following(index)
                if dueAt[Int(index)] <= now.microseconds {
                    links.remove(index, from: &teeth[tooth])
                    toothOf[Int(index)] = -1
                    due.append(index)
                }
                index = following
            }
        }
        position = target
    }
}
