import Bus
import Effects
import Messages
import Primitives
import Storage

/// `smscode.internal.inbound`, `receipt` and `notify`: what carriers tell, and what needs no code.
extension SMSCodeService {
    /// Messages of one sender and text that are compared for being one.
    private static let repeatsMax = 8
    /// A notice that came too late confuses more than it helps.
    private static let noticeUsefulFor = Duration.seconds(3600)

    /// Durable before the answer: what is not answered is sent again by the carrier, and known then.
    func receive(
        _ request: ReceiveSMS, _ context: CallContext
    ) async throws(ServiceFailure) -> ReceivedSMS {
        let region = configuration.inboundDefaultRegion
        let sender = try phoneNumbers.number(
            request.sender, field: "sender", defaultRegion: region.isEmpty ? nil : region)
        let text = UpgoingText.normal(request.text)
        let now = clock.now()
        let sentAt = request.sentAtMilliseconds.map(WallTime.init(millisecondsSince1970:)) ?? now
        let ids = keys.inbound(request.messageId)
        let contents = keys.inboundContent(sender, text)
        let texts = keys.upgoingText(text)
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            let known = ids.map { rows.get(SMSCodeTables.inbound, $0) }.compactMap(\.self).first
            let alike = alike(contents, sentAt, &rows)
            let waiting = open(texts, &rows, now)
            if let earlier = known ?? alike {
                return ReceivedSMS(matched: earlier.matched, repeated: true)
            }
            var matched = false
            if var upgoing = waiting {
                matched = upgoing.receive(
                    counts: counts(sender, for: upgoing),
                    sender: StoredBytes(
                        sealer.seal(sender, context: Self.numberContext(upgoing.id.text))),
                    at: now)
                rows.put(SMSCodeTables.upgoings, upgoing)
            }
            rows.put(
                SMSCodeTables.inbound,
                InboundSMS(
                    key: ids[0], content: contents[0], sentAt: sentAt, receivedAt: now,
                    matched: matched))
            return ReceivedSMS(matched: matched, repeated: false)
        }
        let outcome = reply.repeated ? "repeated" : reply.matched ? "matched" : "unmatched"
        metrics.count(SMSCodeSignals.inbound, ("outcome", outcome))
        log.debug(
            "text received",
            [SMSCodeSignals.phone: LogValue(sender), SMSCodeSignals.result: .text(outcome)])
        return reply
    }

    private func counts(_ sender: PhoneNumber, for upgoing: Upgoing) -> Bool {
        if let expected = upgoing.expected, !keys.matches(sender, expected) { return false }
        if let excluded = upgoing.excluded, keys.matches(sender, excluded) { return false }
        return true
    }

    private func alike(
        _ contents: [String], _ sentAt: WallTime, _ rows: inout Rows
    ) -> InboundSMS? {
        let latest = (sentAt + InboundSMS.sameWithin).millisecondsSince1970
        return contents.map { content in
            rows.find(
                SMSCodeTables.inbound, SMSCodeTables.byContent, content, upTo: latest,
                newestFirst: true, limit: Self.repeatsMax)
        }.flatMap(\.self).first { sentAt - $0.sentAt <= InboundSMS.sameWithin }
    }

    func receiveReceipt(
        _ request: ReceiveReceipt, _ context: CallContext
    ) async throws(ServiceFailure) -> EmptyReply {
        let now = clock.now()
        // A provider's clock may run ahead or be wrong altogether.
        let at = request.atMilliseconds.map(WallTime.init(millisecondsSince1970:)) ?? now
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            guard var message = rows.get(SMSCodeTables.messages, request.reference) else {
                return EmptyReply()
            }
            let before = message
            guard
                message.receive(
                    delivered: request.delivered, reason: request.reason, at: min(at, now))
            else { return EmptyReply() }
            rows.put(SMSCodeTables.messages, message)
            countDay(message.schemeCode, holder: message.holder, now, &rows) { count in
                if before.sentAt == nil { count.sent += 1 }
                if before.state == .undelivered { count.failed = max(0, count.failed - 1) }
                if request.delivered { count.delivered += 1 } else { count.failed += 1 }
            }
            return EmptyReply()
        }
        metrics.count(
            SMSCodeSignals.receipts, ("outcome", request.delivered ? "delivered" : "undelivered"))
        return reply
    }

    /// A notice has no code and counts against no limit; the outbox sends it.
    func notify(
        _ request: NotifyNumber, _ context: CallContext
    ) async throws(ServiceFailure) -> NotifiedNumber {
        let scheme = try await schemes.scheme(request.schemeCode, context)
        let locale = request.locale ?? scheme.policy.locale ?? "en"
        let text = MessageComposer.notice(request.kind, scheme: scheme, locale: locale)
        let now = clock.now()
        let isTest = (scheme.policy.testNumbers ?? []).contains {
            $0.covers(request.number, at: now)
        }
        let id: MessageID = random.identifier()
        var message = SMSMessage(
            id: id, kind: .notice, schemeCode: scheme.schemeCode,
            holder: keys.holder(scheme.schemeCode, request.number)[0],
            anybody: keys.anybody(request.number)[0],
            number: StoredBytes(
                sealer.seal(request.number, context: Self.numberContext(id.text))),
            content: seal(text, id), usefulUntil: now + Self.noticeUsefulFor, at: now)
        if isTest { message.simulate() }
        let written = message
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            rows.put(SMSCodeTables.messages, written)
            return NotifiedNumber(messageId: id)
        }
        outboxBell.nudge()
        return reply
    }
}
