import Effects
import Messages
import Primitives
import Storage

/// The first transaction of `smscode.send`: limits, challenge and message in one commit.
extension SMSCodeService {
    func decideSend(
        _ job: SendJob, mayWait: Bool, _ rows: inout Rows
    ) throws(ServiceFailure) -> FirstStep<SendPlan, SentCode> {
        let guesses = guessWindow(job.guessNames, &rows, job.now)
        let known = challenges(job.slots, &rows, limit: 1).first
        var windows = job.budgets.map { sendWindow($0.names, &rows, job.now) }
        if job.text.carriesCode, job.testNumber == nil {
            try judgeGuesses(job, guesses)
        }
        for (budget, window) in zip(job.budgets, windows) where budget.isJudged {
            let verdict = window.verdict(
                job.now, cooldown: budget.cooldown, budget.limits, instance: instanceID)
            if let failure = SMSCodeFailure.limited(
                verdict, byAddress: budget.isByAddress, max(job.now, window.latestAt))
            {
                throw failure
            }
        }
        let now = windows.reduce(job.now) { max($0, $1.latestAt) }
        for (index, budget) in job.budgets.enumerated() {
            windows[index].count(
                now, keeping: budget.span, countMax: budget.countMax, instance: instanceID)
            rows.put(SMSCodeTables.sendWindows, windows[index])
            for older in budget.names.dropFirst() { rows.delete(SMSCodeTables.sendWindows, older) }
        }
        let (left, resendAt) = outlook(job, windows, now)
        let issued = issue(job, known, resendAt: resendAt, at: now, &rows)
        var message = message(
            job, issued, shares: windows.map { SMSMessage.Share(window: $0.key, countedAt: now) },
            at: now)
        if job.testNumber != nil { message.simulate() } else if mayWait { message.take(at: now) }
        rows.put(SMSCodeTables.messages, message)
        let reply = SentCode(
            challengeId: issued?.challenge, messageId: message.id, delivery: message.state,
            expiresAtMilliseconds: issued?.code.expiresAt.millisecondsSince1970,
            resendAtMilliseconds: resendAt.millisecondsSince1970, sendsLeft: left,
            codeLength: issued?.code.length, codeType: issued?.code.alphabet.rawValue,
            codeSequence: issued?.code.sequence, outId: job.request.outId)
        guard message.state == .sending else { return .answered(reply) }
        return .pending(SendPlan(messageID: message.id, code: issued?.code, reply: reply))
    }

    /// A code that nobody could check would only cost money.
    private func judgeGuesses(_ job: SendJob, _ window: GuessWindow) throws(ServiceFailure) {
        let bound = job.settings.alphabet.chargesMax(
            length: job.settings.length, caseSensitive: job.settings.caseSensitive)
        if case .exhausted(let until) = window.verdict(
            job.now, charges: 1, chargesMax: bound, configuration.guessLimits)
        {
            throw SMSCodeFailure.guessesExhausted(until: until, job.now)
        }
    }

    private func sendWindow(
        _ names: [String], _ rows: inout Rows, _ now: WallTime
    ) -> SendWindow {
        let found = names.map { rows.get(SMSCodeTables.sendWindows, $0) }.compactMap(\.self)
        guard let first = found.first else { return SendWindow(key: names[0], at: now) }
        guard found.count > 1 || first.key != names[0] else { return first }
        return found.dropFirst().reduce(SendWindow(key: names[0], joining: first, nil)) {
            SendWindow(key: names[0], joining: $0, $1)
        }
    }

    /// Sends left in the tightest window of the number, and the earliest next one.
    private func outlook(
        _ job: SendJob, _ windows: [SendWindow], _ now: WallTime
    ) -> (left: Int, resendAt: WallTime) {
        var left = configuration.sendsPerHour
        var resendAt = job.testNumber == nil ? now + job.settings.cooldown : now
        for (budget, window) in zip(job.budgets, windows) where budget.isJudged {
            if !budget.isByAddress { left = min(left, window.sendsLeft(budget.limits)) }
            if let reopening = window.reopening(budget.limits) {
                resendAt = max(resendAt, reopening)
            }
        }
        return (left, resendAt)
    }

    private func issue(
        _ job: SendJob, _ known: CodeChallenge?, resendAt: WallTime, at now: WallTime,
        _ rows: inout Rows
    ) -> (challenge: ChallengeID, code: IssuedCode, isNew: Bool)? {
        guard job.text.carriesCode else { return nil }
        var challenge: CodeChallenge
        if let known, !known.live(at: now).isEmpty {
            challenge = known
        } else {
            // Strictly later than the one before, so that the newest of a slot is found by its time.
            let now = known.map { max(now, $0.createdAt + .milliseconds(1)) } ?? now
            challenge = CodeChallenge(
                id: job.challengeID, schemeCode: job.scheme.schemeCode, owner: job.scheme.owner,
                purpose: job.request.purpose, runID: job.request.origin?.runId,
                slot: job.slots[0], holder: job.holder,
                number: StoredBytes(
                    sealer.seal(
                        job.number, context: Self.numberContext(job.challengeID.text))),
                caseSensitive: job.settings.caseSensitive, at: now)
        }
        let before = challenge.nextSequence
        let code = challenge.send(
            CodeChallenge.Order(
                policy: job.settings.policy, length: job.settings.length,
                alphabet: job.settings.alphabet, lifetime: job.settings.lifetime,
                keyVersion: book.derivation.currentVersion,
                fixed: job.testNumber.map {
                    book.fixed(
                        $0.code,
                        endsAt: WallTime(millisecondsSince1970: $0.endsAtMilliseconds),
                        for: challenge.id)
                }),
            message: job.messageID, resendAt: resendAt, at: now)
        rows.put(SMSCodeTables.challenges, challenge)
        job.issued.withLock { $0 = code }
        return (challenge.id, code, challenge.nextSequence > before)
    }

    private func message(
        _ job: SendJob, _ issued: (challenge: ChallengeID, code: IssuedCode, isNew: Bool)?,
        shares: [SMSMessage.Share], at now: WallTime
    ) -> SMSMessage {
        let id = job.messageID
        return SMSMessage(
            id: id, kind: issued == nil ? .text : .code, schemeCode: job.scheme.schemeCode,
            holder: job.holder, anybody: job.anybody,
            number: StoredBytes(
                sealer.seal(job.number, context: Self.numberContext(id.text))),
            content: seal(job.text, id), challenge: issued?.challenge,
            sequence: issued?.code.sequence, codeIsNew: issued?.isNew ?? false,
            templateCode: job.request.text?.templateCode ?? job.request.origin?.templateId,
            outId: job.request.outId,
            usefulUntil: issued?.code.expiresAt ?? now + job.settings.lifetime, shares: shares,
            at: now)
    }
}
