import Primitives

/// One request that has no final reply yet, in a slot that is used again.
struct RequestRecord: Sendable {
    enum State: UInt8, Sendable {
        case free
        case queued
        case dispatched
        /// The client was told that the deadline passed; the worker still owes its answer.
        case overrun
    }

    var state = State.free
    var dialect = Dialect.v02
    var hasHeader = false
    var attempt: UInt8 = 0
    /// Parts of an answer have gone out: another worker must not begin again.
    var hasPartial = false
    var generation: UInt32 = 0
    var random: UInt32 = 0
    var client: Int32 = -1
    var service: Int32 = -1
    var worker: Int32 = -1
    /// The turn it waits in; -1 in its service's front list.
    var turn: Int32 = -1
    var payload = PayloadHandle.none
    var bytes: Int32 = 0
    var caller: Int32 = -1
    var requestID = RequestID(high: 0, low: 0)
    var deadline = SteadyTime(microseconds: 0)
    /// Whether the client named it. Where it did not, the broker's own bound is no word of the
    /// client's, and
    /// the service applies the default of its method.
    var isDeadlineNamed = false
    var queuedAt = SteadyTime(microseconds: 0)
    var dispatchedAt = SteadyTime(microseconds: 0)
}

struct ClientRecord: Sendable {
    var routing: RoutingID
    var inFlight = 0
    var seenAt: SteadyTime
    var isUsed = true
}

struct WorkerRecord: Sendable {
    var routing: RoutingID
    var dialect: Dialect
    var caller: CallerNumber
    var service: Int32
    /// nil for a plain worker: credit 1, no header, silent while busy.
    var capabilities: WorkerCapabilities?
    var credit: Int
    var hand = IndexList()
    var heardAt: SteadyTime
    var sentAt: SteadyTime
    var registeredAt: SteadyTime
    var statistics = CallStatistics()
    var isUsed = true

    var freeCredit: Int { credit - Int(hand.count) }
    var isRetrySafe: Bool { capabilities?.isRetrySafe ?? true }
}

struct CallStatistics: Sendable {
    var requests: Int64 = 0
    var errors: Int64 = 0
    var lastErrorStatus: UInt16 = 0
    var processingMicroseconds: Int64 = 0
}

struct ServiceRecord: Sendable {
    var name: String
    var workers: [Int32] = []
    /// Where the next search for a worker begins, so that ties take turns.
    var cursor = 0
    /// Requeued requests, before everything else.
    var front = IndexList()
    /// Turns of clients with waiting work.
    var ring = IndexList()
    var queuedCount = 0
    /// Requests for this name in any state.
    var heldCount = 0
    var queuedBytes = 0
    var emptySince: SteadyTime
    var usedAt: SteadyTime
    /// By caller number: 0 not judged yet, 1 may call, 2 may not.
    var judged: [UInt8] = []
    var isUsed = true
}

/// The waiting requests of one client for one service.
struct TurnRecord: Sendable {
    var service: Int32
    var client: Int32
    var list = IndexList()
}

/// xoshiro256**: for tokens and for the ids of requests whose peer sent none; seeded by the shell.
struct TokenRandom: Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    init(seed: [UInt8]) {
        precondition(seed.count >= 32, "a broker's seed has 32 bytes")
        var words: [UInt64] = [1, 2, 3, 4]
        for (index, byte) in seed.prefix(32).enumerated() {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        state = (words[0] | 1, words[1], words[2], words[3])
    }

    mutating func next() -> UInt64 {
        let scaled = state.1 &* 5
        let result = (scaled << 7 | scaled >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }
}
