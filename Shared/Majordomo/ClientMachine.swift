import Primitives

/// The client's side as a value: which calls wait, on which connection, until when.
///
/// A call is begun, maybe sent, and finished exactly once: by its reply, its deadline, its caller,
/// or the loss of the connection that it went out on. Replies without a waiting call are counted
/// and dropped.
package struct ClientMachine: Sendable {
    /// Calls at once; one more is `overloaded` here, before it costs the broker anything.
    package let callsMax: Int
    package private(set) var repliesLate: Int64 = 0
    package private(set) var waitingCount = 0

    package struct Call: Hashable, Sendable {
        package let slot: Int32
        package let generation: UInt32
    }

    private struct Record: Sendable {
        var requestID = RequestID(high: 0, low: 0)
        var generation: UInt32 = 0
        /// -1 not sent yet.
        var connection: Int32 = -1
        var isUsed = false
        var deadline = SteadyTime(microseconds: 0)
        /// Next call with the same request id, or -1.
        var nextAlike: Int32 = -1
    }

    private var records: [Record] = []
    private var free: [Int32] = []
    private var byID: [RequestID: Int32] = [:]
    private var wheel: DeadlineWheel
    private var due: [Int32] = []

    package init(callsMax: Int, now: SteadyTime) {
        precondition(callsMax > 0, "a client that may not call")
        self.callsMax = callsMax
        wheel = DeadlineWheel(startingAt: now)
    }

    /// nil when too many calls wait.
    package mutating func begin(
        _ requestID: RequestID, millisecondsLeft: Int64, now: SteadyTime
    ) -> Call? {
        guard waitingCount < callsMax else { return nil }
        waitingCount += 1
        let slot: Int32
        if let reused = free.popLast() {
            slot = reused
        } else {
            slot = Int32(records.count)
            records.append(Record())
            wheel.reserve(records.count)
        }
        let index = Int(slot)
        records[index].requestID = requestID
        records[index].connection = -1
        records[index].isUsed = true
        records[index].deadline = now.advanced(microseconds: millisecondsLeft * 1_000)
        records[index].nextAlike = byID.updateValue(slot, forKey: requestID) ?? -1
        wheel.arm(slot, at: records[index].deadline)
        return Call(slot: slot, generation: records[index].generation)
    }

    /// What is left of the call's time, at least one millisecond; nil once it is finished.
    package func millisecondsLeft(_ call: Call, now: SteadyTime) -> Int64? {
        guard isWaiting(call) else { return nil }
        let left = records[Int(call.slot)].deadline.microseconds - now.microseconds
        return max(left / 1_000, 1)
    }

    /// The call that waits in `slot`, if one does.
    package func waiting(inSlot slot: Int32) -> Call? {
        guard slot >= 0, slot < records.count, records[Int(slot)].isUsed else { return nil }
        return Call(slot: slot, generation: records[Int(slot)].generation)
    }

    package mutating func sent(_ call: Call, on connection: Int) {
        if isWaiting(call) { records[Int(call.slot)].connection = Int32(connection) }
    }

    /// The call that this final reply answers, now finished; nil for a late or foreign one.
    package mutating func reply(_ input: ClientInput) -> Call? {
        guard input.isFinal, let requestID = input.requestID, let slot = byID[requestID] else {
            repliesLate += 1
            return nil
        }
        let call = Call(slot: slot, generation: records[Int(slot)].generation)
        _ = finish(call)
        return call
    }

    /// Finishes a call without a reply (cancelled); false when it was finished before.
    package mutating func finish(_ call: Call) -> Bool {
        guard isWaiting(call) else { return false }
        let index = Int(call.slot)
        unlink(call.slot)
        wheel.disarm(call.slot)
        records[index].isUsed = false
        records[index].generation &+= 1
        free.append(call.slot)
        waitingCount -= 1
        return true
    }

    /// Calls whose deadline passed, now finished.
    package mutating func expired(now: SteadyTime) -> [Call] {
        due.removeAll(keepingCapacity: true)
        wheel.advance(to: now, into: &due)
        return due.map { finishSlot($0) }
    }

    /// Calls that had gone out on `connection`, now finished: their answers cannot come any more.
    package mutating func lost(connection: Int) -> [Call] {
        records.indices
            .filter { records[$0].isUsed && records[$0].connection == Int32(connection) }
            .map { finishSlot(Int32($0)) }
    }

    private mutating func finishSlot(_ slot: Int32) -> Call {
        let call = Call(slot: slot, generation: records[Int(slot)].generation)
        _ = finish(call)
        return call
    }

    private func isWaiting(_ call: Call) -> Bool {
        let index = Int(call.slot)
        return index < records.count && records[index].isUsed
            && records[index].generation == call.generation
    }

    private mutating func unlink(_ slot: Int32) {
        let requestID = records[Int(slot)].requestID
        let following = records[Int(slot)].nextAlike
        guard var current = byID[requestID] else { return }
        if current == slot {
            byID[requestID] = following < 0 ? nil : following
            return
        }
        while current >= 0 {
            let next = records[Int(current)].nextAlike
            if next == slot { records[Int(current)].nextAlike = following }
            current = next
        }
    }
}
