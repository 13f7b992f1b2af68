import Bus
import Effects
import Messages
import Primitives
import Storage

extension VerificationService {
    /// What the caller is to a token, as far as others than the row decide it.
    private enum Standing: Sendable {
        /// No such token, or not the caller's: both look alike.
        case unknown
        case disabled
        /// The token service cannot be asked.
        case undecidable
        case numberInvalid(ServiceFailure)
        case usable(StatedNumber)
    }

    /// The outcome is stored under the request key as always, also one that leaves the token open
    /// (`not_received`, `carrier_timeout`, …). To ask such a token again, call without a key, or
    /// with a new one.
    func verify(
        _ request: VerifyMaskToken, _ context: CallContext
    ) async throws(ServiceFailure) -> Verified {
        let key = try context.answerKey(for: request)
        let found = try await found(request.maskToken)
        let standing = await standing(found, request, context)
        let now = clock.now()
        let holder = holder()
        let leaseFor = configuration.leaseFor
        let begun: Begun<EvaluationPlan, Verified> = try await answers.begin(key) {
            rows throws(ServiceFailure) in
            guard let rowKey = found?.key else { return .answered(.invalid) }
            let stored = rows.get(VerificationTables.verifications, rowKey)
            let stated: StatedNumber
            switch standing {
            case .unknown: return .answered(.invalid)
            case .disabled: return .answered(Verified(.unknown(.schemeDisabled), of: stored))
            case .undecidable: return .answered(Verified(.unknown(.tryAgain), of: stored))
            case .numberInvalid(let failure): throw failure
            case .usable(let number): stated = number
            }
            guard var row = stored else { return .answered(.invalid) }
            let evaluationsSeen = row.evaluationsCount
            let admission = row.admit(holder, at: now, leaseFor: leaseFor)
            switch admission {
            case .decided(let decision): return .answered(Verified(.late(decision), of: row))
            case .expired: return .answered(Verified(.unknown(.maskTokenExpired), of: row))
            case .taken, .busy: break
            }
            if admission == .taken { rows.put(VerificationTables.verifications, row) }
            return .pending(
                EvaluationPlan(
                    key: rowKey, schemeCode: row.schemeCode, kind: row.evidence.kind,
                    holder: admission == .taken ? holder : nil, evaluationsSeen: evaluationsSeen,
                    stated: stated))
        }
        let limit = CallLimit(context, pause)
        switch begun {
        case .answered(let reply): return reply
        case .started(let plan):
            let evaluated = try await carryOut(plan, holding: found, limit)
            return try await finishVerify(key, plan, evaluated ?? .byAnother)
        case .resumed(let plan):
            let evaluated = try await carryOut(plan, holding: nil, limit)
            return try await finishVerify(key, plan, evaluated ?? .byAnother)
        }
    }

    func finishVerify(
        _ key: AnswerKey, _ plan: EvaluationPlan, _ evaluated: Evaluated
    ) async throws(ServiceFailure) -> Verified {
        let now = clock.now()
        let reply = try await answers.finish(key) { rows in
            let (answer, row) = settle(evaluated, plan, at: now, &rows)
            guard case .verdict(.pass(let number), _, let score, _) = evaluated, answer == .pass
            else { return Verified(answer, of: row) }
            return Verified(answer, of: row, number: number, phoneScore: score)
        }
        note(CallAnswer(reply), plan, reply.verificationId)
        return reply
    }

    // MARK: -

    private func found(_ token: Secret<String>) async throws(ServiceFailure) -> Verification? {
        guard let token = MaskToken(text: token.reveal(), digest: tokens) else { return nil }
        return try await store.decide { rows in
            rows.get(VerificationTables.verifications, token.key)
        }
    }

    private func standing(
        _ row: Verification?, _ request: VerifyMaskToken, _ context: CallContext
    ) async -> Standing {
        guard let row, request.schemeCode == nil || request.schemeCode == row.schemeCode else {
            return .unknown
        }
        let scheme: Scheme
        do throws(ServiceFailure) {
            scheme = try await schemes.scheme(row.schemeCode, context)
        } catch {
            return error.code == .schemeNotFound ? .unknown : .undecidable
        }
        guard context.mayUse(scheme) else { return .unknown }
        guard !scheme.disabled else { return .disabled }
        guard let text = request.number else { return .usable(.none) }
        do throws(ServiceFailure) {
            return .usable(
                .number(
                    try phoneNumbers.number(
                        text, field: "number", defaultRegion: scheme.policy.defaultRegion)))
        } catch {
            return .numberInvalid(error)
        }
    }
}

extension CallAnswer {
    fileprivate static func unknown(_ reason: VerificationReason) -> Self {
        .unknown(reason, attemptsLeft: nil)
    }

    fileprivate init(_ reply: Verified) {
        self =
            switch reply.result {
            case .pass: .pass
            case .reject: .reject
            case .unknown:
                .unknown(reply.reason ?? .tryAgain, attemptsLeft: reply.attemptsLeft)
            }
    }
}

extension Verified {
    fileprivate static let invalid = Verified(result: .unknown, reason: .maskTokenInvalid)

    fileprivate init(
        _ answer: CallAnswer, of row: Verification?, number: PhoneNumber? = nil,
        phoneScore: Int? = nil
    ) {
        self.init(
            verificationId: row?.id, result: answer.result, reason: answer.reason,
            phoneNumber: number, phoneScore: phoneScore, schemeCode: row?.schemeCode,
            templateId: row?.binding?.templateId, nodeId: row?.binding?.nodeId,
            attemptsLeft: answer.attemptsLeft)
    }
}
