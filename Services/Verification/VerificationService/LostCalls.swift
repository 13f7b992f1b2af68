import Effects
import Messages
import Primitives
import Storage

/// Calls whose process died between the first and the last transaction, and whose callers did not
/// ask again: they are carried on, so that what the evidence used up is on record.
extension VerificationService {
    static let resumeInterval = Duration.seconds(2)
    /// Per method and sweep.
    static let resumeMax = 32

    package func resumeLost() async {
        await resume(VerifyMaskToken.method.name) { pending, evaluated throws(ServiceFailure) in
            _ = try await finishVerify(pending.key, pending.plan, evaluated)
        }
        for method in [GetNumber.method, MatchNumber.method] {
            await resume(method.name) { pending, evaluated throws(ServiceFailure) in
                try await finishDirect(pending, evaluated)
            }
        }
    }

    private func finishDirect(
        _ pending: PendingAnswer<EvaluationPlan>, _ evaluated: Evaluated
    ) async throws(ServiceFailure) {
        let row = try await store.decide { rows in
            rows.get(VerificationTables.verifications, pending.plan.key)
        }
        guard let row else { return }
        _ = try await finishDirect(pending.key, pending.plan, evaluated, row.id)
    }

    private func resume(
        _ method: String,
        finish: (PendingAnswer<EvaluationPlan>, Evaluated) async throws(ServiceFailure) -> Void
    ) async {
        let lost: [PendingAnswer<EvaluationPlan>]
        do throws(ServiceFailure) {
            lost = try await answers.pending(method: method, limit: Self.resumeMax)
        } catch {
            log.warning(
                "lost calls not read", [VerificationSignals.failure: LogValue(error.code)])
            return
        }
        for pending in lost {
            do throws(ServiceFailure) {
                guard let evaluated = try await carryOut(pending.plan, holding: nil, .sweep) else {
                    continue
                }
                try await finish(pending, evaluated)
                metrics.count(VerificationSignals.resumed)
            } catch {
                log.warning(
                    "lost call not carried on",
                    [VerificationSignals.failure: LogValue(error.code)])
            }
        }
    }
}
