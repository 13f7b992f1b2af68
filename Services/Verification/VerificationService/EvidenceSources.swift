import Bus
import Effects
import Messages
import Primitives

/// Asking whoever owns the evidence. Every question bears the verification's id, so that asking
/// again after a crash or a time-out repeats the first answer instead of using something up twice.
extension VerificationService {
    func ask(
        _ row: Verification, _ limit: CallLimit
    ) async throws(ServiceFailure) -> EvidenceAnswer {
        let timeout = timeLeft(limit)
        guard timeout > .zero else { return .open(.tryAgain) }
        let options = CallOptions(
            requestKey: row.id.text, timeout: timeout, traceID: limit.traceID,
            spanID: limit.spanID)
        switch row.evidence {
        case .carrier(let sealed):
            return await exchange(try unsealed(sealed, row.id), row.id, options)
        case .smsCode(let guess): return await redeem(guess, row.id, options)
        case .upgoing(let upgoing): return await check(upgoing, row.id, options)
        }
    }

    private func exchange(
        _ token: Secret<String>, _ id: VerificationID, _ options: CallOptions
    ) async -> EvidenceAnswer {
        let startedAt = pause.steadyNow()
        let answer = await carrier.exchange(
            token, reference: id.text,
            CarrierOptions(
                timeout: options.timeout ?? configuration.carrierTimeout,
                traceID: options.traceID, spanID: options.spanID))
        let took = pause.steadyNow() - startedAt
        metrics.observe(
            Double(took.wholeMilliseconds) / 1000, in: VerificationSignals.carrierSeconds,
            labels: [])
        metrics.count(VerificationSignals.carrierAnswers, ("answer", answer.label))
        return switch answer {
        case .number(let number): .proven(Proof(number: number, origin: nil))
        case .refused: .refused(.carrierRefused, attemptsLeft: nil)
        case .timedOut: .open(.carrierTimeout)
        case .unavailable: .open(.carrierUnavailable)
        }
    }

    private func redeem(
        _ guess: GuessID, _ id: VerificationID, _ options: CallOptions
    ) async -> EvidenceAnswer {
        do throws(ServiceFailure) {
            let redeemed = try await bus.call(RedeemGuess(guessId: guess), options)
            return EvidenceAnswer(redeemed)
        } catch {
            // The guess went with its challenge, so its time was over.
            if error.code == .guessNotFound { return .refused(.codeExpired, attemptsLeft: nil) }
            return notAsked(error, id)
        }
    }

    private func check(
        _ upgoing: UpgoingID, _ id: VerificationID, _ options: CallOptions
    ) async -> EvidenceAnswer {
        do throws(ServiceFailure) {
            let checked = try await bus.call(CheckUpgoing(upgoingId: upgoing), options)
            return EvidenceAnswer(checked)
        } catch {
            if error.code == .upgoingNotFound {
                return .refused(.upgoingExpired, attemptsLeft: nil)
            }
            return notAsked(error, id)
        }
    }

    private func notAsked(_ failure: ServiceFailure, _ id: VerificationID) -> EvidenceAnswer {
        log.warning(
            "evidence could not be asked",
            [
                VerificationSignals.verificationID: LogValue(id),
                VerificationSignals.failure: LogValue(failure.code),
            ])
        return .open(.tryAgain)
    }
}

extension EvidenceAnswer {
    init(_ redeemed: RedeemedGuess) {
        let reason: VerificationReason
        switch redeemed.result {
        case .accepted:
            self = .proven(
                Proof(
                    number: redeemed.number,
                    origin: Proof.Origin(
                        schemeCode: redeemed.schemeCode, purpose: redeemed.purpose,
                        runId: redeemed.runId)))
            return
        case .rejected: reason = .codeRejected
        case .exhausted: reason = .codeExhausted
        case .expired, .notFound: reason = .codeExpired
        case .superseded: reason = .codeSuperseded
        case .cancelled: reason = .codeCancelled
        case .alreadyUsed: reason = .alreadyRedeemed
        }
        self = .refused(reason, attemptsLeft: redeemed.attemptsLeft)
    }

    init(_ checked: CheckedUpgoing) {
        switch (checked.result, checked.number) {
        case (.received, let number?):
            self = .proven(
                Proof(
                    number: number,
                    origin: Proof.Origin(
                        schemeCode: checked.schemeCode, purpose: checked.purpose,
                        runId: checked.runId)))
        // A sender without a number cannot be judged yet.
        case (.received, nil): self = .open(.tryAgain)
        case (.notReceived, _): self = .open(.notReceived)
        case (.expired, _): self = .refused(.upgoingExpired, attemptsLeft: nil)
        case (.senderMismatch, _): self = .refused(.senderMismatch, attemptsLeft: nil)
        case (.alreadyUsed, _): self = .refused(.alreadyRedeemed, attemptsLeft: nil)
        }
    }
}

extension CarrierAnswer {
    fileprivate var label: String {
        switch self {
        case .number: "number"
        case .refused: "refused"
        case .timedOut: "timed_out"
        case .unavailable: "unavailable"
        }
    }
}
