import Bus
import Effects
import Messages
import Primitives
import Storage

/// `smscode.status`, `cancel`, `details` and `statistics`.
extension SMSCodeService {
    private static let cancelsMax = 100
    private static let daysMax: Int64 = 31
    private static let detailsDaysMax: Int64 = 30

    func status(
        _ request: GetCodeStatus, _ context: CallContext
    ) async throws(ServiceFailure) -> CodeStatus {
        let now = clock.now()
        return try await store.decide { rows throws(ServiceFailure) in
            guard
                let challenge = rows.get(SMSCodeTables.challenges, request.challengeId.text),
                context.mayUse(schemeOf: challenge.owner),
                challenge.isOf(scheme: request.schemeCode, purpose: request.purpose)
            else { throw SMSCodeFailure.challengeNotFound }
            let number = try number(of: challenge)
            let names = keys.guessWindow(challenge.schemeCode, challenge.purpose, number)
            let window = guessWindow(names, &rows, now)
            let message = challenge.newestMessage.flatMap {
                rows.get(SMSCodeTables.messages, $0.text)
            }
            return CodeStatus(
                challengeId: challenge.id,
                state: challenge.shown(
                    at: now, isExhausted: isExhausted(challenge, window, now)),
                number: number, purpose: challenge.purpose, sentCount: challenge.sentCount,
                delivery: message?.state ?? .abandoned, deliveryReason: message?.reason,
                createdAtMilliseconds: challenge.createdAt.millisecondsSince1970,
                expiresAtMilliseconds: challenge.expiresAt.millisecondsSince1970,
                resendAtMilliseconds: challenge.resendAt.millisecondsSince1970)
        }
    }

    private func isExhausted(
        _ challenge: CodeChallenge, _ window: GuessWindow, _ now: WallTime
    ) -> Bool {
        let live = challenge.live(at: now)
        let bound = live.map {
            $0.alphabet.chargesMax(length: $0.length, caseSensitive: challenge.caseSensitive)
        }.min()
        guard let bound else { return false }
        let verdict = window.verdict(
            now, charges: live.count, chargesMax: bound, configuration.guessLimits)
        if case .exhausted = verdict { return true }
        return false
    }

    /// By number it takes the codes of every purpose, and of runs too: an account that changed by
    /// another way leaves no code behind.
    func cancel(
        _ request: CancelCode, _ context: CallContext
    ) async throws(ServiceFailure) -> CancelledCodes {
        let now = clock.now()
        let key = try context.answerKey(for: request)
        if let id = request.challengeId {
            return try await answers.once(key) { rows throws(ServiceFailure) in
                guard let challenge = rows.get(SMSCodeTables.challenges, id.text),
                    context.mayUse(schemeOf: challenge.owner),
                    challenge.isOf(scheme: request.schemeCode, purpose: request.purpose)
                else { throw SMSCodeFailure.challengeNotFound }
                return CancelledCodes(count: cancel([challenge], now, &rows))
            }
        }
        guard let schemeCode = request.schemeCode, let text = request.number else {
            throw ServiceFailure(.invalidParameters, "is missing", field: "number")
        }
        let scheme = try await schemes.scheme(schemeCode, context)
        guard context.mayUse(scheme) else {
            throw ServiceFailure(
                .schemeNotFound, "there is no such scheme", field: "schemeCode")
        }
        let number = try phoneNumbers.number(
            text, field: "number", defaultRegion: scheme.policy.defaultRegion)
        let holders = keys.holder(schemeCode, number)
        return try await answers.once(key) { rows throws(ServiceFailure) in
            let open = holders.map { holder in
                rows.find(
                    SMSCodeTables.challenges, SMSCodeTables.byHolder, holder, newestFirst: true,
                    limit: Self.cancelsMax)
            }.flatMap(\.self).filter { request.purpose == nil || $0.purpose == request.purpose }
            return CancelledCodes(count: cancel(open, now, &rows))
        }
    }

    private func cancel(
        _ challenges: [CodeChallenge], _ now: WallTime, _ rows: inout Rows
    ) -> Int {
        var count = 0
        for var challenge in challenges where challenge.state == .open {
            if challenge.cancel(at: now) { count += 1 }
            rows.put(SMSCodeTables.challenges, challenge)
        }
        return count
    }

