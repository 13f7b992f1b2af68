import Messages
import Primitives

/// What one case saw.
struct DemoRecord: Sendable {
    enum NodeOutcome: String, Sendable {
        case entered, passed, failed, refused
        /// The person chose another way.
        case left
    }
    struct Node: Sendable {
        let nodeId: String
        let kind: NodeKind
        var outcome = NodeOutcome.entered
        var resultCodes: [Int] = []
    }
    struct Verification: Sendable {
        let nodeId: String
        let verified: Verified
    }

    var runId: String?
    var outcome = "not_started"
    private(set) var nodes: [Node] = []
    private(set) var verifications: [Verification] = []
    /// Of the run: those of its start, its moves and its end.
    private(set) var resultCodes: [Int] = []
    var error: String?

    mutating func visit(_ node: NodeView) {
        guard !nodes.contains(where: { $0.nodeId == node.nodeId }) else { return }
        nodes.append(Node(nodeId: node.nodeId, kind: node.kind))
    }

    mutating func settle(_ nodeId: String, _ outcome: NodeOutcome) {
        guard let index = nodes.firstIndex(where: { $0.nodeId == nodeId }) else { return }
        nodes[index].outcome = outcome
    }

    mutating func add(_ codes: [Int], to nodeId: String?) {
        guard let nodeId, let index = nodes.firstIndex(where: { $0.nodeId == nodeId }) else {
            resultCodes += codes
            return
        }
        nodes[index].resultCodes += codes
    }

    mutating func add(_ verified: Verified, nodeId: String) {
        verifications.append(Verification(nodeId: nodeId, verified: verified))
        settle(nodeId, verified.result == .pass ? .passed : .failed)
    }
}

/// What a demo saw, as people and machines read it.
struct DemoReport: Sendable {
    static let formatVersion = 1

    struct Played: Sendable {
        let story: DemoCase
        let record: DemoRecord
        /// nil in the plain demo, which has one road.
        var road: DemoRoad?
        var name: String {
            (road.map { "\($0.mode.rawValue) " } ?? "")
                + "\(story.templateId) \(story.script.rawValue)"
        }
        var isAsExpected: Bool {
            record.error == nil && record.outcome == story.expected.rawValue
        }
    }
    let endpoints: Endpoints
    let seconds: Double
    let cases: [Played]

    var isOK: Bool { !cases.isEmpty && cases.allSatisfy(\.isAsExpected) }

    var json: JSONValue {
        .object([
            "formatVersion": .integer(Int64(Self.formatVersion)), "ok": .flag(isOK),
            "seconds": .number((seconds * 1000).rounded() / 1000), "endpoints": endpoints.json,
            "cases": .list(cases.map(Self.json)),
        ])
    }

    private static func json(_ played: Played) -> JSONValue {
        let record = played.record
        let road = played.road.map { road in
            [
                JSONValue.Member(name: "mode", value: .text(road.mode.rawValue)),
                JSONValue.Member(name: "transport", value: .text(road.transport)),
            ]
        }
        return .object((road ?? []) + members(played.story, record))
    }

    private static func members(_ story: DemoCase, _ record: DemoRecord) -> [JSONValue.Member] {
        let members: KeyValuePairs<String, JSONValue> = [
            "templateId": .text(story.templateId),
            "case": .text(story.script.rawValue),
            "expected": .text(story.expected.rawValue), "outcome": .text(record.outcome),
            "runId": .text(record.runId),
            "nodes": .list(
                record.nodes.map { node in
                    .object([
                        "nodeId": .text(node.nodeId), "kind": .integer(node.kind.rawValue),
                        "outcome": .text(node.outcome.rawValue),
                        "resultCodes": .list(node.resultCodes.map { .integer(Int64($0)) }),
                    ])
                }),
            "verifications": .list(
                record.verifications.map { entry in
                    .object([
                        "nodeId": .text(entry.nodeId),
                        "result": .text(entry.verified.result.rawValue),
                        "reason": .text(entry.verified.reason?.rawValue),
                        "phoneNumber": .text(entry.verified.phoneNumber?.e164),
                        "phoneScore": .integer(entry.verified.phoneScore),
                    ])
                }),
            "resultCodes": .list(record.resultCodes.map { .integer(Int64($0)) }),
            "error": .text(record.error),
        ]
        return members.map { JSONValue.Member(name: $0.key, value: $0.value) }
    }

    var people: String {
        let hasRoads = cases.contains { $0.road != nil }
        var table = Table(
            (hasRoads ? ["MODE"] : [])
                + ["", "TEMPLATE", "CASE", "EXPECTED", "OUTCOME", "NODES", "CODES"])
        for played in cases {
            let mode = hasRoads ? [played.road?.mode.rawValue ?? "–"] : []
            let nodes = played.record.nodes.map { "\(Self.word($0.kind)) \($0.outcome.rawValue)" }
            let codes = played.record.nodes.flatMap(\.resultCodes) + played.record.resultCodes
            table.add(
                mode + [
                    played.isAsExpected ? "✓" : "✗", played.story.templateId,
                    played.story.script.rawValue, played.story.expected.rawValue,
                    played.record.outcome, nodes.joined(separator: " → "),
                    codes.map(String.init).joined(separator: " "),
                ])
        }
        let wrong = cases.filter { !$0.isAsExpected }
        let notes = wrong.map { played in
            "✗ \(played.name): "
                + (played.record.error ?? "ended \(played.record.outcome)")
        }
        let tenths = Int((seconds * 10).rounded())
        let sum =
            "\(cases.count - wrong.count) of \(cases.count) cases as expected, "
            + "in \(tenths / 10).\(tenths % 10) s"
        return ([table.text, ""] + notes + [sum]).joined(separator: "\n")
    }

    private static func word(_ kind: NodeKind) -> String {
        switch kind {
        case .numberAuth: "carrier"
        case .deviceRisk: "device"
        case .numberRisk: "number"
        case .smsCode: "sms"
        case .upgoingSMS: "up-going"
        case .splitter: "splitter"
        case .phoneScore: "score"
        case .graphic: "graphic"
        }
    }
}
