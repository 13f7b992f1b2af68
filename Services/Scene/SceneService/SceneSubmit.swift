import Bus
import Effects
import Messages
import Primitives
import Storage

extension SceneService {
    func submit(
        _ request: SubmitInput, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneView {
        try request.input.check()
        let entry = try await enter(
            request.runId, key: request.runKey, token: request.authToken, context)
        let (facts, map) = (entry.facts, entry.map)
        let key = try context.answerKey(for: request, scope: "run:\(facts.runId)")
        let input = typed(request.input, map)
        let now = clock.now()
        let reference = Hex.encode(random.bytes(16))
        return try await walking(facts.runId, context) {
            tools, prepared throws(ServiceFailure) in
            let begun: Begun<ScenePlan, SceneView> = try await answers.begin(key) {
                rows throws(ServiceFailure) in
                tools.trace.reset()
                var desk = try SceneDesk(
                    facts, map: map, tools: tools, prepared: prepared, at: now, &rows)
                if let view = try desk.unmoved(step: request.step, &rows) {
                    return .answered(view)
                }
                guard let node = desk.node else { throw SceneFailure.runEnded }
                let taken = try catalog.node(node.kind).take(input, at: node, &desk, &rows)
                desk.save(&rows)
                guard case .ask(let question) = taken else { return .answered(desk.view()) }
                return .pending(
                    ScenePlan(
                        runId: facts.runId, step: desk.run.step, nodeId: node.nodeId,
                        kind: node.kind, reference: reference, question: question,
                        startedAt: desk.now))
            }
            switch begun {
            case .answered(let view): return view
            case .started(let plan), .resumed(let plan):
                return try await carry(plan, key, entry, context)
            }
        }
    }

    /// Asks what a plan asks and settles it. Whoever comes second gets the first one's answer.
    /// - Parameter answer: instead of asking.
    func carry(
        _ plan: ScenePlan, _ key: AnswerKey, _ entry: Entry, _ context: CallContext,
        answer given: NodeAnswer? = nil
    ) async throws(ServiceFailure) -> SceneView {
        let waiting = try catalog.node(plan.kind)
        let (facts, map) = (entry.facts, entry.map)
        let answer: NodeAnswer
        if let given {
            answer = given
        } else {
            answer = try await waiting.ask(
                plan.question,
                NodeCall(
                    bus: bus, pause: pause, context: context, facts: facts, map: map, plan: plan,
                    human: human, scorer: scorer))
        }
        let now = clock.now()
        return try await walking(facts.runId, context) { tools, prepared throws(ServiceFailure) in
            try await answers.finish(key) { rows throws(ServiceFailure) in
                tools.trace.reset()
                var desk = try SceneDesk(
                    facts, map: map, tools: tools, prepared: prepared, at: now, &rows)
                // The run went on, or ended, while the answer was on its way: it changes nothing.
                if let view = try desk.unmoved(step: plan.step, &rows) { return view }
                guard let node = desk.node, node.nodeId == plan.nodeId else {
                    return desk.view(applied: false)
                }
                try waiting.settle(plan.question, answer, at: node, &desk, &rows)
                desk.save(&rows)
                return desk.view()
            }
        }
    }

    private func typed(_ input: NodeInput, _ map: SceneMap) -> TypedInput {
        guard let text = input.number else { return TypedInput(input: input, number: nil) }
        let number: Result<PhoneNumber, ServiceFailure>
        do throws(ServiceFailure) {
            number = .success(
                try phoneNumbers.number(
                    text, field: "input.number", defaultRegion: map.policy.defaultRegion))
        } catch {
            number = .failure(error)
        }
        return TypedInput(input: input, number: number)
    }
}

extension SceneDesk {
    /// The answer to a call that changes nothing: it named another step, or the run's time was
    /// over. nil: the run waits at that step.
    /// - Throws: `run_ended` for the last step of a run that had ended before.
    mutating func unmoved(step: Int, _ rows: inout Rows) throws(ServiceFailure) -> SceneView? {
        if run.state.isEnd, !run.notes.isEmpty {
            // It expired just now.
            save(&rows)
            return view(applied: false)
        }
        guard run.step == step else { return view(applied: false) }
        guard run.state == .waiting else { throw SceneFailure.runEnded }
        return nil
    }
}

extension NodeInput {
    static let tokenBytesMax = 4_096

    /// Exactly one thing is said; a number goes with `send`.
    func check() throws(ServiceFailure) {
        let said = [
            send != nil, code != nil, sent != nil, carrierToken != nil, failed != nil,
            otherLogin != nil, proof != nil,
        ].count(where: \.self)
        guard said == 1 else {
            throw ServiceFailure(.invalidParameters, "says exactly one thing", field: "input")
        }
        guard send != false, sent != false, otherLogin != false else {
            throw ServiceFailure(
                .invalidParameters, "a word that is said is true", field: "input")
        }
        guard number == nil || send != nil else {
            throw ServiceFailure(
                .invalidParameters, "goes with send only", field: "input.number")
        }
        try Check.length(number, in: 1...64, "input.number")
        try Check.length(code, in: 1...64, "input.code")
        try Check.length(carrierToken?.reveal(), in: 1...Self.tokenBytesMax, "input.carrierToken")
        try Check.length(proof, in: 1...Self.tokenBytesMax, "input.proof")
        try Check.range(failed, in: 0...99_999_999, "input.failed")
    }
}
