import Effects
import FoundationEssentials
import Messages
import Primitives
import Storage

/// What happens to messages after their commit.
extension SMSCodeService {
    func seal(_ text: MessageText, _ id: MessageID) -> StoredBytes {
        let bytes = (try? JSONEncoder().encode(text)).map { Array($0) } ?? []
        return StoredBytes(sealer.seal(bytes, context: Self.contentContext(id.text)))
    }

    func content(of message: SMSMessage) -> MessageText? {
        sealer.open(message.content.bytes, context: Self.contentContext(message.id.text))
            .flatMap { try? JSONDecoder().decode(MessageText.self, from: Data($0)) }
    }

    /// A message in the hands of the outbox, with what it takes to send it.
    struct Leased: Sendable {
        let message: SMSMessage
        let code: IssuedCode?
    }

    /// Takes due messages, and gives up those whose code has died.
    func leaseDue(limit: Int) async throws(ServiceFailure) -> [Leased] {
        let now = clock.now()
        return try await store.decide { rows throws(ServiceFailure) in
            let due = rows.find(
                SMSCodeTables.messages, SMSCodeTables.due, "due",
                upTo: now.millisecondsSince1970, limit: limit)
            var leased: [Leased] = []
            for var message in due {
                let challenge = message.challenge.flatMap {
                    rows.get(SMSCodeTables.challenges, $0.text)
                }
                let code = challenge?.live(at: now).first { $0.sequence == message.sequence }
                if message.usefulUntil <= now {
                    abandon(&message, "too_late", now, &rows)
                } else if message.kind == .code, code == nil {
                    abandon(&message, "code_died", now, &rows)
                } else {
                    message.take(at: now)
                    leased.append(Leased(message: message, code: code))
                }
                rows.put(SMSCodeTables.messages, message)
            }
            return leased
        }
    }

    /// Hands one message over and writes down what came of it.
    func deliver(_ leased: Leased) async {
        let message = leased.message
        let number = sealer.openNumber(
            message.number.bytes, context: Self.numberContext(message.id.text))
        let code = message.challenge.flatMap { id in leased.code.flatMap { book.code($0, of: id) } }
        do throws(ServiceFailure) {
            guard let number, let content = content(of: message),
                !content.carriesCode || code != nil
            else { return try await give(up: message, "key_gone") }
            let result = await chain.submit(
                reference: message.id.text, from: message.nextProvider, number: number,
                text: content.text(code: code), within: SMSMessage.deliveryTimeMax)
            if case .refused(let reason) = result.outcome, result.isRoundOver {
                return try await settleRefusal(message.id, reason, lease: message.lease)
            }
            let now = clock.now()
            try await store.decide { rows throws(ServiceFailure) in
                prefetchDay(message.schemeCode, holder: message.holder, now, &rows)
                _ = settle(message.id, result, now, lease: message.lease, &rows)
            }
        } catch {
            // Its lease ends, and it is sent again under the same reference.
            log.warning(
                "message not settled",
                [
                    SMSCodeSignals.messageID: LogValue(message.id),
                    SMSCodeSignals.failure: LogValue(error.code),
                ])
        }
    }

    /// Writes down a delivery that was not refused for good.
    /// - Parameter lease: of the deliverer; who lost it settles only that the message was taken.
    func settle(
        _ id: MessageID, _ result: ProviderChain.Result, _ now: WallTime, lease: Int,
        _ rows: inout Rows
    ) -> SMSMessage? {
        guard var message = rows.get(SMSCodeTables.messages, id.text) else { return nil }
        let before = message
        switch result.outcome {
        case .accepted: message.sent(at: now)
        case .unavailable(let after):
            guard message.lease == lease else { return message }
            message.put(
                back: now, nextProvider: result.nextProvider, isRoundOver: result.isRoundOver,
                after: after)
        case .refused:
            guard message.lease == lease else { return message }
            message.put(
                back: now, nextProvider: result.nextProvider, isRoundOver: false, after: nil)
        }
        guard message != before else { return message }
        rows.put(SMSCodeTables.messages, message)
        if message.state != before.state {
            if message.state == .sent || message.state == .abandoned {
                let isSent = message.state == .sent
                countDay(message.schemeCode, holder: message.holder, now, &rows) {
                    if isSent { $0.sent += 1 } else { $0.failed += 1 }
                }
            }
        }
        return message
    }

    /// Every provider refused: the code is withdrawn, what the send counted is given back, and an older
    /// code is as good as before.
    func settleRefusal(
        _ id: MessageID, _ reason: String, lease: Int
    ) async throws(ServiceFailure) {
        let now = clock.now()
        try await store.decide { rows throws(ServiceFailure) in
            guard var message = rows.get(SMSCodeTables.messages, id.text), message.isOpen,
                message.lease == lease
            else { return }
            for share in message.refused(reason) {
                guard var window = rows.get(SMSCodeTables.sendWindows, share.window) else {
                    continue
                }
                window.giveBack(share.countedAt)
                rows.put(SMSCodeTables.sendWindows, window)
            }
            rows.put(SMSCodeTables.messages, message)
            if let challengeID = message.challenge, let sequence = message.sequence,
                var challenge = rows.get(SMSCodeTables.challenges, challengeID.text)
            {
                challenge.withdraw(sequence, wasNew: message.codeIsNew, resendAt: now)
                rows.put(SMSCodeTables.challenges, challenge)
            }
            countDay(message.schemeCode, holder: message.holder, now, &rows) { $0.failed += 1 }
        }
        metrics.count(SMSCodeSignals.messages, ("state", DeliveryState.refused.rawValue))
        log.info(
            "message refused",
            [SMSCodeSignals.messageID: LogValue(id), SMSCodeSignals.reason: .text(reason)])
    }

    private func give(up message: SMSMessage, _ reason: String) async throws(ServiceFailure) {
        let now = clock.now()
        try await store.decide { rows throws(ServiceFailure) in
            guard var message = rows.get(SMSCodeTables.messages, message.id.text) else { return }
            abandon(&message, reason, now, &rows)
            rows.put(SMSCodeTables.messages, message)
        }
    }

    private func abandon(
        _ message: inout SMSMessage, _ reason: String, _ now: WallTime, _ rows: inout Rows
    ) {
        guard message.isOpen else { return }
        message.abandon(reason)
        countDay(message.schemeCode, holder: message.holder, now, &rows) { $0.failed += 1 }
    }
}
