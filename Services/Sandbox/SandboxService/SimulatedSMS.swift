import Bus
import Effects
import Messages
import Primitives

/// `sandbox.submit_sms`, `inbox`, `send_mo` and `fault`: the SMS provider and the handsets' messages.
extension SandboxService {
    private static let limitStandard = 20
    static let delayStandard = Duration.seconds(5)

    /// A repeat of a reference is dropped and answered as the first one was.
    func submit(
        _ request: SubmitSMS, _ context: CallContext
    ) async throws(ServiceFailure) -> SubmittedSMS {
        let now = clock.now()
        let (answer, isSilent, isFull) = state.withLock { state in
            let fault = state.fault(for: request.number)
            let isSilent = fault?.kind == .silent
            if let first = state.references[request.reference] {
                let answer = SubmittedSMS(
                    accepted: first.accepted, reason: first.reason, repeated: true)
                return (answer, isSilent, false)
            }
            let refusal = Self.refusal(of: fault?.kind ?? .none)
            let answer = SubmittedSMS(
                accepted: refusal == nil, reason: refusal, repeated: false)
            guard take(request, fault, now, &state) else { return (answer, isSilent, true) }
            state.references.put(request.reference, answer)
            return (answer, isSilent, false)
        }
        guard !isFull else {
            throw ServiceFailure(
                .overloaded, "too many messages wait to be delivered",
                retryAfterMilliseconds: 1_000)
        }
        readers.wake()
        if isSilent {
            try await fallSilent(context)
            throw ServiceFailure(.providerUnavailable, "the provider does not answer")
        }
        return answer
    }

    /// - Returns: false when there is no room for what happens later.
    private func take(
        _ request: SubmitSMS, _ fault: SandboxState.Fault?, _ now: WallTime,
        _ state: inout SandboxState
    ) -> Bool {
        let arrival = SandboxState.Arrival(
            number: request.number, text: request.text.reveal(), reference: request.reference)
        let receipt = SandboxState.Receipt(
            reference: request.reference, delivered: true, reason: nil)
        switch fault?.kind ?? SMSFault.none {
        case .refused, .incapable, .foreign: return true
        case .none, .silent:
            state.arrive(arrival, at: now)
            // Receipts are told as far as there is room; a message is not refused for one.
            _ = tellReceipts(
                SandboxState.Pending(dueAt: now, arrival: nil, receipt: receipt), &state)
            return true
        case .delayed:
            let item = SandboxState.Pending(
                dueAt: now + (fault?.delay ?? Self.delayStandard), arrival: arrival,
                receipt: configuration.deliveryReceipts ? receipt : nil)
            return state.later(item)
        case .undelivered:
            let failed = SandboxState.Receipt(
                reference: request.reference, delivered: false, reason: "absent_subscriber")
            return state.later(
                SandboxState.Pending(
                    dueAt: now + (fault?.delay ?? .zero), arrival: nil, receipt: failed))
        }
    }

    /// Why the provider does not take the message.
    private static func refusal(of fault: SMSFault) -> String? {
        switch fault {
        case .refused: "blocked_by_carrier"
        case .incapable: "sms_not_supported"
        case .foreign: "unknown_subscriber"
        case .none, .delayed, .undelivered, .silent: nil
        }
    }

    private func tellReceipts(
        _ item: SandboxState.Pending, _ state: inout SandboxState
    ) -> Bool {
        configuration.deliveryReceipts && state.later(item)
    }

    func inbox(
        _ request: ReadInbox, _ context: CallContext
    ) async throws(ServiceFailure) -> Inbox {
        let number: PhoneNumber? =
            if let text = request.number { try self.number(text, "number") } else { nil }
        let limit = request.limit ?? Self.limitStandard
        let read = { @Sendable in
            state.withLock { $0.read(number, after: request.afterSequence, limit: limit) }
        }
        let wait = Duration.milliseconds(request.waitMilliseconds ?? 0)
        let messages = await readers.wait(
            upTo: min(wait, context.timeLeft(pause) ?? wait), until: { !read().isEmpty }, read)
        return Inbox(messages: messages)
    }

    func sendMobileOriginated(
        _ request: SendMobileOriginated, _ context: CallContext
    ) async throws(ServiceFailure) -> ReceivedSMS {
        let sender = try number(request.sender, "sender")
        let id = request.messageId ?? "mo-" + Hex.encode(random.bytes(12))
        return try await bus.call(
            ReceiveSMS(
                messageId: id, sender: sender.e164, receiver: request.receiver,
                text: request.text, sentAtMilliseconds: clock.now().millisecondsSince1970),
            context.nested(pause))
    }

    /// `none` without a number ends every fault.
    func putFault(
        _ request: PutFault, _ context: CallContext
    ) async throws(ServiceFailure) -> EmptyReply {
        let number: PhoneNumber? =
            if let text = request.number { try self.number(text, "number") } else { nil }
        let standard = request.fault == .delayed ? Self.delayStandard : .zero
        let fault = SandboxState.Fault(
            kind: request.fault,
            delay: request.delayMilliseconds.map { .milliseconds($0) } ?? standard)
        state.withLock { state in
            if let number {
                state.faults.put(number, fault)
            } else {
                state.faults.removeAll()
                state.faultOfAll = request.fault == .none ? nil : fault
            }
        }
        return EmptyReply()
    }
}
