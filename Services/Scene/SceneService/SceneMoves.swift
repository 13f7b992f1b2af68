import Bus
import Effects
import Messages
import Primitives
import Storage

/// continue, half-way and stop: where a run is moved by a decision that lies elsewhere.
extension SceneService {
    func proceed(
        _ request: ContinueScene, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneView {
        let entry = try await enter(
            request.runId, key: request.runKey, token: request.authToken, context)
        let status =
            request.isSuccess
            ? try await runStatus(request.runId, request.step, context) : nil
        let key = try context.answerKey(for: request, scope: "run:\(request.runId)")
        return try await move(entry, key, step: request.step, context) {
            desk, node, rows throws(ServiceFailure) in
            guard request.isSuccess else { return try desk.leave(by: .failure, &rows) }
            guard let proven = status.flatMap(desk.proven) else {
                throw SceneFailure.passNotOnRecord
            }
            try desk.leave(by: .success, proven: proven, &rows)
        }
    }

    func halfway(
        _ request: AnswerHalfway, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneView {
        let entry = try await enter(
            request.runId, key: request.runKey, token: request.authToken, context)
        let status =
            request.isSuccess
            ? try await runStatus(request.runId, request.step, context) : nil
        let key = try context.answerKey(for: request, scope: "run:\(request.runId)")
        return try await move(entry, key, step: request.step, context) {
            desk, node, rows throws(ServiceFailure) in
            guard node.isHalfway else {
                throw SceneFailure.notExpected("this node is no half-way verification")
            }
            guard request.isSuccess else { return }
            guard let proven = status.flatMap(desk.proven) else {
                throw SceneFailure.passNotOnRecord
            }
            try desk.leave(by: .success, proven: proven, &rows)
        }
    }

    private func runStatus(
        _ runId: RunID, _ step: Int, _ context: CallContext
    ) async throws(ServiceFailure) -> RunStatus {
        try await bus.call(GetRunStatus(runId: runId, step: step), context.nested(pause))
    }

    private func move(
        _ entry: Entry, _ key: AnswerKey, step: Int, _ context: CallContext,
        _ change:
            @escaping @Sendable (inout SceneDesk, SceneNode, inout Rows) throws(ServiceFailure) ->
            Void
    ) async throws(ServiceFailure) -> SceneView {
        let now = clock.now()
        return try await walking(entry.facts.runId, context) {
            tools, prepared throws(ServiceFailure) in
            try await answers.once(key) { rows throws(ServiceFailure) in
                tools.trace.reset()
                var desk = try SceneDesk(
                    entry.facts, map: entry.map, tools: tools, prepared: prepared, at: now, &rows)
                if let view = try desk.unmoved(step: step, &rows) { return view }
                guard let node = desk.node else { throw SceneFailure.runEnded }
                try change(&desk, node, &rows)
                if !desk.run.notes.isEmpty { desk.save(&rows) }
                return desk.view()
            }
        }
    }

    // MARK: Stop

    /// How often a stop looks again at a run that moves under it.
    static let stopTriesMax = 4

    func stop(
        _ request: StopScene, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneView {
        let entry = try await enter(
            request.runId, key: request.runKey, token: request.authToken, context)
        let key = try context.answerKey(for: request, scope: "run:\(request.runId)")
        for _ in 1..<Self.stopTriesMax {
            do throws(ServiceFailure) {
                return try await stopOnce(entry, key, context)
            } catch {
                guard error == Self.movedMeanwhile else { throw error }
            }
        }
        return try await stopOnce(entry, key, context)
    }

    private static let movedMeanwhile = ServiceFailure(
        .unavailable, "the run is being moved by another call")

    private func stopOnce(
        _ entry: Entry, _ key: AnswerKey, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneView {
        let runId = entry.facts.runId
        let seen = try await store.decide { rows throws(ServiceFailure) in
            rows.get(SceneTables.run, runId.text)?.run
        }
        guard let seen else { throw SceneFailure.runNotFound }
        // Without a mask token there is nothing that could have passed.
        let status =
            seen.state == .waiting && seen.evidenceCount > 0
            ? try await runStatus(runId, seen.step, context) : nil
        let now = clock.now()
        return try await walking(runId, context) { tools, prepared throws(ServiceFailure) in
            try await answers.once(key) { rows throws(ServiceFailure) in
                tools.trace.reset()
                var desk = try SceneDesk(
                    entry.facts, map: entry.map, tools: tools, prepared: prepared, at: now, &rows)
                guard desk.run.state == .waiting else {
                    if !desk.run.notes.isEmpty { desk.save(&rows) }
                    return desk.view(applied: false)
                }
                guard desk.run.step == seen.step, desk.run.evidenceCount == seen.evidenceCount
                else { throw Self.movedMeanwhile }
                let leads = desk.node.map { $0.kind.isProving && desk.map.leadsToEnd($0) } ?? false
                desk.run.stop(proven: leads ? status.flatMap(desk.proven) : nil)
                desk.save(&rows)
                return desk.view()
            }
        }
    }
}

extension SceneDesk {
    /// The number that a PASS on record proves at the current node; nil without one, or for a
    /// number that cannot be the right one here.
    func proven(_ status: RunStatus) -> PhoneNumber? {
        guard status.passed, let number = status.number else { return nil }
        if run.halfwayPassed {
            return number == run.numbers.old ? nil : number
        }
        let owner = map.numberOwner(run.numbers, halfwayPassed: false)
        if owner != .anybody, let bound = run.numbers.bound, number != bound { return nil }
        return number
    }
}
