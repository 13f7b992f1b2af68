import Messages
import Primitives
import Storage

/// Carrier one-click authentication: the client fetched a token from its carrier, or could not.
struct NumberAuthNode: WaitingNode {
    static let kind = NodeKind.numberAuth
    static let won = 400_006
    static let failed = 400_007

    func take(
        _ input: TypedInput, at node: SceneNode, _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) -> NodeStep {
        if let token = input.input.carrierToken {
            guard desk.run.reserveMaskToken() else { throw SceneFailure.maskTokensUsedUp }
            return .ask(.carrier(token, ProofTerms(at: node, desk)))
        }
        if let innerCode = input.input.failed {
            // The client says why, shows it, and then asks for the failure edge.
            desk.run.fail(node, Self.failed, "inner_\(innerCode)")
            return .done
        }
        if input.input.otherLogin == true {
            guard let other = node.settings?.otherButtonNode else {
                throw SceneFailure.notExpected("this node has no other way to log in")
            }
            try desk.leave(for: other, &rows)
            return .done
        }
        throw SceneFailure.notExpected("takes carrierToken, failed or otherLogin")
    }

    func ask(_ question: NodeQuestion, _ call: NodeCall) async throws(ServiceFailure) -> NodeAnswer
    {
        guard case .carrier(let token, let terms) = question else { throw question.misplaced }
        return try await call.open(Evidence(kind: .carrier, carrierToken: token), terms)
    }

    func settle(
        _ question: NodeQuestion, _ answer: NodeAnswer, at node: SceneNode,
        _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) {
        desk.settleProof(answer, at: node, won: Self.won, refused: Self.failed)
    }
}
