import Bus
import Effects
import Messages
import Primitives
import Storage

/// One kind of node that waits for the client. It holds no state of its own: the run does.
///
/// An input goes three ways: `take` decides in the first transaction, `ask` calls other services
/// outside any, `settle` records the answer in the last one. A node that asks nobody returns
/// `.done`.
protocol WaitingNode: Sendable {
    static var kind: NodeKind { get }

    /// - Throws: what the caller did wrong; nothing is written then.
    func take(
        _ input: TypedInput, at node: SceneNode, _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) -> NodeStep

    /// - Throws: only what says nothing about the request (`SceneFailure.isPassing`); every other
    ///   refusal is an answer.
    func ask(_ question: NodeQuestion, _ call: NodeCall) async throws(ServiceFailure) -> NodeAnswer

    /// The run is still at this node and step.
    /// - Throws: a refusal that the caller has to mend; it is the final answer of this request.
    func settle(
        _ question: NodeQuestion, _ answer: NodeAnswer, at node: SceneNode,
        _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure)
}

/// An input with its number read beforehand; a number that cannot be read matters only where it is
/// used.
struct TypedInput: Sendable {
    let input: NodeInput
    let number: Result<PhoneNumber, ServiceFailure>?
}

enum NodeStep: Sendable {
    case done
    case ask(NodeQuestion)
}

/// What a node asks other services. Kept sealed while the answer is open, so that anybody can ask
/// again.
enum NodeQuestion: Codable, Sendable {
    /// - Parameter ordinal: of the send within the run; names it at the callee.
    case send(SendCode, number: PhoneNumber, ordinal: Int)
    case guess(ChallengeID, code: String, ProofTerms)
    case carrier(Secret<String>, ProofTerms)
    case upgoing(UpgoingID, ProofTerms)
    case proof(String)
}

enum NodeAnswer: Sendable {
    case sent(SentCode)
    case won(OpenedVerification)
    case proofJudged(accepted: Bool)
    /// A risk scorer finds the number too risky.
    case tooRisky
    case refused(ServiceFailure)
}

/// What a proof must be of.
struct ProofTerms: Codable, Sendable, Equatable {
    var expectedNumber: PhoneNumber?
    var excludedNumber: PhoneNumber?
    let score: Bool

    /// Of a proof at a node where nobody types a number.
    init(at node: SceneNode, _ desk: SceneDesk) {
        score = desk.map.leadsToScore(node)
        switch desk.map.numberOwner(desk.run.numbers, halfwayPassed: desk.run.halfwayPassed) {
        case .anybody, .unknown: break
        case .only(let owner): expectedNumber = owner
        case .notOld(let old): excludedNumber = old
        }
    }

    /// Of a code that went to `number`.
    init(code number: PhoneNumber, at node: SceneNode, _ desk: SceneDesk) {
        score = desk.map.leadsToScore(node)
        expectedNumber = number
        if node.excludesOld { excludedNumber = desk.run.numbers.old ?? desk.run.numbers.bound }
    }
}

/// An open request of one run, as its pending answer keeps it.
struct ScenePlan: Codable, Sendable {
    let runId: RunID
    let step: Int
    let nodeId: String
    let kind: NodeKind
    /// Random; names this request's calls at other services, whatever its own key was.
    let reference: String
    let question: NodeQuestion
    let startedAt: WallTime
}

/// What a node needs to ask.
struct NodeCall: Sendable {
    /// Lifetime of a mask token at most (design, secure defaults).
    static let maskTokenLifetimeMax = Duration.seconds(600)

    let bus: any BusCaller
    let pause: any Pause
    let context: CallContext
    let facts: RunFacts
    let map: SceneMap
    let plan: ScenePlan
    let human: any HumanCheck
    let scorer: any RiskScorer

    /// - Parameter name: of the step; with the plan's reference it is the callee's request key.
    func options(_ name: String) -> CallOptions {
        var options = context.nested(pause)
        options.requestKey = "\(plan.runId)/\(plan.reference)/\(name)"
        return options
    }

    /// Turns evidence into a mask token, or says why not.
    func open(
        _ evidence: Evidence, _ terms: ProofTerms, notAfterMilliseconds: Int64 = .max
    ) async throws(ServiceFailure) -> NodeAnswer {
        // Counted from the plan, so that a repeat asks for the very same.
        let latest = (plan.startedAt + Self.maskTokenLifetimeMax).millisecondsSince1970
        let request = OpenVerification(
            schemeCode: facts.schemeCode, templateId: facts.templateId, runId: facts.runId,
            step: plan.step, nodeId: plan.nodeId, purpose: map.purpose, evidence: evidence,
            expectedNumber: terms.expectedNumber, excludedNumber: terms.excludedNumber,
            score: terms.score ? true : nil,
            expiresAtMilliseconds: min(latest, notAfterMilliseconds))
        do throws(ServiceFailure) {
            return .won(try await bus.call(request, options("open")))
        } catch {
            return try Self.refusal(error)
        }
    }

    static func refusal(_ failure: ServiceFailure) throws(ServiceFailure) -> NodeAnswer {
        guard !SceneFailure.isPassing(failure) else { throw failure }
        return .refused(failure)
    }
}

extension SceneDesk {
    /// Records a mask token, or its refusal, with the node's own codes.
    mutating func settleProof(
        _ answer: NodeAnswer, at node: SceneNode, won: Int, refused: Int
    ) {
        switch answer {
        case .won(let opened):
            run.wonMaskToken(node, won)
            maskToken = opened.maskToken
        case .refused(let failure):
            run.giveBackMaskToken()
            run.fail(node, refused, failure.code.rawValue)
        case .sent, .proofJudged, .tooRisky: break
        }
    }
}
