import Bus
import Effects
import Messages
import Primitives
import Storage

/// `smscode.internal.attach` and `redeem`: guesses of scene runs.
extension SMSCodeService {
    func attach(
        _ request: AttachGuess, _ context: CallContext
    ) async throws(ServiceFailure) -> AttachedGuess {
        let typed = try TypedCode(request.code)
        let id: GuessID = random.identifier()
        let now = clock.now()
        let waitingMax = configuration.unredeemedGuesses
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            let challenge = rows.get(SMSCodeTables.challenges, request.challengeId.text)
            let waiting = rows.find(
                SMSCodeTables.guesses, SMSCodeTables.byChallenge, request.challengeId.text,
                limit: waitingMax)
            guard let challenge, challenge.runID == request.runId else {
                throw SMSCodeFailure.challengeNotFound
            }
            guard waiting.count < waitingMax else {
                throw SMSCodeFailure.tooManyGuesses(waitingMax)
            }
            rows.put(
                SMSCodeTables.guesses,
                AttachedCode(
                    id: id, challenge: challenge.id, mac: book.mac(typed, for: challenge),
                    createdAt: now, keptUntil: challenge.keptUntil))
            return AttachedGuess(
                guessId: id, expiresAtMilliseconds: challenge.expiresAt.millisecondsSince1970)
        }
        metrics.count(SMSCodeSignals.guessesAttached)
        return reply
    }

    /// Three rounds of rows: guess → challenge → window.
    func redeem(
        _ request: RedeemGuess, _ context: CallContext
    ) async throws(ServiceFailure) -> RedeemedGuess {
        let now = clock.now()
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            guard var guess = rows.get(SMSCodeTables.guesses, request.guessId.text),
                let challenge = rows.get(SMSCodeTables.challenges, guess.challenge.text)
            else { throw SMSCodeFailure.guessNotFound }
            let number = try number(of: challenge)
            if guess.isRedeemed { return redeemed(challenge, number, .alreadyUsed) }
            let names = keys.guessWindow(challenge.schemeCode, challenge.purpose, number)
            var window = guessWindow(names, &rows, now)
            prefetchDay(challenge.schemeCode, holder: challenge.holder, now, &rows)
            let before = window
            var challenges = [challenge]
            let ruling = judge(guess, &challenges, &window, now)
            guess.isRedeemed = true
            rows.put(SMSCodeTables.guesses, guess)
            if window != before { put(window, names, &rows) }
            if challenges != [challenge] { rows.put(SMSCodeTables.challenges, challenges[0]) }
            count(ruling, challenge.schemeCode, holder: challenge.holder, now, &rows)
            return redeemed(challenge, number, ruling.result, ruling.attemptsLeft)
        }
        metrics.count(SMSCodeSignals.checks, ("result", reply.result.rawValue))
        log.debug(
            "guess redeemed",
            [
                SMSCodeSignals.challengeID: LogValue(reply.challengeId),
                SMSCodeSignals.phone: LogValue(reply.number),
                SMSCodeSignals.result: .text(reply.result.rawValue),
            ])
        return reply
    }

    /// A challenge that is over is not guessed at.
    private func judge(
        _ guess: AttachedCode, _ challenges: inout [CodeChallenge], _ window: inout GuessWindow,
        _ now: WallTime
    ) -> GuessRuling {
        for challenge in challenges {
            switch challenge.state {
            case .accepted: return .alreadyUsed
            case .cancelled: return .cancelled
            case .open: if challenge.live(at: now).isEmpty { return .expired }
            }
        }
        return GuessRuling.judge(
            .attached(guess.mac), &challenges, &window, at: now, book: book,
            limits: configuration.guessLimits, chargesMax: 0)
    }

    private func redeemed(
        _ challenge: CodeChallenge, _ number: PhoneNumber, _ result: CodeResult,
        _ attemptsLeft: Int? = nil
    ) -> RedeemedGuess {
        RedeemedGuess(
            result: result, number: number, schemeCode: challenge.schemeCode,
            purpose: challenge.purpose, runId: challenge.runID, challengeId: challenge.id,
            attemptsLeft: attemptsLeft,
            expiresAtMilliseconds: challenge.expiresAt.millisecondsSince1970)
    }
}
