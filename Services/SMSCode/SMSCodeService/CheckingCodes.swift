import Bus
import Effects
import Messages
import Primitives
import Storage

/// `smscode.check`.
extension SMSCodeService {
    /// What a check is about: one scheme, purpose and number outside runs, perhaps by way of a challenge.
    private struct Target: Sendable {
        let schemeCode: String
        let purpose: String
        let number: PhoneNumber
        let named: ChallengeID?
        /// Of the named challenge.
        let sequence: Int?
        let chargesMax: Int
    }

    /// Dead challenges tell how a code died only for the one before the newest.
    private static let challengesMax = 2

    func check(
        _ request: CheckCode, _ context: CallContext
    ) async throws(ServiceFailure) -> CheckedCode {
        let guess = CodeBook.Guess.typed(
            try TypedCode(request.code), caseSensitive: request.caseSensitive ?? false)
        let target = try await target(of: request, context)
        let guessNames = keys.guessWindow(target.schemeCode, target.purpose, target.number)
        let slots = keys.slot(target.schemeCode, target.purpose, target.number, nil)
        let holder = keys.holder(target.schemeCode, target.number)[0]
        let now = clock.now()
        let outId = request.outId
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            var window = guessWindow(guessNames, &rows, now)
            var challenges = challenges(slots, &rows, limit: Self.challengesMax)
            prefetchDay(target.schemeCode, holder: holder, now, &rows)
            if let dead = state(of: target, challenges, now, &rows) {
                return CheckedCode(result: dead, challengeId: target.named, outId: outId)
            }
            let before = (window, challenges)
            let ruling = GuessRuling.judge(
                guess, &challenges, &window, at: now, book: book,
                limits: configuration.guessLimits, chargesMax: target.chargesMax)
            if window != before.0 { put(window, guessNames, &rows) }
            for (challenge, old) in zip(challenges, before.1) where challenge != old {
                rows.put(SMSCodeTables.challenges, challenge)
            }
            count(ruling, target.schemeCode, holder: holder, now, &rows)
            return checked(ruling, target.number, window, outId: outId, now)
        }
        metrics.count(SMSCodeSignals.checks, ("result", reply.result.rawValue))
        log.debug(
            "code checked",
            [
                SMSCodeSignals.scheme: .text(target.schemeCode),
                SMSCodeSignals.phone: LogValue(target.number),
                SMSCodeSignals.result: .text(reply.result.rawValue),
            ])
        return reply
    }

    /// Counts what a person did, not what was refused unseen.
    func count(
        _ ruling: GuessRuling, _ scheme: String, holder: String, _ now: WallTime,
        _ rows: inout Rows
    ) {
        switch ruling {
        case .accepted: countDay(scheme, holder: holder, now, &rows) { $0.accepted += 1 }
        case .rejected, .superseded, .expired:
            countDay(scheme, holder: holder, now, &rows) { $0.rejected += 1 }
        case .exhausted, .alreadyUsed, .cancelled: break
        }
    }

    private func target(
        of request: CheckCode, _ context: CallContext
    ) async throws(ServiceFailure) -> Target {
        if let id = request.challengeId {
            let challenge = try await store.decide { rows throws(ServiceFailure) in
                rows.get(SMSCodeTables.challenges, id.text)
            }
            guard let challenge, context.mayUse(schemeOf: challenge.owner),
                challenge.isOf(scheme: request.schemeCode, purpose: request.purpose)
            else { throw SMSCodeFailure.challengeNotFound }
            guard challenge.runID == nil else { throw SMSCodeFailure.belongsToRun }
            let scheme = try await schemes.usable(challenge.schemeCode, context)
            let number = try number(of: challenge)
            if let text = request.number {
                let given = try phoneNumbers.number(
                    text, field: "number", defaultRegion: scheme.policy.defaultRegion)
                guard given == number else { throw SMSCodeFailure.challengeNotFound }
            }
            return Target(
                schemeCode: challenge.schemeCode, purpose: challenge.purpose,
                number: number, named: id, sequence: request.codeSequence,
                chargesMax: SendSettings.expectedChargesMax(challenge.purpose, scheme))
        }
        guard let schemeCode = request.schemeCode, let purpose = request.purpose,
            let text = request.number
        else { throw ServiceFailure(.invalidParameters, "is missing", field: "number") }
        try judgePurpose(purpose, context)
        let scheme = try await schemes.usable(schemeCode, context)
        return Target(
            schemeCode: schemeCode, purpose: purpose,
            number: try phoneNumbers.number(
                text, field: "number", defaultRegion: scheme.policy.defaultRegion),
            named: nil, sequence: nil, chargesMax: SendSettings.expectedChargesMax(purpose, scheme))
    }

    /// Who holds a challenge's id is told that it is over; a number alone tells nothing.
    private func state(
        of target: Target, _ challenges: [CodeChallenge], _ now: WallTime,
        _ rows: inout Rows
    ) -> CodeResult? {
        guard let named = target.named else { return nil }
        let challenge =
            challenges.first { $0.id == named } ?? rows.get(SMSCodeTables.challenges, named.text)
        guard let challenge else { return .notFound }
        switch challenge.state {
        case .accepted: return .alreadyUsed
        case .cancelled: return .cancelled
        case .open:
            guard challenges.contains(where: { !$0.live(at: now).isEmpty }) else { return .expired }
            guard let sequence = target.sequence else { return nil }
            return challenge.live(at: now).contains { $0.sequence == sequence } ? nil : .superseded
        }
    }

    private func checked(
        _ ruling: GuessRuling, _ number: PhoneNumber, _ window: GuessWindow, outId: String?,
        _ now: WallTime
    ) -> CheckedCode {
        var accepted: ChallengeID?
        if case .accepted(let id) = ruling { accepted = id }
        var newer: WallTime?
        if case .superseded(let sentAt) = ruling { newer = sentAt }
        return CheckedCode(
            result: ruling.result, number: accepted == nil ? nil : number, challengeId: accepted,
            attemptsLeft: ruling.attemptsLeft,
            retryAfterMilliseconds: ruling.retryAfterMilliseconds(max(now, window.latestAt)),
            newerSentAtMilliseconds: newer?.millisecondsSince1970, outId: outId)
    }
}
