import Effects
import FoundationEssentials
import Messages
import Primitives
package import Storage

/// What of a run never changes. Held in memory too, so that a call knows its scheme's version and
/// can judge its run key before it asks for anything.
package struct RunFacts: Codable, Sendable, Equatable {
    let runId: RunID
    let templateId: String
    let schemeCode: String
    /// The run keeps the version it began with.
    let schemeVersion: Int64
    let owner: String
    let platform: AppPlatform
    let app: String
    let capabilities: ClientCapabilities
    let locale: String?
    let deviceScore: Int?
    let keyDigest: VersionedDigest
}

/// A run at rest: its facts, its state, and its numbers sealed.
package struct RunRow: StoredRow {
    let facts: RunFacts
    let run: SceneRun
    let sealed: StoredBytes
    /// When the run expires by itself; nil once it has ended.
    let deadline: WallTime?
    /// From then on nobody asks any more.
    let expiresAt: WallTime

    init(_ facts: RunFacts, _ run: SceneRun, _ sealer: any Sealer, _ settings: RunRetention) {
        self.facts = facts
        self.run = run
        // Optional numbers and texts alone: there is nothing that could not be encoded.
        let plain = (try? JSONEncoder().encode(run.numbers)).map { [UInt8]($0) } ?? []
        sealed = StoredBytes(sealer.seal(plain, context: Self.context(facts.runId)))
        deadline = run.state == .waiting ? run.deadline(settings.limits) : nil
        expiresAt = run.startedAt + settings.limits.total + settings.kept
    }

    /// The run with its numbers; nil when they cannot be opened.
    func opened(_ sealer: any Sealer) -> SceneRun? {
        guard let plain = sealer.open(sealed.bytes, context: Self.context(facts.runId)),
            let numbers = try? JSONDecoder().decode(RunNumbers.self, from: Data(plain))
        else { return nil }
        var run = run
        run.numbers = numbers
        return run
    }

    private static func context(_ runId: RunID) -> String { "run.numbers/\(runId)" }
}

package struct RunRetention: Sendable {
    let limits: RunLimits
    /// How long an ended run can still be asked for.
    let kept: Duration
}

/// One event of a run, as `scene.get {sinceSequence}` tells it.
package struct RunEventRow: StoredRow {
    /// The newest of one run that are kept.
    static let perRunMax: Int64 = 200

    let runId: RunID
    let event: SceneEvent
    let expiresAt: WallTime

    var key: String { Self.key(runId, event.sequence) }

    static func key(_ runId: RunID, _ sequence: Int64) -> String { "\(runId)/\(sequence)" }
}

package enum SceneTables: ServiceTables {
    static let waitingIndex = "waiting"
    static let eventIndex = "run"

    static let run = Table<RunRow>(
        "run", key: \.facts.runId.text,
        indexes: [
            Index(
                waitingIndex, value: { $0.deadline == nil ? nil : "waiting" },
                order: { $0.deadline?.millisecondsSince1970 ?? 0 })
        ],
        expiresAt: \.expiresAt)

    static let runEvent = Table<RunEventRow>(
        "run_event", key: \.key,
        indexes: [Index(eventIndex, value: \.runId.text, order: \.event.sequence)],
        expiresAt: \.expiresAt)

    static let riskWindow = Table<RiskWindow>(
        "risk_window", key: \.key, expiresAt: \.expiresAt)

    package static let schemas = [
        run.schema, runEvent.schema, riskWindow.schema, AnswerRow.table.schema,
        OutboxRow.table.schema,
    ]
}
