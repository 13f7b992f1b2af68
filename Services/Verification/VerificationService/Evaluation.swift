import Bus
import Effects
import Messages
import Primitives
import Storage

/// What the first transaction decided, kept sealed beside the pending answer until the last one.
struct EvaluationPlan: Codable, Sendable, Equatable {
    /// Of the verification's row.
    let key: String
    let schemeCode: String
    let kind: EvidenceKind
    /// The lease that the first transaction took; nil when another call held it.
    let holder: String?
    let evaluationsSeen: Int
    let stated: StatedNumber
}

/// How long a call may take, and what it hands on.
struct CallLimit: Sendable {
    /// On the steady clock; nil for a sweep, which waits for nobody.
    let waitsUntil: Duration?
    let traceID: [UInt8]
    let spanID: [UInt8]

    static let sweep = CallLimit(waitsUntil: nil, traceID: [], spanID: [])

    private init(waitsUntil: Duration?, traceID: [UInt8], spanID: [UInt8]) {
        self.waitsUntil = waitsUntil
        self.traceID = traceID
        self.spanID = spanID
    }

    init(_ context: CallContext, _ pause: any Pause) {
        let deadline = context.deadline ?? pause.steadyNow() + context.method.timeout
        self.init(
            waitsUntil: deadline - CallContext.nestedMargin, traceID: context.traceID,
            spanID: context.spanID)
    }
}

/// What came of carrying a plan out, for the last transaction.
enum Evaluated: Sendable {
    case verdict(Verdict, number: StoredBytes?, phoneScore: Int?, holder: String)
    /// Another call asked the evidence, or still does: the row knows.
    case byAnother
}

extension VerificationService {
    /// A waiting call looks at the row this often; the interval doubles up to the maximum.
    static let lookIntervalFirst = Duration.milliseconds(10)
    static let lookIntervalMax = Duration.milliseconds(200)

    func holder() -> String { Hex.encode(random.bytes(16)) }

    /// Asks the evidence, under the row's lease; while another call holds it, waits.
    /// - Parameter row: as it was when `plan` took its lease; nil when it did not, or that call was
    /// lost.
    /// - Returns: nil when a sweep finds the row busy.
    func carryOut(
        _ plan: EvaluationPlan, holding row: Verification?, _ limit: CallLimit
    ) async throws(ServiceFailure) -> Evaluated? {
        if let row, let holder = plan.holder { return await evaluate(row, plan, holder, limit) }
        let holder = holder()
        var interval = Self.lookIntervalFirst
        while true {
            let now = clock.now()
            let leaseFor = configuration.leaseFor
            let (claim, row) = try await store.decide { rows in
                guard var row = rows.get(VerificationTables.verifications, plan.key) else {
                    return (Verification.Claim.settled, nil as Verification?)
                }
                let claim = row.claim(
                    holder, evaluationsSeen: plan.evaluationsSeen, at: now, leaseFor: leaseFor)
                if claim == .taken { rows.put(VerificationTables.verifications, row) }
                return (claim, row)
            }
            if claim == .taken, let row { return await evaluate(row, plan, holder, limit) }
            guard claim == .busy else { return .byAnother }
            guard let until = limit.waitsUntil else { return nil }
            let left = until - pause.steadyNow()
            guard left > .zero else { return .byAnother }
            do throws(CancellationError) {
                try await pause.wait(min(interval, left))
            } catch {
                throw VerificationFailure.cancelled
            }
            interval = min(interval * 2, Self.lookIntervalMax)
        }
    }

