import Bus
import Effects
import Messages
import Primitives
import Storage

extension SceneService {
    /// Events of one answer.
    static let eventsMax = 100

    func get(
        _ request: GetScene, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneView {
        let entry = try await reader(request, context)
        let now = clock.now()
        return try await walking(request.runId, context) { tools, prepared throws(ServiceFailure) in
            try await store.decide { rows throws(ServiceFailure) in
                tools.trace.reset()
                var desk = try SceneDesk(
                    entry.facts, map: entry.map, tools: tools, prepared: prepared, at: now, &rows)
                // A run whose time is over ends at the next touch, and this is one.
                if !desk.run.notes.isEmpty { desk.save(&rows) }
                return desk.view(events: desk.events(after: request.sinceSequence, &rows))
            }
        }
    }

    /// Operators and the owner need no token; a client shows its token and run key.
    private func reader(
        _ request: GetScene, _ context: CallContext
    ) async throws(ServiceFailure) -> Entry {
        if let token = request.authToken {
            guard let runKey = request.runKey else {
                throw ServiceFailure(.invalidParameters, "is missing", field: "runKey")
            }
            return try await enter(request.runId, key: runKey, token: token, context)
        }
        let facts = try await facts(request.runId)
        let isOwner = context.isAny(of: .integrator) && context.principal.name == facts.owner
        guard context.isAny(of: .operator) || isOwner else {
            throw ServiceFailure(
                .notAllowed, "a run is shown to its client, its owner, and operators")
        }
        return Entry(facts: facts, map: try await map(facts, context))
    }
}

extension SceneDesk {
    func events(after sequence: Int64?, _ rows: inout Rows) -> [SceneEvent]? {
        guard let sequence else { return nil }
        guard run.eventsCount > sequence else { return [] }
        let kept = rows.find(
            SceneTables.runEvent, SceneTables.eventIndex, facts.runId.text, newestFirst: true,
            limit: Int(RunEventRow.perRunMax))
        let newer = kept.map(\.event).filter { $0.sequence > sequence }.reversed()
        return Array(newer.prefix(SceneService.eventsMax))
    }
}
