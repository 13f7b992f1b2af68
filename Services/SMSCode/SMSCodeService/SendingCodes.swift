import Bus
import Effects
import Messages
import Primitives
import Storage

/// `smscode.send`.
extension SMSCodeService {
    /// What a send leaves of its caller's time for the way back.
    private static let answerMargin = Duration.milliseconds(500)
    private static let pollEvery = Duration.milliseconds(50)

    func send(
        _ request: SendCode, _ context: CallContext
    ) async throws(ServiceFailure) -> SentCode {
        try judgePurpose(request.purpose, context)
        try judgeOrigin(request, context)
        let scheme = try await schemes.usable(request.schemeCode, context)
        let job = try makeJob(request, scheme)
        let key = try context.answerKey(for: request)
        let wait = waitForProvider(context)
        let mayWait = job.testNumber == nil && wait > .zero && enterWaiting()
        defer { if mayWait { leaveWaiting() } }
        let begun: Begun<SendPlan, SentCode>
        do throws(ServiceFailure) {
            begun = try await answers.begin(key) { rows throws(ServiceFailure) in
                try decideSend(job, mayWait: mayWait, &rows)
            }
        } catch {
            note(job, outcome: error.code.rawValue)
            throw error
        }
        let reply: SentCode
        switch begun {
        case .answered(let answered):
            if answered.delivery == .queued { outboxBell.nudge() }
            reply = answered
        case .started(let plan):
            reply = try await carryOut(plan, job, key, within: wait)
        case .resumed(let plan):
            await awaitOutcome(of: plan.messageID, within: wait)
            reply = try await finish(plan, key)
        }
        note(job, outcome: reply.delivery.rawValue)
        return try await withCode(reply, job)
    }

    // MARK: Before the transaction

    private func judgeOrigin(
        _ request: SendCode, _ context: CallContext
    ) throws(ServiceFailure) {
        if request.origin != nil {
            guard !context.peer.roles.isDisjoint(with: [.service, .gateway]) else {
                throw ServiceFailure(
                    .notAllowed, "only services and the gateway state an origin", field: "origin")
            }
        }
        guard request.returnCode == true else { return }
        guard request.origin?.runId == nil, context.isAny(of: [.integrator, .gateway]) else {
            throw ServiceFailure(
                .notAllowed, "only integrators get a code back, and never of a run",
                field: "returnCode")
        }
    }

    private func makeJob(
        _ request: SendCode, _ scheme: Scheme
    ) throws(ServiceFailure) -> SendJob {
        let now = clock.now()
        let settings = SendSettings(request, scheme)
        let number = try phoneNumbers.number(
            request.number, field: "number", defaultRegion: scheme.policy.defaultRegion)
        let ofPolicy = request.appHash == nil && request.origin?.runId == nil
        let text = try MessageComposer(
            scheme: scheme, templateID: settings.templateID, locale: settings.locale,
            lifetime: settings.lifetime, codeLength: settings.length, appHash: request.appHash,
            webOTPHost: request.webOTPHost ?? (ofPolicy ? scheme.policy.webOTPHost : nil)
        ).compose(request.text)
        let testNumber = (scheme.policy.testNumbers ?? []).first { $0.covers(number, at: now) }
        return SendJob(
            request: request, scheme: scheme, settings: settings, number: number, text: text,
            testNumber: testNumber,
            budgets: testNumber == nil ? try budgets(request, settings, number) : [],
            guessNames: keys.guessWindow(scheme.schemeCode, request.purpose, number),
            slots: keys.slot(
                scheme.schemeCode, request.purpose, number, request.origin?.runId),
            holder: keys.holder(scheme.schemeCode, number)[0], anybody: keys.anybody(number)[0],
            messageID: random.identifier(), challengeID: random.identifier(), now: now)
    }

    /// Template 100003 and everything outside runs counts against the number itself.
    private func budgets(
        _ request: SendCode, _ settings: SendSettings, _ number: PhoneNumber
    ) throws(ServiceFailure) -> [SendBudget] {
        let origin = request.origin
        let isBound =
            origin?.toBoundNumber == true && origin?.runId != nil
            && settings.templateID != "100003"
        let own = [
            SendWindow.Limit(
                name: "hour", countMax: configuration.sendsPerHour, span: .seconds(3600)),
            SendWindow.Limit(
                name: "day", countMax: configuration.sendsPerDay, span: .seconds(86_400)),
        ]
        let all = SendWindow.Limit(
            name: "day_all_schemes", countMax: configuration.sendsPerDayAllSchemes,
            span: .seconds(86_400))
        var budgets = [
            SendBudget(
                names: isBound
                    ? keys.boundSends(request.schemeCode, number)
                    : keys.sends(request.schemeCode, number),
                limits: own, cooldown: settings.cooldown, isJudged: true, isByAddress: false),
            // Strangers could use it up: it counts a bound number's sends, and does not stop them.
            SendBudget(
                names: keys.allSends(number), limits: [all], cooldown: .zero, isJudged: !isBound,
                isByAddress: false),
        ]
        if let text = origin?.address {
            guard let address = ClientAddress(text) else {
                throw ServiceFailure(
                    .invalidParameters, "is not an address", field: "origin.address")
            }
            if !address.isLoopback {
                let hourly = SendWindow.Limit(
                    name: "address_hour", countMax: configuration.sendsPerAddressHour,
                    span: .seconds(3600))
                budgets.append(
                    SendBudget(
                        names: keys.addressSends(address), limits: [hourly], cooldown: .zero,
                        isJudged: true, isByAddress: true))
            }
        }
        return budgets
    }

