import Bus
import Effects
import Messages
import Primitives
import Storage

extension VerificationService {
    /// Rows of one step that are looked at; a run has at most ten mask tokens.
    static let stepRowsMax = 50
    static let daysMax = 31

    /// Scene pulls this; a PASS counts from the commit that made it.
    func runStatus(
        _ request: GetRunStatus, _ context: CallContext
    ) async throws(ServiceFailure) -> RunStatus {
        let now = clock.now()
        let found = try await store.decide { rows in
            rows.find(
                VerificationTables.verifications, VerificationTables.byStep,
                VerificationTables.stepName(request.runId, request.step), newestFirst: true,
                limit: Self.stepRowsMax)
        }
        guard let passed = found.first(where: { $0.state == .passed }),
            let number = passed.decision?.number
        else {
            return RunStatus(
                passed: false, verificationId: found.first?.id,
                lastReason: found.first?.reason(at: now))
        }
        return RunStatus(
            passed: true, verificationId: passed.id,
            number: try unsealed(number, .proven, passed.id))
    }

    func status(
        _ request: GetVerificationStatus, _ context: CallContext
    ) async throws(ServiceFailure) -> VerificationStatus {
        let found = try await store.decide { rows in
            rows.find(
                VerificationTables.verifications, VerificationTables.byID,
                request.verificationId.text, limit: 1
            ).first
        }
        guard let row = found else { throw VerificationFailure.notFound }
        let scheme: Scheme
        do throws(ServiceFailure) {
            scheme = try await schemes.scheme(row.schemeCode, context)
        } catch {
            throw error.code == .schemeNotFound ? VerificationFailure.notFound : error
        }
        guard context.mayUse(scheme) else { throw VerificationFailure.notFound }
        let now = clock.now()
        return VerificationStatus(
            verificationId: row.id, state: row.state(at: now), reason: row.reason(at: now),
            schemeCode: row.schemeCode, templateId: row.binding?.templateId,
            runId: row.binding?.runId, nodeId: row.binding?.nodeId,
            openedAtMilliseconds: row.openedAt.millisecondsSince1970,
            decidedAtMilliseconds: row.decision?.decidedAt.millisecondsSince1970,
            expiresAtMilliseconds: row.expiresAt.millisecondsSince1970)
    }

    func statistics(
        _ request: GetVerificationStatistics, _ context: CallContext
    ) async throws(ServiceFailure) -> VerificationStatistics {
        let days = try asked(request)
        guard let schemeCode = request.schemeCode else {
            guard context.isAny(of: .operator) else { throw VerificationFailure.schemeRequired }
            return try await everyScheme(days)
        }
        let scheme = try await schemes.scheme(schemeCode, context)
        guard context.mayUse(scheme) else {
            throw ServiceFailure(.schemeNotFound, "there is no such scheme", field: "schemeCode")
        }
        let counts = try await store.decide { rows in
            var counts: [DayCount] = []
            for day in days {
                for kind in EvidenceKind.allCases {
                    let key = DayCount.key(day.text, schemeCode, kind)
                    if let count = rows.get(VerificationTables.days, key) { counts.append(count) }
                }
            }
            return counts
        }
        return VerificationStatistics(
            days: counts.map {
                VerificationDay(
                    day: $0.day, kind: $0.kind, passed: $0.passed, refused: $0.refused,
                    unknown: $0.unknown)
            })
    }

    // MARK: -

    private func asked(
        _ request: GetVerificationStatistics
    ) throws(ServiceFailure) -> [UTCDay] {
        guard let from = UTCDay(text: request.fromDay) else {
            throw VerificationFailure.day("fromDay")
        }
        guard let to = UTCDay(text: request.toDay) else { throw VerificationFailure.day("toDay") }
        guard from <= to, to.daysSince1970 - from.daysSince1970 < Int64(Self.daysMax) else {
            throw VerificationFailure.span
        }
        var days = [from]
        while let last = days.last, last < to { days.append(last.next) }
        return days
    }

    /// Sums over all schemes, a page of rows at a time.
    private func everyScheme(
        _ days: [UTCDay]
    ) async throws(ServiceFailure) -> VerificationStatistics {
        var sums: [VerificationDay] = []
        for day in days {
            var totals = EvidenceKind.allCases.map {
                VerificationDay(day: day.text, kind: $0, passed: 0, refused: 0, unknown: 0)
            }
            var upTo = Int64.max
            while true {
                let top = upTo
                let page = try await store.decide { rows in
                    rows.find(
                        VerificationTables.days, VerificationTables.byDay, day.text, upTo: top,
                        newestFirst: true, limit: Rows.findMax)
                }
                for count in page {
                    guard let at = totals.firstIndex(where: { $0.kind == count.kind }) else {
                        continue
                    }
                    totals[at] = totals[at].adding(count)
                }
                guard page.count == Rows.findMax, let last = page.last, last.order > 0 else {
                    break
                }
                upTo = last.order - 1
            }
            sums += totals.filter { $0.passed + $0.refused + $0.unknown > 0 }
        }
        return VerificationStatistics(days: sums)
    }
}

extension Verification {
    fileprivate func state(at now: WallTime) -> VerificationState {
        switch state {
        case .open: max(now, latestAt) < expiresAt ? .open : .expired
        case .passed: .passed
        case .refused: .refused
        }
    }

    fileprivate func reason(at now: WallTime) -> VerificationReason? {
        if let decision { return decision.reason }
        return state(at: now) == .expired ? .maskTokenExpired : lastReason
    }
}

extension VerificationDay {
    fileprivate func adding(_ count: DayCount) -> Self {
        Self(
            day: day, kind: kind, passed: passed + count.passed, refused: refused + count.refused,
            unknown: unknown + count.unknown)
    }
}
