import Effects
import Messages
import Primitives
import Storage

/// One run on the table of one transaction: loaded, told things, put back. It performs nothing;
/// what a walk needs from outside is answered from rows, or named in `need`.
struct SceneDesk {
    let facts: RunFacts
    let map: SceneMap
    let tools: DeskTools
    var run: SceneRun
    /// The time of this decision, never before anything that the run has seen.
    private(set) var now: WallTime
    /// Texts that were opened before this transaction, for up-going nodes that a walk may enter.
    let prepared: [PreparedUpgoing]
    /// Won in this transaction; the client sees it in this answer and never again.
    var maskToken: Secret<String>?

    /// A new run, before its first node.
    init(
        new facts: RunFacts, _ numbers: RunNumbers, map: SceneMap, tools: DeskTools,
        prepared: [PreparedUpgoing], at now: WallTime
    ) {
        self.facts = facts
        self.map = map
        self.tools = tools
        self.prepared = prepared
        self.now = now
        run = SceneRun(startedAt: now, numbers: numbers)
    }

    /// The run as it stands; one whose time is over is ended here.
    /// - Throws: `run_not_found`.
    init(
        _ facts: RunFacts, map: SceneMap, tools: DeskTools, prepared: [PreparedUpgoing],
        at now: WallTime, _ rows: inout Rows
    ) throws(ServiceFailure) {
        guard let row = rows.get(SceneTables.run, facts.runId.text),
            row.facts.keyDigest == facts.keyDigest
        else { throw SceneFailure.runNotFound }
        guard var run = row.opened(tools.sealer) else {
            throw ServiceFailure(.internalFault, "the numbers of a run could not be opened")
        }
        self.facts = facts
        self.map = map
        self.tools = tools
        self.prepared = prepared
        self.now = run.see(now)
        _ = run.expireIfDue(tools.retention.limits)
        self.run = run
    }

    var node: SceneNode? { run.nodeId.flatMap(map.node) }

    // MARK: Walking

    mutating func begin(_ rows: inout Rows) throws(ServiceFailure) {
        try follow(run.begin(on: map), &rows)
    }

    mutating func leave(
        by edge: Edge, proven: PhoneNumber? = nil, _ rows: inout Rows
    ) throws(ServiceFailure) {
        try follow(run.leave(by: edge, proven: proven, on: map), &rows)
    }

    mutating func leave(for target: String, _ rows: inout Rows) throws(ServiceFailure) {
        try follow(run.leave(for: target, on: map), &rows)
    }

    private mutating func follow(
        _ first: SceneRun.Arrival, _ rows: inout Rows
    ) throws(ServiceFailure) {
        var arrival = first
        while true {
            switch arrival {
            case .waits, .ended: return
            case .judgeDevice(let node):
                arrival = run.judged(judgeDevice(node, &rows), at: node, on: map)
            case .split(let node):
                arrival = run.split(to: branches(node), at: node, on: map)
            case .openUpgoing(let node):
                let need = UpgoingNeed(step: run.step, node: node, run: run, map: map)
                guard let done = prepared.first(where: { $0.name == need.name }) else {
                    tools.trace.need(need)
                    throw SceneFailure.needsUpgoing
                }
                switch done.outcome {
                case .opened(let opened): arrival = run.opened(opened, at: node)
                case .refused(let reason):
                    arrival = run.couldNotOpen(reason, at: node, on: map)
                }
            }
        }
    }

    private func judgeDevice(_ node: SceneNode, _ rows: inout Rows) -> DeviceVerdict {
        guard let device = run.numbers.device else { return .unknownDevice }
        let verdict = tools.ledger.take(
            .device(scheme: facts.schemeCode, device: device), node.settings?.windows ?? [],
            at: now, &rows)
        guard verdict.isAllowed else { return .frequency }
        if let score = facts.deviceScore, let threshold = node.settings?.scoreThreshold,
            score > threshold
        {
            return .risk
        }
        return .safe
    }

