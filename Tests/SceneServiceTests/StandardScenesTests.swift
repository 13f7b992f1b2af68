import Foundation
import Messages
import Testing

/// The five graphs against the original's, and against their files.
@Suite struct StandardScenesTests {
    /// `kind number: success | with graphic / failure`, as in the published tables.
    static let published: [(String, [String])] = [
        (
            "100001",
            [
                "2000003 001: 002 / 007", "2000007 002: 004,003 | 008,003 / 004,003 | 008,003",
                "2000009 008: 004 / 007", "2000001 004: 006 / 005,007",
                "2000004 003: 005 | 009,005 / 007", "2000009 009: 005 / 007",
                "2000005 005: 006 / 007", "2000006 007: 006 / END", "2000008 006: END / END",
            ]
        ),
        (
            "100002",
            [
                "2000003 001: 003 | 006,003 / 005", "2000009 006: 003 / 005",
                "2000005 003: 002 / 005", "2000004 002: 004 / 005", "2000005 004: END / 005",
                "2000006 005: END / END",
            ]
        ),
        (
            "100003",
            [
                "2000003 001: 002 | 005,002 / 004", "2000009 005: 002 / 004",
                "2000004 002: 003 / 004", "2000005 003: END / 004", "2000006 004: END / END",
            ]
        ),
        (
            "100004",
            [
                "2000003 001: 002 | 005,002 / 004", "2000009 005: 002 / 004",
                "2000004 002: 003 / 004", "2000005 003: END / 004", "2000006 004: END / END",
            ]
        ),
        (
            "100005",
            [
                "2000003 001: 002 | 004,002 / 003", "2000009 004: 002 / 003",
                "2000005 002: END / 003", "2000006 003: END / END",
            ]
        ),
    ]

    static func short(_ targets: [String]?) -> String {
        (targets ?? []).map { $0 == "END" ? $0 : String($0.suffix(3)) }.joined(separator: ",")
    }

    static func line(_ node: SceneNode) -> String {
        func edge(_ plain: [String], _ graphic: [String]?) -> String {
            short(plain) + (graphic.map { " | " + short($0) } ?? "")
        }
        return "\(node.kind.rawValue) \(node.nodeId.suffix(3)): "
            + edge(node.success, node.successWithGraphic) + " / "
            + edge(node.failure, node.failureWithGraphic)
    }

    @Test("every graph has the published nodes and edges, and begins at 001", arguments: published)
    func edges(templateId: String, lines: [String]) throws {
        let graph = try #require(StandardScenes.graph(templateId))
        #expect(graph.nodes.map(Self.line) == lines)
        #expect(graph.begin == "300000\(templateId)001")
        #expect(graph.nodes.allSatisfy { $0.nodeId.hasPrefix("300000\(templateId)") })
    }

    @Test("windows, thresholds and special nodes are the published ones")
    func settings() throws {
        for graph in StandardScenes.all {
            for node in graph.nodes {
                let windows = node.settings?.windows?.map { "\($0.limit)/\($0.seconds)" }
                switch node.kind {
                case .deviceRisk: #expect(windows == ["5/60", "10/3600", "20/86400"])
                case .numberRisk: #expect(windows == ["1/60", "10/3600", "20/86400"])
                default: #expect(windows == nil)
                }
                let mayBeOff: [NodeKind] = [.deviceRisk, .numberRisk, .graphic, .phoneScore]
                #expect(node.canBeDisabled == mayBeOff.contains(node.kind))
                #expect(node.enabled)
            }
        }
        let login = try #require(StandardScenes.graph("100001"))
        let numberAuth = try #require(login.node("300000100001004")?.settings)
        #expect(numberAuth.timeoutSeconds == 3)
        #expect(numberAuth.otherButtonNode == "300000100001005")
        let splitter = try #require(login.node("300000100001002")?.settings)
        let weights = splitter.weights?.map { "\($0.nodeId.suffix(3)):\($0.weight)" }
        #expect(weights == ["008:100", "003:0"])
        let nodes = StandardScenes.all.flatMap(\.nodes)
        let halfway = nodes.filter { $0.settings?.halfway == true }
        #expect(halfway.map(\.nodeId) == ["300000100002003"])
        let checked = nodes.filter { $0.settings?.validityCheck == true }
        #expect(checked.map(\.nodeId) == ["300000100003003"])
        let prefilled = nodes.filter { $0.settings?.prefilled == true }
        #expect(prefilled.map(\.nodeId) == ["300000100002003", "300000100005002"])
    }

    @Test("the file of every graph holds the same", arguments: StandardScenes.all)
    func files(graph: SceneGraph) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "deploy/scenes")
        let file = folder.appending(path: "\(graph.templateId).json")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try (encoder.encode(graph) + Data("\n".utf8)).write(to: file)
        }
        let stored = try JSONDecoder().decode(SceneGraph.self, from: Data(contentsOf: file))
        #expect(stored == graph)
    }
}
