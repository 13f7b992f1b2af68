import Bus
import Effects
import Messages
import Primitives

/// The text that a walk would need at an up-going node it is about to enter. It is opened before
/// the transaction that enters, so that no client ever sees such a node without its text; a text
/// whose transaction fails is used by the next try, or expires unused.
struct UpgoingNeed: Sendable, Equatable {
    let step: Int
    let nodeId: String
    private let request: OpenUpgoing

    init(step: Int, node: SceneNode, run: SceneRun, map: SceneMap) {
        self.step = step
        nodeId = node.nodeId
        var number: PhoneNumber?
        var excluded: PhoneNumber?
        switch map.numberOwner(run.numbers, halfwayPassed: run.halfwayPassed) {
        case .anybody, .unknown: break
        case .only(let owner): number = owner
        case .notOld(let old): excluded = old
        }
        request = OpenUpgoing(
            schemeCode: map.schemeCode, purpose: map.purpose, number: number?.e164,
            excludedNumber: excluded?.e164,
            lifetimeSeconds: node.settings?.lifetimeSeconds
                ?? SceneMap.upgoingLifetimeSecondsDefault)
    }

    var name: String { "\(step)/\(nodeId)" }

    static func == (left: Self, right: Self) -> Bool { left.name == right.name }

    /// The same run, step and node get the same text, whoever asks and however often.
    /// - Throws: what the bus says when the service cannot be asked now.
    func open(
        for runId: RunID, on bus: any BusCaller, _ options: CallOptions
    ) async throws(ServiceFailure) -> PreparedUpgoing {
        var options = options
        options.requestKey = "\(runId)/\(name)"
        let bound = OpenUpgoing(
            schemeCode: request.schemeCode, purpose: request.purpose, runId: runId,
            number: request.number, excludedNumber: request.excludedNumber,
            lifetimeSeconds: request.lifetimeSeconds)
        do throws(ServiceFailure) {
            return PreparedUpgoing(name: name, outcome: .opened(try await bus.call(bound, options)))
        } catch {
            guard !SceneFailure.isPassing(error) else { throw error }
            return PreparedUpgoing(name: name, outcome: .refused(reason: error.code.rawValue))
        }
    }
}

/// A need, met.
struct PreparedUpgoing: Sendable {
    enum Outcome: Sendable {
        case opened(OpenedUpgoing)
        /// There is no way to receive a text: the node is unusable.
        case refused(reason: String)
    }
    let name: String
    let outcome: Outcome
}
