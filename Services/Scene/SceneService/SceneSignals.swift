import Effects
import Messages
import Primitives

/// Names of what the service counts and logs. Label values come from closed sets.
enum SceneSignals {
    static let runsStarted = "scene_runs_started_total"
    static let runsEnded = "scene_runs_ended_total"
    /// By kind, event and result code.
    static let nodeEvents = "scene_node_events_total"
    static let carrierFailures = "scene_carrier_failures_total"
    static let resumed = "scene_requests_resumed_total"

    static let runKey = "scene.run.id"
    static let templateKey = "scene.template"

    /// A scheme's own templates are counted together.
    static func template(_ id: String) -> String {
        StandardScenes.graph(id) == nil ? "own" : id
    }

    /// Inner codes that the client library documents; anything else is counted as one.
    private static let innerCodes: Set<Int> = [
        1_600_001, 1_600_002, 1_600_004, 1_600_007, 1_600_008, 1_600_009, 1_600_010, 1_600_011,
        1_600_012, 1_600_013, 1_600_014, 1_600_015, 1_600_017, 1_600_021, 1_600_025, 1_600_026,
        1_700_000,
    ]

    /// Counts what one committed decision brought about.
    static func count(
        _ run: SceneRun, _ facts: (templateId: String, isNew: Bool), _ metrics: any Metrics
    ) {
        let template = template(facts.templateId)
        if facts.isNew { metrics.count(runsStarted, ("template", template)) }
        for note in run.notes {
            if note.name == "ended" {
                metrics.count(
                    runsEnded, ("template", template), ("state", run.state.rawValue))
            } else if let kind = note.kind, note.name != "entered" {
                metrics.count(
                    nodeEvents, ("kind", "\(kind.rawValue)"), ("event", note.name),
                    ("code", note.resultCode.map(String.init) ?? "none"))
            }
            if note.resultCode == NumberAuthNode.failed,
                let inner = note.reason.flatMap({ Int($0.dropFirst("inner_".count)) })
            {
                metrics.count(
                    carrierFailures,
                    ("inner", innerCodes.contains(inner) ? String(inner) : "other"))
            }
        }
    }
}
