import Messages
import Primitives

/// What one stream of events has told and tells next (WHATWG HTML, server-sent events).
///
/// Moves: open → open (an answer, a failure that passes) → over. A failure that says something about
/// the token or the run, too many that do not, or the end of the run ends it; nothing follows.
struct EventFeed: Sendable {
    enum Move: Sendable, Equatable {
        case nothing
        case tell([UInt8])
        /// More may be waiting: asks again at once.
        case tellAndAsk([UInt8])
        case tellAndEnd([UInt8])
    }

    /// Between two questions.
    static let askGap = Duration.seconds(1)
    /// Proxies close what is silent for a minute or less.
    static let silenceMax = Duration.seconds(15)
    /// Of a run.
    static let lifetimeMax = Duration.seconds(7_200)
    /// Questions in a row that nobody could answer.
    static let failuresMax = 30
    static let opening = Array(": open\n\n".utf8)
    static let keepAlive = Array(": still here\n\n".utf8)

    private(set) var lastSequence: Int64
    private let endsAt: Duration
    private var toldAt: Duration
    private var failuresCount = 0

    init(after sequence: Int64, at now: Duration) {
        lastSequence = sequence
        endsAt = now + Self.lifetimeMax
        toldAt = now
    }

    func isOver(at now: Duration) -> Bool { now >= endsAt }

    mutating func take(_ view: SceneView, at now: Duration) -> Move {
        failuresCount = 0
        let newer = (view.events ?? []).filter { $0.sequence > lastSequence }
        guard !newer.isEmpty else {
            return view.state.isEnd ? .tellAndEnd(Self.end(view)) : silence(at: now)
        }
        toldAt = now
        lastSequence = newer.map(\.sequence).max() ?? lastSequence
        let text = newer.flatMap(Self.text)
        // An answer holds a bounded number of events: the run's end follows the last of them.
        return view.state.isEnd ? .tellAndAsk(text) : .tell(text)
    }

    mutating func take(_ failure: ServiceFailure, at now: Duration) -> Move {
        failuresCount += 1
        let status = HTTPStatus.of(failure.code)
        guard status >= 500 || status == 429, failuresCount < Self.failuresMax else {
            return .tellAndEnd(Array(": \(failure.code)\n\n".utf8))
        }
        return silence(at: now)
    }

    private mutating func silence(at now: Duration) -> Move {
        guard now - toldAt >= Self.silenceMax else { return .nothing }
        toldAt = now
        return .tell(Self.keepAlive)
    }

    private static func text(_ event: SceneEvent) -> [UInt8] {
        Array("id: \(event.sequence)\nevent: \(event.name)\ndata: ".utf8)
            + JSONAnswer.encode(event) + Array("\n\n".utf8)
    }

    /// Without the events, which were told one by one.
    private static func end(_ view: SceneView) -> [UInt8] {
        let last = SceneView(
            runId: view.runId, templateId: view.templateId, step: view.step, state: view.state,
            endCode: view.endCode, resultCodes: view.resultCodes, node: view.node,
            reason: view.reason)
        return Array("event: end\ndata: ".utf8) + JSONAnswer.encode(last) + Array("\n\n".utf8)
    }
}
