import Bus
import Effects
import Messages
import Primitives
import Storage

/// Number authentication without a scene: the carrier token itself is what is exchanged once.
extension VerificationService {
    /// How long a carrier token may be asked again after a time-out. Carriers keep theirs for
    /// minutes.
    static let directLifetime = Duration.seconds(600)

    func getNumber(
        _ request: GetNumber, _ context: CallContext
    ) async throws(ServiceFailure) -> GotNumber {
        let answer = try await decide(
            DirectCall(
                key: try context.answerKey(for: request), schemeCode: request.schemeCode,
                carrierToken: request.carrierToken, context: context)
        ) { _ in .none }
        guard let number = answer.number else { throw answer.failure }
        return GotNumber(
            verificationId: answer.verificationId, number: number, outId: request.outId)
    }

    func matchNumber(
        _ request: MatchNumber, _ context: CallContext
    ) async throws(ServiceFailure) -> MatchedNumber {
        let answer = try await decide(
            DirectCall(
                key: try context.answerKey(for: request), schemeCode: request.schemeCode,
                carrierToken: request.carrierToken, context: context)
        ) { scheme throws(ServiceFailure) in
            if let hash = request.hashedNumber.flatMap(Hex.decode) { return .hashed(hash) }
            return .number(
                try phoneNumbers.number(
                    request.number ?? "", field: "number",
                    defaultRegion: scheme.policy.defaultRegion))
        }
        guard answer.result != .unknown else { throw answer.failure }
        return MatchedNumber(
            verificationId: answer.verificationId, result: answer.result, outId: request.outId)
    }

    func finishDirect(
        _ key: AnswerKey, _ plan: EvaluationPlan, _ evaluated: Evaluated, _ id: VerificationID
    ) async throws(ServiceFailure) -> DirectAnswer {
        let now = clock.now()
        let reply = try await answers.finish(key) { rows in
            let (answer, row) = settle(evaluated, plan, at: now, &rows)
            guard case .verdict(.pass(let number), _, _, _) = evaluated, answer == .pass else {
                return DirectAnswer(answer, row?.id ?? id)
            }
            return DirectAnswer(answer, row?.id ?? id, number: number)
        }
        note(reply.answer, plan, reply.verificationId)
        return reply
    }

    // MARK: -

    private struct DirectCall: Sendable {
        let key: AnswerKey
        let schemeCode: String
        let carrierToken: Secret<String>
        let context: CallContext
    }

    private func decide(
        _ call: DirectCall, stated: (Scheme) throws(ServiceFailure) -> StatedNumber
    ) async throws(ServiceFailure) -> DirectAnswer {
        let permission = await permission(call, stated)
        let now = clock.now()
        let holder = holder()
        let leaseFor = configuration.leaseFor
        let token = DirectToken(call.carrierToken, digest: tokens)
        let draft = draft(call, token, at: now)
        let begun: Begun<EvaluationPlan, DirectAnswer> = try await answers.begin(call.key) {
            rows throws(ServiceFailure) in
            let found = token.keys.map { rows.get(VerificationTables.verifications, $0) }
            let stated = try permission.get()
            var row = found.lazy.compactMap(\.self).first ?? draft
            guard row.schemeCode == call.schemeCode else {
                return .answered(DirectAnswer(.unknown(.alreadyUsed, attemptsLeft: nil), row.id))
            }
            let evaluationsSeen = row.evaluationsCount
            let admission = row.admit(holder, at: now, leaseFor: leaseFor)
            switch admission {
            case .decided, .expired:
                return .answered(DirectAnswer(.unknown(.alreadyUsed, attemptsLeft: nil), row.id))
            case .taken: rows.put(VerificationTables.verifications, row)
            case .busy: break
            }
            return .pending(
                EvaluationPlan(
                    key: row.key, schemeCode: row.schemeCode, kind: .carrier,
                    holder: admission == .taken ? holder : nil,
                    evaluationsSeen: evaluationsSeen, stated: stated))
        }
        let limit = CallLimit(call.context, pause)
        switch begun {
        case .answered(let reply): return reply
        case .started(let plan):
            // The draft has the key and id of the row that was found, unless a key version lies
            // between.
            let evaluated = try await carryOut(
                plan, holding: plan.key == draft.key ? draft : nil, limit)
            return try await finishDirect(call.key, plan, evaluated ?? .byAnother, draft.id)
        case .resumed(let plan):
            let evaluated = try await carryOut(plan, holding: nil, limit)
            return try await finishDirect(call.key, plan, evaluated ?? .byAnother, draft.id)
        }
    }

    private func permission(
        _ call: DirectCall, _ stated: (Scheme) throws(ServiceFailure) -> StatedNumber
    ) async -> Result<StatedNumber, ServiceFailure> {
        do throws(ServiceFailure) {
            return .success(
                try stated(try await schemes.usable(call.schemeCode, call.context)))
        } catch {
            return .failure(error)
        }
    }

    private func draft(
        _ call: DirectCall, _ token: DirectToken, at now: WallTime
    ) -> Verification {
        let expiresAt = now + Self.directLifetime
        return Verification(
            key: token.key, id: token.id, schemeCode: call.schemeCode, binding: nil,
            evidence: .carrier(sealed(call.carrierToken, token.id)), openedAt: now,
            expiresAt: expiresAt, keptUntil: expiresAt + configuration.recordLifetime)
    }
}

/// What a direct call is told, as it is stored: also a refusal is an outcome whose row must be
/// written.
struct DirectAnswer: Codable, Sendable, Equatable {
    let verificationId: VerificationID
    let answer: CallAnswer
    let number: PhoneNumber?

    init(_ answer: CallAnswer, _ id: VerificationID, number: PhoneNumber? = nil) {
        verificationId = id
        self.answer = answer
        self.number = number
    }

    var result: VerificationResult { answer.result }

    /// For an answer without a result to give.
    var failure: ServiceFailure {
        switch answer.reason {
        case .carrierTimeout, .carrierUnavailable, .tryAgain: VerificationFailure.carrierUnavailable
        default: VerificationFailure.carrierTokenInvalid
        }
    }
}
