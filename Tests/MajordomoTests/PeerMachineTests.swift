import Majordomo
import Primitives
import Testing

@Suite("The worker's own machine")
struct WorkerMachineTests {
    private var capabilities: WorkerCapabilities {
        WorkerCapabilities(
            credit: 2, heartbeatMilliseconds: 250, wantsPrincipal: true, instanceID: "i",
            version: "1", isRetrySafe: true)
    }
    private func at(_ milliseconds: Int64) -> SteadyTime {
        SteadyTime(microseconds: milliseconds * 1000)
    }
    private var grant: WorkerInput {
        .heartbeat(WorkerCapabilities(Array("credit=2 hb=250".utf8)))
    }
    private func request(_ address: UInt8) -> WorkerInput {
        .request(address: [address], header: nil, bodyStart: 0)
    }

    @Test("opens, says READY, beats every interval once granted")
    func opening() {
        var worker = WorkerMachine(capabilities: capabilities, now: at(0))
        #expect(worker.tick(now: at(0), jitter: 0) == [.open, .sendReady])
        #expect(worker.tick(now: at(300), jitter: 0) == [])
        #expect(worker.receive(grant, now: at(300), jitter: 0) == [])
        #expect(worker.tick(now: at(310), jitter: 0) == [.sendHeartbeat(window: nil)])
        #expect(worker.tick(now: at(500), jitter: 0) == [])
        #expect(worker.tick(now: at(560), jitter: 0) == [.sendHeartbeat(window: nil)])
    }

    @Test("a silent or refusing broker is left, and found again on a new connection")
    func loss() {
        var worker = WorkerMachine(capabilities: capabilities, now: at(0))
        _ = worker.tick(now: at(0), jitter: 0)
        _ = worker.receive(grant, now: at(0), jitter: 0)
        let handed = worker.receive(request(1), now: at(10), jitter: 0)
        #expect(handed.count == 1)
        #expect(worker.tick(now: at(1_020), jitter: 0) == [])
        #expect(!worker.isOpen)
        #expect(worker.tick(now: at(1_090), jitter: 0) == [])
        #expect(worker.tick(now: at(1_110), jitter: 0) == [.open, .sendReady])
        // What was in hand belongs to a connection that is gone.
        if case .handle(let ticket) = handed[0] {
            #expect(worker.finished(ticket, now: at(1_120)) == [])
        }
        #expect(worker.repliesDropped == 1)
        #expect(worker.receive(.disconnect, now: at(1_130), jitter: 0) == [])
        #expect(!worker.isOpen)
    }

    @Test("waits double from 100 ms to a second while a broker is away")
    func backoff() {
        var worker = WorkerMachine(capabilities: capabilities, now: at(0))
        var now: Int64 = 0
        var waits: [Int64] = []
        for _ in 0..<6 {
            while worker.tick(now: at(now), jitter: 0.5).isEmpty { now += 10 }
            _ = worker.receive(.disconnect, now: at(now), jitter: 0.5)
            let closedAt = now
            while worker.wakeAt.map({ $0 > at(now) }) == true { now += 10 }
            waits.append(now - closedAt)
        }
        #expect(waits == [100, 200, 400, 800, 1_000, 1_000])
    }

    @Test("drains: window 0, the broker's echo, the last answer, DISCONNECT, end")
    func drain() {
        var worker = WorkerMachine(capabilities: capabilities, now: at(0))
        _ = worker.tick(now: at(0), jitter: 0)
        _ = worker.receive(grant, now: at(0), jitter: 0)
        guard case .handle(let first)? = worker.receive(request(1), now: at(1), jitter: 0).first
        else { return #expect(Bool(false)) }
        #expect(worker.drain(now: at(2)) == [.sendHeartbeat(window: "credit=0 hb=250")])
        // Sent by the broker before it knew.
        guard case .handle(let second)? = worker.receive(request(2), now: at(3), jitter: 0).first
        else { return #expect(Bool(false)) }
        #expect(worker.finished(first, now: at(4)) == [.sendReply(first)])
        let echo = WorkerInput.heartbeat(WorkerCapabilities(Array("credit=0 hb=250".utf8)))
        #expect(worker.receive(echo, now: at(5), jitter: 0) == [])
        #expect(
            worker.finished(second, now: at(6)) == [.sendReply(second), .sendDisconnect, .end])
        #expect(worker.isEnded)
    }

    @Test("a drain that meets a handler without end is bounded")
    func drainBound() {
        var worker = WorkerMachine(capabilities: capabilities, now: at(0))
        _ = worker.tick(now: at(0), jitter: 0)
        _ = worker.receive(request(1), now: at(1), jitter: 0)
        _ = worker.drain(now: at(2))
        #expect(worker.tick(now: at(9_900), jitter: 0) == [.sendHeartbeat(window: nil)])
        #expect(worker.tick(now: at(10_002), jitter: 0) == [.sendDisconnect, .end])
    }
}

extension WorkerCapabilities {
    init(_ text: [UInt8]) { self = text.withUnsafeBytes { Self($0) } }
}

@Suite("The client's own machine")
struct ClientMachineTests {
    private func at(_ milliseconds: Int64) -> SteadyTime {
        SteadyTime(microseconds: milliseconds * 1000)
    }
    private func id(_ number: UInt64) -> RequestID { RequestID(high: number, low: 0) }

    private func reply(_ id: RequestID) throws -> ClientInput {
        let header = BusHeader(kind: .final, requestID: id.bytes)
        let frames: [[UInt8]] = [Array("MDPC02".utf8), [3], Array("s".utf8), header.encoded()]
        return try #require(withFrameViews(frames) { ClientInput($0, .v02) })
    }

    @Test("a call ends once: by its reply, its deadline, its caller or its connection")
    func ends() throws {
        var client = ClientMachine(callsMax: 10, now: at(0))
        let calls = (1...5).map { number in
            client.begin(
                id(number), millisecondsLeft: number == 2 ? 100 : 1_000, now: at(0))
        }
        let (byReply, byTime) = (try #require(calls[0]), try #require(calls[1]))
        let (byCaller, byLoss) = (try #require(calls[2]), try #require(calls[3]))
        let unsent = try #require(calls[4])
        client.sent(byLoss, on: 0)
        let input = try reply(id(1))
        #expect(client.reply(input) == byReply)
        #expect(client.reply(input) == nil)
        #expect(client.repliesLate == 1)
        #expect(client.expired(now: at(90)) == [])
        #expect(client.expired(now: at(120)) == [byTime])
        let finishes = [client.finish(byCaller), client.finish(byCaller)]
        #expect(finishes == [true, false])
        #expect(client.lost(connection: 0) == [byLoss])
        #expect(client.waitingCount == 1)
        #expect(client.millisecondsLeft(unsent, now: at(400)) == 600)
    }

    @Test("calls are bounded, and two calls with one id are both answered")
    func bounds() throws {
        var client = ClientMachine(callsMax: 2, now: at(0))
        let begun = (1...3).map { _ in
            client.begin(id(1), millisecondsLeft: 1_000, now: at(0))
        }
        let (first, second) = (try #require(begun[0]), try #require(begun[1]))
        #expect(begun[2] == nil)
        let input = try reply(id(1))
        let answered = [client.reply(input), client.reply(input)]
        #expect(Set(answered) == [first, second])
        #expect(client.waitingCount == 0)
    }
}
