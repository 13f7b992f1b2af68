package import Bus
package import Effects
import Messages
import Primitives
package import Storage

/// Walks scenes: keeps runs, moves them over their graph, asks the services that prove and send. It
/// decides nothing about a proof; it asks for the record of one.
package struct SceneService: Sendable {
    let store: any Store
    let answers: Answers
    let sealer: any Sealer
    let runKeys: any KeyedDigest
    let splitKeys: any KeyedDigest
    let ledger: RiskLedger
    let clock: any WallClock
    let pause: any Pause
    let random: any RandomSource
    let bus: any BusCaller
    let phoneNumbers: any PhoneNumberParser
    let gate: TokenGate
    let schemes: SchemeDirectory
    let human: any HumanCheck
    let scorer: any RiskScorer
    let metrics: any Metrics
    let log: Log
    let configuration: SceneConfiguration
    let catalog = NodeCatalog()
    let known = KnownRuns()
    let outbox: OutboxPump

    /// Keys of the four keyed digests, each of its own purpose so that a value of one says nothing
    /// to another.
    package struct Digests: Sendable {
        /// Names of stored answers, and their bodies.
        let answers: any KeyedDigest
        /// Run keys.
        let runKeys: any KeyedDigest
        /// What risk windows count: numbers, devices, addresses.
        let risk: any KeyedDigest
        /// Branches of splitters.
        let splits: any KeyedDigest

        package init(
            answers: any KeyedDigest, runKeys: any KeyedDigest, risk: any KeyedDigest,
            splits: any KeyedDigest
        ) {
            self.answers = answers
            self.runKeys = runKeys
            self.risk = risk
            self.splits = splits
        }
    }

    /// - Parameters:
    ///   - store: holds `SceneTables`.
    ///   - signer: judges signatures of auth tokens; it signs nothing here.
    ///   - bus: as a service.
    ///   - human: judges graphic proofs; the sandbox by default.
    package init(
        store: any Store, sealer: any Sealer, digests: Digests, signer: any TokenSigner,
        clock: any WallClock, pause: any Pause, random: any RandomSource, bus: any BusCaller,
        phoneNumbers: any PhoneNumberParser, human: (any HumanCheck)? = nil,
        scorer: any RiskScorer = NoRiskScorer(), metrics: any Metrics = NoMetrics(),
        log: Log = .silent, configuration: SceneConfiguration = SceneConfiguration()
    ) {
        self.store = store
        self.sealer = sealer
        self.clock = clock
        self.pause = pause
        self.random = random
        self.bus = bus
        self.phoneNumbers = phoneNumbers
        self.scorer = scorer
        self.metrics = metrics
        self.log = log
        self.configuration = configuration
        answers = Answers(store: store, sealer: sealer, digest: digests.answers, clock: clock)
        runKeys = digests.runKeys
        splitKeys = digests.splits
        ledger = RiskLedger(digest: digests.risk)
        gate = TokenGate(bus: bus, signer: signer, clock: clock, pause: pause)
        schemes = SchemeDirectory(bus: bus, pause: pause)
        self.human = human ?? SandboxHumanCheck(bus: bus)
        outbox = OutboxPump(
            store: store, clock: clock, pause: pause, log: log, metrics: metrics
        ) { row in
            await NumberNotice.perform(row, on: bus, sealer)
        }
    }

    func tools(_ trace: SceneTrace) -> DeskTools {
        DeskTools(
            sealer: sealer, ledger: ledger, splitDigest: splitKeys,
            retention: configuration.retention, trace: trace)
    }

    // MARK: Entering a run

    /// A call that was let in: the run's facts and its scene.
    struct Entry: Sendable {
        let facts: RunFacts
        let map: SceneMap
    }

    /// Token, run key, scheme and app; all of it before a stored answer may be told.
    /// - Throws: token errors, `run_not_found`.
    func enter(
        _ runId: RunID, key runKey: Secret<String>, token: Secret<String>, _ context: CallContext
    ) async throws(ServiceFailure) -> Entry {
        let permit = try await gate.admit(token, context)
        let facts = try await facts(runId)
        guard runKeys.matches(Array(runKey.reveal().utf8), facts.keyDigest),
            permit.schemeCode == facts.schemeCode, permit.platform == facts.platform,
            permit.app == facts.app
        else { throw SceneFailure.runNotFound }
        return Entry(facts: facts, map: try await map(facts, context))
    }

    func facts(_ runId: RunID) async throws(ServiceFailure) -> RunFacts {
        if let facts = known.facts(runId) { return facts }
        let facts = try await store.decide { rows throws(ServiceFailure) in
            rows.get(SceneTables.run, runId.text)?.facts
        }
        guard let facts else { throw SceneFailure.runNotFound }
        known.remember(facts)
        return facts
    }

    /// The scene of the scheme version that the run began with.
    func map(
        _ facts: RunFacts, _ context: CallContext
    ) async throws(ServiceFailure) -> SceneMap {
        let scheme = try await schemes.scheme(
            facts.schemeCode, version: facts.schemeVersion, context)
        let map = SceneMap(
            scheme: scheme, templateId: facts.templateId, capabilities: facts.capabilities)
        guard let map else { throw SceneFailure.templateNotFound }
        return map
    }

    // MARK: Deciding

    /// Texts that one decision may need before it stands.
    static let openingsMax = 4

    /// Runs a decision. Where its walk would enter an up-going node, the node's text is opened
    /// first and the decision runs again; so the move and the text appear in one transaction.
    func walking(
        _ runId: RunID, _ context: CallContext,
        _ decide: @Sendable (DeskTools, [PreparedUpgoing]) async throws(ServiceFailure) -> SceneView
    ) async throws(ServiceFailure) -> SceneView {
        var prepared: [PreparedUpgoing] = []
        while true {
            let trace = SceneTrace()
            do throws(ServiceFailure) {
                let view = try await decide(tools(trace), prepared)
                committed(trace, view)
                return view
            } catch {
                guard error == SceneFailure.needsUpgoing, let need = trace.need,
                    prepared.count < Self.openingsMax
                else { throw error }
                prepared.append(
                    try await need.open(for: runId, on: bus, context.nested(pause)))
            }
        }
    }

    /// Counts what was committed, unless the answer is an earlier one told again.
    private func committed(_ trace: SceneTrace, _ view: SceneView) {
        guard let (run, runId) = trace.saved, runId == view.runId else { return }
        let isNew = view.runKey != nil
        SceneSignals.count(run, (view.templateId, isNew), metrics)
        guard run.state.isEnd else { return }
        if run.state == .passed { outbox.nudge() }
        log.debug(
            "run ended",
            [
                "scene.run.id": LogValue(runId), "scene.template": .text(view.templateId),
                "state": .text(run.state.rawValue), "reason": .text(run.reason ?? "none"),
            ])
    }
}

/// Facts of runs that this process has met: what never changes needs no transaction to be read.
final class KnownRuns: Sendable {
    static let countMax = 20_000
    private let facts = Lock<[RunID: RunFacts]>([:])

    func facts(_ runId: RunID) -> RunFacts? { facts.withLock { $0[runId] } }

    func remember(_ new: RunFacts) {
        facts.withLock { facts in
            if facts.count >= Self.countMax { facts.removeAll(keepingCapacity: true) }
            facts[new.runId] = new
        }
    }
}