    /// The last transaction's part: the row moves, and the day counts.
    func settle(
        _ evaluated: Evaluated, _ plan: EvaluationPlan, at now: WallTime, _ rows: inout Rows
    ) -> (answer: CallAnswer, row: Verification?) {
        let day = UTCDay(now)
        let countKey = DayCount.key(day.text, plan.schemeCode, plan.kind)
        if case .verdict = evaluated { rows.prefetch(VerificationTables.days, countKey) }
        guard var row = rows.get(VerificationTables.verifications, plan.key) else {
            // Swept: it had expired long ago.
            return (.unknown(.maskTokenExpired, attemptsLeft: nil), nil)
        }
        guard case .verdict(let verdict, let number, let score, let holder) = evaluated else {
            return (row.answer(evaluationsSeen: plan.evaluationsSeen, at: now), row)
        }
        let evaluationsBefore = row.evaluationsCount
        let answer = row.settle(
            verdict, number: number, phoneScore: score, holder: holder, at: now)
        if row.evaluationsCount > evaluationsBefore {
            rows.put(VerificationTables.verifications, row)
            var count =
                rows.get(VerificationTables.days, countKey)
                ?? DayCount(day, schemeCode: plan.schemeCode, kind: plan.kind)
            count.count(answer.result)
            rows.put(VerificationTables.days, count)
        }
        return (answer, row)
    }

    func note(_ answer: CallAnswer, _ plan: EvaluationPlan, _ id: VerificationID?) {
        metrics.count(
            VerificationSignals.decisions, ("kind", plan.kind.rawValue),
            ("result", answer.result.rawValue))
        log.debug(
            "verification answered",
            [
                VerificationSignals.verificationID: .text(id?.text ?? "none"),
                VerificationSignals.kind: .text(plan.kind.rawValue),
                VerificationSignals.result: .text(answer.result.rawValue),
                VerificationSignals.reason: .text(answer.reason?.rawValue ?? "none"),
            ])
    }

    // MARK: -

    private func evaluate(
        _ row: Verification, _ plan: EvaluationPlan, _ holder: String, _ limit: CallLimit
    ) async -> Evaluated {
        let verdict: Verdict
        do throws(ServiceFailure) {
            let expectation = try expectation(of: row)
            verdict = Verdict.judge(
                try await ask(row, limit), of: plan.kind, for: expectation
            ) { plan.stated.holds(for: $0, sha256: signer.sha256) }
        } catch {
            // A key that is gone, or a row that was touched: an operator must look; the caller may
            // ask again.
            log.error(
                "verification could not be evaluated",
                [
                    VerificationSignals.verificationID: LogValue(row.id),
                    VerificationSignals.failure: LogValue(error.code),
                ])
            verdict = .open(.tryAgain)
        }
        guard case .pass(let number) = verdict else {
            return .verdict(verdict, number: nil, phoneScore: nil, holder: holder)
        }
        return .verdict(
            verdict, number: sealed(number, .proven, row.id),
            phoneScore: await score(number, row, limit), holder: holder)
    }

    private func expectation(of row: Verification) throws(ServiceFailure) -> Expectation {
        var (expected, excluded): (PhoneNumber?, PhoneNumber?)
        if let number = row.binding?.expectedNumber {
            expected = try unsealed(number, .expected, row.id)
        }
        if let number = row.binding?.excludedNumber {
            excluded = try unsealed(number, .excluded, row.id)
        }
        return Expectation(
            schemeCode: row.schemeCode, run: row.binding.map { ($0.purpose, $0.runId) },
            number: expected, excludedNumber: excluded)
    }

    private func score(
        _ number: PhoneNumber, _ row: Verification, _ limit: CallLimit
    ) async -> Int? {
        guard let scorer, row.binding?.wantsScore == true else { return nil }
        let timeout = min(configuration.scoreTimeout, timeLeft(limit))
        guard timeout > .zero else { return nil }
        let score = await scorer.score(number, schemeCode: row.schemeCode, timeout: timeout)
        return score.map { min(100, max(0, $0)) }
    }

    /// Within the lease, whatever the caller's deadline is.
    func timeLeft(_ limit: CallLimit) -> Duration {
        guard let until = limit.waitsUntil else { return configuration.carrierTimeout }
        return min(configuration.carrierTimeout, until - pause.steadyNow())
    }
}

extension CallAnswer {
    var result: VerificationResult {
        switch self {
        case .pass: .pass
        case .reject: .reject
        case .unknown: .unknown
        }
    }

    var reason: VerificationReason? {
        switch self {
        case .pass: nil
        case .reject: .numberMismatch
        case .unknown(let reason, _): reason
        }
    }

    var attemptsLeft: Int? {
        if case .unknown(_, let attemptsLeft) = self { attemptsLeft } else { nil }
    }
}