    func details(
        _ request: GetSendDetails, _ context: CallContext
    ) async throws(ServiceFailure) -> SendDetails {
        let scheme = try await schemeAsked(request.schemeCode, context)
        let number = try phoneNumbers.number(
            request.number, field: "number", defaultRegion: scheme?.policy.defaultRegion)
        guard let day = UTCDay(text: request.day) else {
            throw ServiceFailure(.invalidParameters, "is not a day", field: "day")
        }
        let today = UTCDay(clock.now()).daysSince1970
        guard today - day.daysSince1970 <= Self.detailsDaysMax else {
            throw ServiceFailure(
                .invalidParameters, "lies more than \(Self.detailsDaysMax) days back", field: "day")
        }
        let offset = Duration.seconds(Int64(request.utcOffsetMinutes ?? 0) * 60)
        let (from, to) = (day.start - offset, day.next.start - offset)
        let (index, values) =
            scheme.map { (SMSCodeTables.byHolder, keys.holder($0.schemeCode, number)) }
            ?? (SMSCodeTables.byNumber, keys.anybody(number))
        let found = try await store.decide { rows throws(ServiceFailure) in
            values.map { value in
                rows.find(
                    SMSCodeTables.messages, index, value, upTo: to.millisecondsSince1970 - 1,
                    newestFirst: true, limit: Rows.findMax)
            }.flatMap(\.self)
        }
        let ofDay = found.filter {
            $0.createdAt >= from && (request.messageId == nil || $0.id == request.messageId)
        }
        let page = ofDay.dropFirst((request.page - 1) * request.pageSize).prefix(request.pageSize)
        return SendDetails(total: ofDay.count, details: page.map { detail($0, number) })
    }

    private func detail(_ message: SMSMessage, _ number: PhoneNumber) -> SendDetail {
        SendDetail(
            messageId: message.id, content: content(of: message)?.shown ?? MessageText.dots,
            number: number, delivery: message.state, reason: message.reason,
            templateCode: message.templateCode, outId: message.outId,
            sentAtMilliseconds: message.sentAt?.millisecondsSince1970,
            deliveredAtMilliseconds: message.deliveredAt?.millisecondsSince1970,
            createdAtMilliseconds: message.createdAt.millisecondsSince1970)
    }

    func statistics(
        _ request: GetSMSStatistics, _ context: CallContext
    ) async throws(ServiceFailure) -> SMSStatistics {
        let scheme = try await schemeAsked(request.schemeCode, context)
        guard let from = UTCDay(text: request.fromDay) else {
            throw ServiceFailure(.invalidParameters, "is not a day", field: "fromDay")
        }
        guard let to = UTCDay(text: request.toDay), from <= to,
            to.daysSince1970 - from.daysSince1970 < Self.daysMax
        else {
            throw ServiceFailure(
                .invalidParameters, "is a day within \(Self.daysMax) from fromDay", field: "toDay")
        }
        var days: [SMSDay] = []
        var day = from
        while day <= to {
            let counts = try await counts(of: day, scheme?.schemeCode)
            if !counts.isEmpty { days.append(Self.sum(day, counts)) }
            day = day.next
        }
        return SMSStatistics(days: days)
    }

    private func counts(
        of day: UTCDay, _ scheme: String?
    ) async throws(ServiceFailure) -> [SMSDayCount] {
        try await store.decide { rows throws(ServiceFailure) in
            guard let scheme else {
                return rows.find(
                    SMSCodeTables.days, SMSCodeTables.byDay, day.text, limit: Rows.findMax)
            }
            return (0..<SMSDayCount.partsCount).map { part in
                rows.get(SMSCodeTables.days, SMSDayCount.key(day.text, scheme, part))
            }.compactMap(\.self)
        }
    }

    private static func sum(_ day: UTCDay, _ counts: [SMSDayCount]) -> SMSDay {
        func total(_ field: (SMSDayCount) -> Int) -> Int { counts.reduce(0) { $0 + field($1) } }
        return SMSDay(
            day: day.text, sent: total(\.sent), delivered: total(\.delivered),
            failed: total(\.failed), accepted: total(\.accepted), rejected: total(\.rejected))
    }

    /// nil: an operator asks about every scheme. A scheme that is switched off may be asked about.
    private func schemeAsked(
        _ code: String?, _ context: CallContext
    ) async throws(ServiceFailure) -> Scheme? {
        guard let code else {
            guard context.isAny(of: .operator) else {
                throw ServiceFailure(.invalidParameters, "is missing", field: "schemeCode")
            }
            return nil
        }
        let scheme = try await schemes.scheme(code, context)
        guard context.mayUse(scheme) else {
            throw ServiceFailure(
                .schemeNotFound, "there is no such scheme", field: "schemeCode")
        }
        return scheme
    }
}
