import Messages
import Primitives

/// Every kind that waits for the client, once. The others (device and number risk, splitter, phone
/// score) move on by themselves: `SceneMap.treatment`.
struct NodeCatalog: Sendable {
    private let nodes: [NodeKind: any WaitingNode]

    init() {
        let all: [any WaitingNode] = [
            NumberAuthNode(), SMSCodeNode(), UpgoingNode(), GraphicNode(),
        ]
        nodes = Dictionary(
            all.map { (type(of: $0).kind, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func node(_ kind: NodeKind) throws(ServiceFailure) -> any WaitingNode {
        guard let node = nodes[kind] else {
            throw ServiceFailure(.internalFault, "a node that never waits was asked")
        }
        return node
    }
}

extension NodeQuestion {
    /// A node was handed another kind's question.
    var misplaced: ServiceFailure {
        ServiceFailure(.internalFault, "a question came to another kind of node")
    }
}
