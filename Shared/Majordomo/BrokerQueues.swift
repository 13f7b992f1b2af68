/// Waiting requests of a service: what was requeued first, then one request of each client in
/// turn, so that a flood of one client does not starve the others.
extension BrokerMachine {
    /// False, and nothing changed, when the service's queue is full.
    mutating func enqueue(_ index: Int32, _ now: SteadyTime) -> Bool {
        let request = requests[Int(index)]
        let service = Int(request.service)
        guard services[service].queuedCount < limits.queuedPerServiceMax,
            services[service].queuedBytes + Int(request.bytes)
                <= limits.queuedBytesPerServiceMax
        else { return false }
        let turn = turnFor(request.service, request.client)
        requests[Int(index)].turn = turn
        queueLinks.append(index, to: &turns[Int(turn)].list)
        countQueued(index, now)
        return true
    }

    /// Back to the head of the queue; never refused, for it was let in before.
    mutating func requeue(_ index: Int32, _ now: SteadyTime) {
        counters.requeued += 1
        let service = Int(requests[Int(index)].service)
        requests[Int(index)].turn = -1
        requests[Int(index)].worker = -1
        queueLinks.prepend(index, to: &services[service].front)
        countQueued(index, now)
    }

    private mutating func countQueued(_ index: Int32, _ now: SteadyTime) {
        let slot = Int(index)
        let service = Int(requests[slot].service)
        requests[slot].state = .queued
        requests[slot].queuedAt = now
        services[service].queuedCount += 1
        services[service].queuedBytes += Int(requests[slot].bytes)
        armQueued(index, now)
    }

    /// Looks again at the deadline, or within a second, so that a service that lost its last worker
    /// is noticed.
    mutating func armQueued(_ index: Int32, _ now: SteadyTime) {
        wheel.arm(
            index, at: min(requests[Int(index)].deadline, now.advanced(microseconds: 1_000_000)))
    }

    func nextQueued(_ service: Int32) -> Int32? {
        let record = services[Int(service)]
        if !record.front.isEmpty { return record.front.head }
        return record.ring.isEmpty ? nil : turns[Int(record.ring.head)].list.head
    }

    /// Takes a waiting request out of its queue; its client's turn goes to the end of the ring.
    mutating func unqueue(_ index: Int32) {
        let request = requests[Int(index)]
        let service = Int(request.service)
        services[service].queuedCount -= 1
        services[service].queuedBytes -= Int(request.bytes)
        guard request.turn >= 0 else {
            queueLinks.remove(index, from: &services[service].front)
            return
        }
        let turn = Int(request.turn)
        queueLinks.remove(index, from: &turns[turn].list)
        requests[Int(index)].turn = -1
        ringLinks.remove(request.turn, from: &services[service].ring)
        if turns[turn].list.isEmpty {
            turnIndex[Self.turnKey(turns[turn].service, turns[turn].client)] = nil
            freeTurns.append(request.turn)
        } else {
            ringLinks.append(request.turn, to: &services[service].ring)
        }
    }

    private mutating func turnFor(_ service: Int32, _ client: Int32) -> Int32 {
        let key = Self.turnKey(service, client)
        if let turn = turnIndex[key] { return turn }
        let turn: Int32
        if let free = freeTurns.popLast() {
            turn = free
            turns[Int(turn)] = TurnRecord(service: service, client: client)
        } else {
            turn = Int32(turns.count)
            turns.append(TurnRecord(service: service, client: client))
            ringLinks.reserve(turns.count)
        }
        turnIndex[key] = turn
        ringLinks.append(turn, to: &services[Int(service)].ring)
        return turn
    }

    private static func turnKey(_ service: Int32, _ client: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: service)) << 32 | UInt64(UInt32(bitPattern: client))
    }
}
