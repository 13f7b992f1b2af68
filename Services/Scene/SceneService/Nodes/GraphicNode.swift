import Messages
import Primitives
import Storage

/// A human check. A passed one moves on at once; a failed one lets the person try again.
struct GraphicNode: WaitingNode {
    static let kind = NodeKind.graphic
    static let accepted = 110_007
    static let refused = 110_008

    func take(
        _ input: TypedInput, at node: SceneNode, _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) -> NodeStep {
        guard let proof = input.input.proof else {
            throw SceneFailure.notExpected("graphic authentication takes proof")
        }
        desk.run.touch()
        return .ask(.proof(proof))
    }

    func ask(_ question: NodeQuestion, _ call: NodeCall) async throws(ServiceFailure) -> NodeAnswer
    {
        guard case .proof(let proof) = question else { throw question.misplaced }
        do throws(ServiceFailure) {
            let accepted = try await call.human.check(proof, call.options("proof"))
            return .proofJudged(accepted: accepted)
        } catch {
            return try NodeCall.refusal(error)
        }
    }

    func settle(
        _ question: NodeQuestion, _ answer: NodeAnswer, at node: SceneNode,
        _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) {
        switch answer {
        case .proofJudged(accepted: true):
            desk.run.note("proof_accepted", node, Self.accepted)
            try desk.leave(by: .success, &rows)
        case .refused(let failure): desk.run.fail(node, Self.refused, failure.code.rawValue)
        case .proofJudged, .sent, .won, .tooRisky:
            desk.run.fail(node, Self.refused, "proof_refused")
        }
    }
}