    // MARK: After it

    private func waitForProvider(_ context: CallContext) -> Duration {
        let left = context.timeLeft(pause) ?? configuration.providerWait + Self.answerMargin
        return min(configuration.providerWait, left - Self.answerMargin)
    }

    private func enterWaiting() -> Bool {
        waitingSends.withLock { count in
            guard count < configuration.waitingSends else { return false }
            count += 1
            return true
        }
    }

    private func leaveWaiting() { waitingSends.withLock { $0 -= 1 } }

    private func carryOut(
        _ plan: SendPlan, _ job: SendJob, _ key: AnswerKey, within wait: Duration
    ) async throws(ServiceFailure) -> SentCode {
        let code = plan.reply.challengeId.flatMap { id in
            plan.code.flatMap { book.code($0, of: id) }
        }
        let result = await chain.submit(
            reference: plan.messageID.text, from: 0, number: job.number,
            text: job.text.text(code: code), within: wait)
        if case .refused(let reason) = result.outcome, result.isRoundOver {
            // In a commit of its own: a refused answer takes back what its transaction wrote.
            try await settleRefusal(plan.messageID, reason, lease: 1)
            return try await finish(plan, key)
        }
        let now = clock.now()
        defer { outboxBell.nudge() }
        return try await answers.finish(key) { rows throws(ServiceFailure) in
            prefetchDay(job.scheme.schemeCode, holder: job.holder, now, &rows)
            let message = settle(plan.messageID, result, now, lease: 1, &rows)
            return try reply(plan, message)
        }
    }

    /// Answers by what became of the message so far.
    private func finish(
        _ plan: SendPlan, _ key: AnswerKey
    ) async throws(ServiceFailure) -> SentCode {
        try await answers.finish(key) { rows throws(ServiceFailure) in
            try reply(plan, rows.get(SMSCodeTables.messages, plan.messageID.text))
        }
    }

    private func reply(
        _ plan: SendPlan, _ message: SMSMessage?
    ) throws(ServiceFailure) -> SentCode {
        let state = message?.state ?? .abandoned
        guard state != .refused else { throw SMSCodeFailure.refused(message?.reason) }
        return plan.reply.with(delivery: state == .sending ? .queued : state)
    }

    /// An earlier delivery of the same request has the message in hand.
    private func awaitOutcome(of id: MessageID, within wait: Duration) async {
        let deadline = pause.steadyNow() + wait
        while pause.steadyNow() < deadline {
            let now = clock.now()
            let isUnderWay = try? await store.decide { rows throws(ServiceFailure) in
                rows.get(SMSCodeTables.messages, id.text).map {
                    $0.state == .sending && $0.dueAt > now
                } ?? false
            }
            guard isUnderWay == true else { return }
            do { try await pause.wait(Self.pollEvery) } catch { return }
        }
    }

    /// Sends that nobody carries on any more get their answer, for whoever asks again.
    func finishOpenSends() async {
        do throws(ServiceFailure) {
            let open = try await answers.pending(
                SendPlan.self, method: SendCode.method.name, limit: 100)
            for send in open {
                do throws(ServiceFailure) {
                    _ = try await finish(send.plan, send.key)
                } catch  where error.code == .providerRefused {}
            }
        } catch {
            log.warning("open sends not finished", [SMSCodeSignals.failure: LogValue(error.code)])
        }
    }

    /// A stored answer leaves the code out; it is derived again for whoever may have it.
    private func withCode(
        _ reply: SentCode, _ job: SendJob
    ) async throws(ServiceFailure) -> SentCode {
        guard job.request.returnCode == true, let challengeID = reply.challengeId else {
            return reply
        }
        if let testNumber = job.testNumber { return reply.with(code: Secret(testNumber.code)) }
        if reply.messageId == job.messageID, let issued = job.issued.withLock({ $0 }) {
            return reply.with(code: book.code(issued, of: challengeID))
        }
        let code = try await store.decide { rows throws(ServiceFailure) in
            let challenge = rows.get(SMSCodeTables.challenges, challengeID.text)
            let sequence = rows.get(SMSCodeTables.messages, reply.messageId.text)?.sequence
            return challenge?.codes.first { $0.sequence == sequence }
        }
        return reply.with(code: code.flatMap { book.code($0, of: challengeID) })
    }

    private func note(_ job: SendJob, outcome: String) {
        metrics.count(SMSCodeSignals.sends, ("outcome", outcome))
        log.debug(
            "code asked for",
            [
                SMSCodeSignals.scheme: .text(job.scheme.schemeCode),
                SMSCodeSignals.phone: LogValue(job.number),
                SMSCodeSignals.state: .text(outcome),
                SMSCodeSignals.messageID: LogValue(job.messageID),
            ])
    }
}

extension SentCode {
    fileprivate func with(delivery: DeliveryState) -> Self {
        Self(
            challengeId: challengeId, messageId: messageId, delivery: delivery,
            expiresAtMilliseconds: expiresAtMilliseconds,
            resendAtMilliseconds: resendAtMilliseconds, sendsLeft: sendsLeft,
            codeLength: codeLength, codeType: codeType, codeSequence: codeSequence, code: code,
            outId: outId)
    }

    fileprivate func with(code: Secret<String>?) -> Self {
        Self(
            challengeId: challengeId, messageId: messageId, delivery: delivery,
            expiresAtMilliseconds: expiresAtMilliseconds,
            resendAtMilliseconds: resendAtMilliseconds, sendsLeft: sendsLeft,
            codeLength: codeLength, codeType: codeType, codeSequence: codeSequence, code: code,
            outId: outId)
    }
}
