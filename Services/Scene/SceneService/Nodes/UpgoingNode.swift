import Messages
import Primitives
import Storage

/// The person sends a text from the handset. Whether it arrived is asked when the app server
/// verifies, not here.
struct UpgoingNode: WaitingNode {
    static let kind = NodeKind.upgoingSMS
    static let won = 600_007
    static let refused = 600_008

    func take(
        _ input: TypedInput, at node: SceneNode, _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) -> NodeStep {
        guard input.input.sent == true, let upgoing = desk.run.upgoing else {
            throw SceneFailure.notExpected("up-going SMS takes sent")
        }
        guard desk.now.millisecondsSince1970 < upgoing.expiresAtMilliseconds else {
            desk.run.fail(node, Self.refused, "upgoing_expired")
            return .done
        }
        guard desk.run.reserveMaskToken() else { throw SceneFailure.maskTokensUsedUp }
        return .ask(.upgoing(upgoing.upgoingId, ProofTerms(at: node, desk)))
    }

    func ask(_ question: NodeQuestion, _ call: NodeCall) async throws(ServiceFailure) -> NodeAnswer
    {
        guard case .upgoing(let id, let terms) = question else { throw question.misplaced }
        return try await call.open(Evidence(kind: .upgoing, upgoingId: id), terms)
    }

    func settle(
        _ question: NodeQuestion, _ answer: NodeAnswer, at node: SceneNode,
        _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) {
        desk.settleProof(answer, at: node, won: Self.won, refused: Self.refused)
    }
}
