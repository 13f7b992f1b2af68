import Bus
import Effects
import HTTPTypes
import Messages
import Primitives

/// One-Time-Password SMS v1: a code by SMS, in the client's wording, and its check.
struct OneTimePasswordSMS: Sendable {
    static let base = "/one-time-password-sms/v1"
    static let scope = "one-time-password-sms:send-validate"
    /// Codes of this edge are good here only, and those of one client of an issuer for it alone.
    static let purpose = "camara"
    private static let clientDigestBytes = 16
    /// Marks the code's place in a message.
    static let mark = "{{code}}"
    static let messageLengthMax = 160
    static let authenticationIDLengthMax = 36
    static let codeLengthMax = 10
    /// The gap between two sends to a number is the shortest there is, and a send waits that long
    /// for its turn: the standard has caps and no gap.
    static let cooldownSeconds: Int64 = 1
    static let turnWaitMax = Duration.milliseconds(1_100)

    private let bus: any BusCaller
    private let phoneNumbers: any PhoneNumberParser
    private let signer: any TokenSigner
    private let pause: any Pause

    /// - Parameter signer: for SHA-256.
    init(
        bus: any BusCaller, phoneNumbers: any PhoneNumberParser, signer: any TokenSigner,
        pause: any Pause
    ) {
        self.bus = bus
        self.phoneNumbers = phoneNumbers
        self.signer = signer
        self.pause = pause
    }

    private func purpose(_ call: CamaraCall) -> String {
        guard let client = call.token.claims.clientID else { return Self.purpose }
        let digest = signer.sha256(Array(client.utf8)).prefix(Self.clientDigestBytes)
        return "\(Self.purpose):\(Hex.encode(digest))"
    }

    // MARK: send-code

    private struct Sent: Encodable {
        let authenticationId: String
    }

    func sendCode(_ call: CamaraCall) async throws(CamaraError) -> HTTPResponse {
        let body = try CamaraBody(call.request, ["phoneNumber", "message"])
        let number = try number(body)
        let message = try message(body, call.token.issuer)
        let request = SendCode(
            schemeCode: call.token.schemeCode, purpose: purpose(call), number: number,
            text: MessageTextRequest(body: message), cooldownSeconds: Self.cooldownSeconds,
            duplicatePolicy: .newest)
        let sent: SentCode
        do throws(ServiceFailure) {
            sent = try await inTurn(request, call.options)
        } catch {
            throw error.code == .providerRefused ? .refusedSMS(error) : CamaraError(error)
        }
        guard let id = AuthenticationID(sent) else { throw .internalFault }
        return call.json(200, Sent(authenticationId: id.text))
    }

    /// Waits once for the gap after the send before.
    private func inTurn(
        _ request: SendCode, _ options: CallOptions
    ) async throws(ServiceFailure) -> SentCode {
        do throws(ServiceFailure) {
            return try await bus.call(request, options)
        } catch {
            let wait = Duration.milliseconds(error.retryAfterMilliseconds ?? 0)
            guard error.code == .cooldown, wait > .zero, wait <= Self.turnWaitMax else {
                throw error
            }
            do throws(CancellationError) { try await pause.wait(wait) } catch {
                throw ServiceFailure(.unavailable, "the client has gone")
            }
            return try await bus.call(request, options)
        }
    }

    private func number(_ body: CamaraBody) throws(CamaraError) -> String {
        let text = try body.required("phoneNumber", lengthMax: 16)
        guard CamaraBody.isPhoneNumber(text) else {
            throw .invalid("phoneNumber is not in E.164 form with a leading +.")
        }
        let parsed: ParsedPhoneNumber
        do throws(PhoneNumberProblem) {
            parsed = try phoneNumbers.parse(text, defaultRegion: nil)
        } catch {
            throw .invalid("phoneNumber is not possible in its country's numbering plan.")
        }
        guard parsed.kind != .fixedLine else { throw .numberNotAllowed }
        return parsed.number.e164
    }

    private func message(
        _ body: CamaraBody, _ issuer: AccessTokenIssuer
    ) throws(CamaraError) -> String {
        let message = try body.required("message", lengthMax: Self.messageLengthMax)
        guard message.contains(Self.mark) else {
            throw .invalid("message does not contain \(Self.mark).")
        }
        guard issuer.messages.isEmpty || issuer.messages.contains(message) else {
            throw .invalid("message is not one of the wordings that were approved.")
        }
        return message.replacing(Self.mark, with: "##code##")
    }

    // MARK: validate-code

    func validateCode(_ call: CamaraCall) async throws(CamaraError) -> HTTPResponse {
        let body = try CamaraBody(call.request, ["authenticationId", "code"])
        let idText = try body.required(
            "authenticationId", lengthMax: Self.authenticationIDLengthMax)
        let code = try body.required("code", lengthMax: Self.codeLengthMax)
        guard let id = AuthenticationID(idText) else { throw .notFound }
        let result: CodeResult
        do throws(ServiceFailure) {
            result = try await bus.call(
                CheckCode(
                    challengeId: id.challengeID, codeSequence: id.sequence,
                    schemeCode: call.token.schemeCode, purpose: purpose(call), code: code),
                call.options
            ).result
        } catch {
            guard error.code == .invalidParameters, error.field == "code" else {
                throw CamaraError(error)
            }
            throw try await unreadableCode(id, call)
        }
        switch result {
        case .accepted: return HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"])
        case .rejected: throw .wrongCode
        case .exhausted: throw .triesOver
        case .expired, .superseded, .cancelled, .alreadyUsed: throw .codeOver
        case .notFound: throw .notFound
        }
    }

    /// Characters that no code has: wrong, where a right one could be told at all.
    private func unreadableCode(
        _ id: AuthenticationID, _ call: CamaraCall
    ) async throws(CamaraError) -> CamaraError {
        do throws(ServiceFailure) {
            let status = try await bus.call(
                GetCodeStatus(
                    challengeId: id.challengeID, schemeCode: call.token.schemeCode,
                    purpose: purpose(call)), call.options)
            switch status.state {
            case .pending: return .wrongCode
            case .exhausted: return .triesOver
            case .accepted, .expired, .superseded, .cancelled: return .codeOver
            }
        } catch {
            throw CamaraError(error)
        }
    }
}

/// `authenticationId`: a challenge and which code of it, so that every send has an id of its own
/// while wrong guesses are counted over all of them.
struct AuthenticationID: Sendable, Hashable {
    let challengeID: ChallengeID
    let sequence: Int

    /// nil for a send without a code.
    init?(_ sent: SentCode) {
        guard let challengeID = sent.challengeId, let sequence = sent.codeSequence else {
            return nil
        }
        self.challengeID = challengeID
        self.sequence = sequence
    }

    /// nil for any other form than that of `text`.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let challengeID = ChallengeID(parts[0]),
            let sequence = Int(parts[1], radix: 36), sequence >= 0
        else { return nil }
        self.challengeID = challengeID
        self.sequence = sequence
        guard self.text == text else { return nil }
    }

    /// 32 characters and more; the bound of 36 lies far above the sends of any challenge.
    var text: String { "\(challengeID.text).\(String(sequence, radix: 36))" }
}
