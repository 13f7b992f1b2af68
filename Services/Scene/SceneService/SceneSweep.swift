import Bus
package import Effects
import Messages
import Primitives
import Storage

/// What goes on without a caller: runs expire, open requests are carried on, notices are sent.
extension SceneService {
    /// Runs ended, and requests carried on, in one go.
    static let sweepMax = 50
    private static let resumeTimeout = Duration.seconds(6)

    /// Loops that the daemon runs beside its bus worker.
    package func parts() -> [any DaemonPart] {
        [
            outbox,
            Sweeper(store: store, clock: clock, pause: pause, log: log),
            Periodic("scene sweep", every: .seconds(configuration.sweepSeconds), pause: pause) {
                await sweep()
            },
        ]
    }

    /// One round: ends runs whose time is over, then carries on what somebody left open.
    package func sweep() async {
        do throws(ServiceFailure) {
            while try await expireRuns() == Self.sweepMax {}
            try await resume()
        } catch {
            log.warning("scene sweep failed", ["reason": LogValue(error.code)])
        }
    }

    /// - Returns: how many it ended.
    func expireRuns() async throws(ServiceFailure) -> Int {
        let now = clock.now()
        let tools = tools(SceneTrace())
        let ended = try await store.decide { rows throws(ServiceFailure) in
            let due = rows.find(
                SceneTables.run, SceneTables.waitingIndex, "waiting",
                upTo: now.millisecondsSince1970, limit: Self.sweepMax)
            var ended: [(run: SceneRun, templateId: String)] = []
            for row in due {
                var run = row.opened(sealer) ?? row.run
                _ = run.see(now)
                guard run.expireIfDue(configuration.retention.limits) else { continue }
                tools.put(&run, row.facts, at: now, &rows)
                ended.append((run, row.facts.templateId))
            }
            return ended
        }
        for (run, templateId) in ended { SceneSignals.count(run, (templateId, false), metrics) }
        return ended.count
    }

    /// Carries on submits that were begun and never settled.
    func resume() async throws(ServiceFailure) {
        let open = try await answers.pending(
            ScenePlan.self, method: SubmitInput.method.name, limit: Self.sweepMax)
        guard let principal = Principal(roles: .service, name: "scene") else { return }
        for request in open {
            let context = CallContext(
                peer: principal, requestID: random.bytes(16),
                deadline: pause.steadyNow() + Self.resumeTimeout, method: SubmitInput.method)
            await resume(request, context)
        }
    }

    private func resume(_ request: PendingAnswer<ScenePlan>, _ context: CallContext) async {
        do throws(ServiceFailure) {
            let facts = try await facts(request.plan.runId)
            let entry = Entry(facts: facts, map: try await map(facts, context))
            do throws(ServiceFailure) {
                _ = try await carry(request.plan, request.key, entry, context)
            } catch {
                let isOld =
                    clock.now() >= request.startedAt + .seconds(configuration.giveUpSeconds)
                guard SceneFailure.isPassing(error), isOld else { throw error }
                _ = try await carry(
                    request.plan, request.key, entry, context, answer: .refused(error))
            }
            metrics.count(SceneSignals.resumed, ("outcome", "settled"))
        } catch {
            metrics.count(SceneSignals.resumed, ("outcome", "left"))
            log.warning(
                "open request not settled",
                [
                    "scene.run.id": LogValue(request.plan.runId), "reason": LogValue(error.code),
                ])
        }
    }
}
