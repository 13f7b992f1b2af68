import Bus
import Effects
import Messages
import Primitives
import Storage

/// `upgoing.open` and `upgoing.check`.
extension SMSCodeService {
    private static let lifetimeStandard: Int64 = 600
    /// Texts drawn for one opening; that all of them wait already does not happen by chance.
    private static let drawsMax = 3

    func openUpgoing(
        _ request: OpenUpgoing, _ context: CallContext
    ) async throws(ServiceFailure) -> OpenedUpgoing {
        try judgePurpose(request.purpose, context)
        if request.runId != nil, context.peer.roles.isDisjoint(with: .service) {
            throw ServiceFailure(
                .notAllowed, "only services open a text for a run", field: "runId")
        }
        let scheme = try await schemes.usable(request.schemeCode, context)
        guard !configuration.receivingNumbers.isEmpty else {
            throw SMSCodeFailure.noReceivingNumber
        }
        let expected = try number(request.number, "number", scheme)
        let excluded = try number(request.excludedNumber, "excludedNumber", scheme)
        let whose = request.runId?.text ?? expected?.e164 ?? ""
        let waitingMax =
            whose.isEmpty ? configuration.openTextsPerPurpose : configuration.openTextsPerHolder
        let holders = keys.upgoingHolder(request.schemeCode, request.purpose, whose)
        let drawn = (0..<Self.drawsMax).map { _ in
            UpgoingText.make(random: random.bytes(UpgoingText.length))
        }
        let names = drawn.map { keys.upgoingText(UpgoingText.normal($0)) }
        let id: UpgoingID = random.identifier()
        let receiver = receivingNumber(random.bytes(4))
        let now = clock.now()
        let lifetime = Duration.seconds(request.lifetimeSeconds ?? Self.lifetimeStandard)
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            let waiting = holders.map { holder in
                rows.find(
                    SMSCodeTables.upgoings, SMSCodeTables.byHolder, holder, newestFirst: true,
                    limit: waitingMax)
            }.flatMap(\.self).count { $0.isOpen(at: now) }
            let free = names.indices.filter { index in
                self.open(names[index], &rows, now) == nil
            }
            guard waiting < waitingMax, let chosen = free.first else {
                throw SMSCodeFailure.tooManyTexts
            }
            let upgoing = Upgoing(
                id: id, schemeCode: request.schemeCode, owner: scheme.owner,
                purpose: request.purpose, runID: request.runId, text: names[chosen][0],
                holder: holders[0], expected: expected.map(keys.sender),
                excluded: excluded.map(keys.sender), at: now, lifetime: lifetime)
            rows.put(SMSCodeTables.upgoings, upgoing)
            return OpenedUpgoing(
                upgoingId: id, text: drawn[chosen], receivingNumber: receiver,
                expiresAtMilliseconds: upgoing.expiresAt.millisecondsSince1970)
        }
        metrics.count(SMSCodeSignals.upgoingOpened)
        return reply
    }

    /// What is not yet there is not an answer that is kept: the same request may be asked again.
    func checkUpgoing(
        _ request: CheckUpgoing, _ context: CallContext
    ) async throws(ServiceFailure) -> CheckedUpgoing {
        let now = clock.now()
        let peek = try await store.decide { rows throws(ServiceFailure) in
            rows.get(SMSCodeTables.upgoings, request.upgoingId.text)
        }
        guard var peek, context.mayUse(schemeOf: peek.owner) else {
            throw SMSCodeFailure.upgoingNotFound
        }
        if peek.runID != nil, context.peer.roles.isDisjoint(with: .service) {
            throw SMSCodeFailure.belongsToRun
        }
        _ = try await schemes.usable(peek.schemeCode, context)
        let peeked = peek.check(at: now)
        if peeked == .notReceived || peeked == .senderMismatch {
            return checked(peek, peeked, number: nil)
        }
        let reply = try await answers.once(try context.answerKey(for: request)) {
            rows throws(ServiceFailure) in
            guard var upgoing = rows.get(SMSCodeTables.upgoings, request.upgoingId.text) else {
                throw SMSCodeFailure.upgoingNotFound
            }
            let result = upgoing.check(at: now)
            guard result == .received else { return checked(upgoing, result, number: nil) }
            guard let sealed = upgoing.sender,
                let sender = sealer.openNumber(
                    sealed.bytes, context: Self.numberContext(upgoing.id.text))
            else { throw SMSCodeFailure.unreadable }
            rows.put(SMSCodeTables.upgoings, upgoing)
            return checked(upgoing, result, number: sender)
        }
        log.debug(
            "text checked",
            [
                SMSCodeSignals.upgoingID: LogValue(request.upgoingId),
                SMSCodeSignals.result: .text(reply.result.rawValue),
            ])
        return reply
    }

    /// The text under one of these names that still waits.
    func open(_ names: [String], _ rows: inout Rows, _ now: WallTime) -> Upgoing? {
        names.map { name in
            rows.find(
                SMSCodeTables.upgoings, SMSCodeTables.byText, name, newestFirst: true, limit: 1)
        }.flatMap(\.self).first { $0.isOpen(at: now) }
    }

    private func number(
        _ text: String?, _ field: String, _ scheme: Scheme
    ) throws(ServiceFailure) -> PhoneNumber? {
        guard let text else { return nil }
        return try phoneNumbers.number(
            text, field: field, defaultRegion: scheme.policy.defaultRegion)
    }

    private func receivingNumber(_ drawn: [UInt8]) -> String {
        let numbers = configuration.receivingNumbers
        return numbers[Int(drawn[0]) % numbers.count]
    }

    private func checked(
        _ upgoing: Upgoing, _ result: UpgoingResult, number: PhoneNumber?
    ) -> CheckedUpgoing {
        CheckedUpgoing(
            result: result, number: number, schemeCode: upgoing.schemeCode,
            purpose: upgoing.purpose, runId: upgoing.runID)
    }
}
