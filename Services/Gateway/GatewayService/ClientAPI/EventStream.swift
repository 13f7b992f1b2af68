import Bus
import Effects
import HTTPTypes
import Messages
import Primitives

/// Places for open streams of events: each asks the bus once a second.
package final class EventSeats: Sendable {
    static let perRunMax = 4
    /// Of one client address; loopback is not counted.
    static let perAddressMax = 64
    static let perGatewayMax = 1_000
    /// After which somebody may have left.
    static let retryAfterMilliseconds: Int64 = 5_000

    private struct Taken: Sendable {
        var byRun: [RunID: Int] = [:]
        /// By the text that an address counts as.
        var byAddress: [String: Int] = [:]
        var count = 0
    }
    private let taken = Lock(Taken())

    var count: Int { taken.withLock(\.count) }

    /// - Parameter address: of the client; nil is not counted.
    /// - Throws: `too_many` for the run or the address, `overloaded` for the gateway.
    func take(_ run: RunID, from address: ClientAddress?) throws(ServiceFailure) -> EventSeat {
        let address = address.flatMap { $0.isLoopback ? nil : $0.text }
        try taken.withLock { taken throws(ServiceFailure) in
            guard taken.byRun[run, default: 0] < Self.perRunMax else {
                throw ServiceFailure(
                    .tooMany, "this run has \(Self.perRunMax) open streams of events",
                    field: "runId", retryAfterMilliseconds: Self.retryAfterMilliseconds)
            }
            if let address, taken.byAddress[address, default: 0] >= Self.perAddressMax {
                throw ServiceFailure(
                    .tooMany, "this address has \(Self.perAddressMax) open streams of events",
                    retryAfterMilliseconds: Self.retryAfterMilliseconds)
            }
            guard taken.count < Self.perGatewayMax else {
                throw ServiceFailure(
                    .overloaded, "this gateway has no room for another stream of events",
                    retryAfterMilliseconds: Self.retryAfterMilliseconds)
            }
            taken.byRun[run, default: 0] += 1
            if let address { taken.byAddress[address, default: 0] += 1 }
            taken.count += 1
        }
        return EventSeat(seats: self, run: run, address: address)
    }

    fileprivate func giveBack(_ run: RunID, _ address: String?) {
        taken.withLock { taken in
            taken.count -= 1
            let left = taken.byRun[run, default: 1] - 1
            taken.byRun[run] = left > 0 ? left : nil
            guard let address else { return }
            let open = taken.byAddress[address, default: 1] - 1
            taken.byAddress[address] = open > 0 ? open : nil
        }
    }
}

/// Given back when nobody holds it any more: also when the server drops a stream unasked.
final class EventSeat: Sendable {
    private let seats: EventSeats
    private let run: RunID
    private let address: String?

    fileprivate init(seats: EventSeats, run: RunID, address: String?) {
        self.seats = seats
        self.run = run
        self.address = address
    }

    deinit { seats.giveBack(run, address) }
}

/// The shell of a feed: asks, waits, hands out.
final class EventStream: Sendable {
    typealias Ask = @Sendable (_ after: Int64) async throws(ServiceFailure) -> SceneView

    private struct State: Sendable {
        var feed: EventFeed
        var seat: EventSeat?
        /// Told before anything is asked.
        var first: [UInt8]?
        var asksAtOnce = false
    }
    private let state: Lock<State>
    private let pause: any Pause
    private let ask: Ask

    /// - Parameter view: the first answer; its asker was let in.
    init(
        _ feed: EventFeed, first view: SceneView, seat: EventSeat, pause: any Pause,
        ask: @escaping Ask
    ) {
        self.pause = pause
        self.ask = ask
        state = Lock(State(feed: feed, seat: seat))
        let told = settle { $0.take(view, at: pause.steadyNow()) }
        state.withLock { $0.first = EventFeed.opening + (told ?? []) }
    }

    /// The next piece; nil when it is over, or its reader has gone.
    func next() async -> [UInt8]? {
        if let first = state.withLock({ $0.first.take() }) { return first }
        while let (after, isBehind) = place {
            do {
                if !isBehind { try await pause.wait(EventFeed.askGap) }
                guard !Task.isCancelled else { break }
            } catch { break }
            let told: [UInt8]?
            do throws(ServiceFailure) {
                let view = try await ask(after)
                told = settle { $0.take(view, at: pause.steadyNow()) }
            } catch {
                told = settle { $0.take(error, at: pause.steadyNow()) }
            }
            if let told { return told }
        }
        leave()
        return nil
    }

    /// Where the stream stands; nil when it is over.
    private var place: (after: Int64, isBehind: Bool)? {
        let now = pause.steadyNow()
        return state.withLock { state in
            guard state.seat != nil, !state.feed.isOver(at: now) else { return nil }
            return (state.feed.lastSequence, state.asksAtOnce)
        }
    }

    private func settle(_ body: (inout EventFeed) -> EventFeed.Move) -> [UInt8]? {
        let (move, seat) = state.withLock { state -> (EventFeed.Move, EventSeat?) in
            let move = body(&state.feed)
            state.asksAtOnce = false
            switch move {
            case .tellAndAsk: state.asksAtOnce = true
            case .tellAndEnd: return (move, state.seat.take())
            case .tell, .nothing: break
            }
            return (move, nil)
        }
        // Its last holder, when the lock is free again.
        _ = seat
        return switch move {
        case .nothing: nil
        case .tell(let text), .tellAndAsk(let text), .tellAndEnd(let text): text
        }
    }

    private func leave() { _ = state.withLock { $0.seat.take() } }
}

extension ClientAPI {
    /// Never a held request: short questions, once a second, for as long as somebody listens. Each
    /// of them shows token and run key again.
    func events(
        _ client: ClientRequest, _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let run = try client.run()
        let after = try client.lastEvent()
        let ask: EventStream.Ask = { sequence throws(ServiceFailure) in
            try await bus.call(
                GetScene(
                    runId: run.id, authToken: client.token, runKey: run.key,
                    sinceSequence: sequence),
                client.options())
        }
        let view = try await ask(after)
        let headers: HTTPHeaders = [
            "Content-Type": "text/event-stream", "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        ]
        guard http.method != "HEAD" else { return HTTPResponse(status: 200, headers: headers) }
        let stream = EventStream(
            EventFeed(after: after, at: pause.steadyNow()), first: view,
            seat: try seats.take(run.id, from: scope.clientAddress), pause: pause, ask: ask)
        return HTTPResponse(
            status: 200, headers: headers, body: .stream { await stream.next() })
    }
}