    /// The branches of a splitter, the chosen one first. A weight names a target of either list;
    /// the same place in the other list is the same branch.
    private func branches(_ node: SceneNode) -> [String] {
        let targets = map.targets(node, .success)
        let lists = [node.success, node.successWithGraphic ?? node.success]
        let weights = targets.indices.map { place -> Int in
            let names = lists.compactMap { $0.indices.contains(place) ? $0[place] : nil }
            return node.settings?.weights?.first { names.contains($0.nodeId) }?.weight ?? 0
        }
        let sum = weights.reduce(0, +)
        guard sum > 0 else { return targets }
        // Eight bytes of a keyed hash: a client cannot choose its branch, and a retry gets the
        // same.
        let hash = tools.splitDigest.digest("\(facts.runId)\0\(node.nodeId)").bytes.prefix(8)
            .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        var draw = Int(hash % UInt64(sum))
        for (place, weight) in weights.enumerated() {
            if draw < weight { return [targets[place]] + targets.filter { $0 != targets[place] } }
            draw -= weight
        }
        return targets
    }

    // MARK: Putting back

    /// Writes the run, its new events, and at the end of a changed number the notice to the old
    /// one.
    mutating func save(_ rows: inout Rows) {
        if run.state == .passed, run.notes.contains(where: { $0.name == "ended" }) {
            putNotice(&rows)
        }
        tools.put(&run, facts, at: now, &rows)
    }

    private func putNotice(_ rows: inout Rows) {
        guard let old = run.numbers.old, let new = run.numbers.proven, old != new,
            map.policy.notifyOldNumber ?? true
        else { return }
        let notice = NumberNotice(
            schemeCode: facts.schemeCode, number: old, locale: facts.locale ?? map.policy.locale)
        rows.put(OutboxRow.table, notice.row(facts.runId, tools.sealer, at: now))
    }
}

/// What every desk of one service works with.
struct DeskTools: Sendable {
    let sealer: any Sealer
    let ledger: RiskLedger
    /// Chooses the branch of a splitter.
    let splitDigest: any KeyedDigest
    let retention: RunRetention
    let trace: SceneTrace

    /// Writes a run and its new events.
    func put(_ run: inout SceneRun, _ facts: RunFacts, at now: WallTime, _ rows: inout Rows) {
        let expiresAt = run.startedAt + retention.limits.total + retention.kept
        for note in run.notes {
            run.eventsCount += 1
            let event = note.event(sequence: run.eventsCount, at: now)
            rows.put(
                SceneTables.runEvent,
                RunEventRow(runId: facts.runId, event: event, expiresAt: expiresAt))
            let oldest = run.eventsCount - RunEventRow.perRunMax
            if oldest > 0 {
                rows.delete(SceneTables.runEvent, RunEventRow.key(facts.runId, oldest))
            }
        }
        rows.put(SceneTables.run, RunRow(facts, run, sealer, retention))
        trace.saved(run, facts.runId)
    }
}

/// What the last round of a decision found, for the shell: which text must be opened first, and
/// what happened to the run. Decisions read nothing of it.
final class SceneTrace: Sendable {
    private struct State {
        var need: UpgoingNeed?
        var saved: (run: SceneRun, runId: RunID)?
    }
    private let state = Lock(State())

    func reset() { state.withLock { $0 = State() } }
    func need(_ need: UpgoingNeed) { state.withLock { $0.need = need } }
    func saved(_ run: SceneRun, _ runId: RunID) { state.withLock { $0.saved = (run, runId) } }

    var need: UpgoingNeed? { state.withLock(\.need) }
    var saved: (run: SceneRun, runId: RunID)? { state.withLock(\.saved) }
}

extension RunNote {
    func event(sequence: Int64, at now: WallTime) -> SceneEvent {
        SceneEvent(
            sequence: sequence, atMilliseconds: now.millisecondsSince1970, step: step,
            nodeId: nodeId, kind: kind, resultCode: resultCode, name: name, reason: reason)
    }
}
