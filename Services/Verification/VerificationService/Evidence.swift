import Messages
import Primitives
import Storage

/// Evidence at rest: exactly one of the three.
enum KeptEvidence: Codable, Sendable, Equatable {
    /// Sealed: the carrier takes it once, and we may have to ask again under the same reference.
    case carrier(StoredBytes)
    case smsCode(GuessID)
    case upgoing(UpgoingID)

    var kind: EvidenceKind {
        switch self {
        case .carrier: .carrier
        case .smsCode: .smsCode
        case .upgoing: .upgoing
        }
    }
}

/// What the evidence proves, as the service that owns it says.
struct Proof: Sendable, Equatable {
    /// A carrier knows only the number.
    struct Origin: Sendable, Equatable {
        let schemeCode: String
        let purpose: String
        let runId: RunID?
    }
    let number: PhoneNumber
    let origin: Origin?
}

/// The owner's word on the evidence.
enum EvidenceAnswer: Sendable, Equatable {
    case proven(Proof)
    /// Definite: asking again gives the same.
    case refused(VerificationReason, attemptsLeft: Int?)
    /// Nothing was decided: the same token may be asked again.
    case open(VerificationReason)
}

/// What a caller states about the number.
enum StatedNumber: Codable, Sendable, Equatable {
    case none
    case number(PhoneNumber)
    /// SHA-256 of the E.164 text with its +.
    case hashed([UInt8])

    /// Takes the same time wherever the two differ.
    func holds(for proven: PhoneNumber, sha256: ([UInt8]) -> [UInt8]) -> Bool {
        let text = Array(proven.e164.utf8)
        return switch self {
        case .none: true
        case .number(let number): constantTimeEqual(Array(number.e164.utf8), text)
        case .hashed(let digest): constantTimeEqual(digest, sha256(text))
        }
    }
}

/// What a verification was opened for.
struct Expectation: Sendable, Equatable {
    let schemeCode: String
    /// nil for a direct call, which is bound to nothing but its scheme.
    let run: (purpose: String, runId: RunID)?
    let number: PhoneNumber?
    let excludedNumber: PhoneNumber?

    static func == (left: Self, right: Self) -> Bool {
        left.schemeCode == right.schemeCode && left.run?.purpose == right.run?.purpose
            && left.run?.runId == right.run?.runId && left.number == right.number
            && left.excludedNumber == right.excludedNumber
    }
}

/// What an evaluation comes to; all but `open` are final.
enum Verdict: Sendable, Equatable {
    case pass(PhoneNumber)
    /// Proven, but for another number than the caller stated.
    case reject
    case refused(VerificationReason, attemptsLeft: Int?)
    case open(VerificationReason)

    /// Compares what was proven with what the verification was opened for, then with what the
    /// caller states.
    static func judge(
        _ answer: EvidenceAnswer, of kind: EvidenceKind, for expectation: Expectation,
        statedNumberHolds: (PhoneNumber) -> Bool
    ) -> Self {
        let proof: Proof
        switch answer {
        case .open(let reason): return .open(reason)
        case .refused(let reason, let left): return .refused(reason, attemptsLeft: left)
        case .proven(let proven): proof = proven
        }
        if let origin = proof.origin, let run = expectation.run {
            guard origin.schemeCode == expectation.schemeCode, origin.purpose == run.purpose,
                origin.runId == run.runId
            else { return .refused(.bindingMismatch, attemptsLeft: nil) }
        }
        if let number = expectation.number, number != proof.number {
            let reason: VerificationReason =
                switch kind {
                case .carrier: .numberMismatch
                case .smsCode: .bindingMismatch
                case .upgoing: .senderMismatch
                }
            return .refused(reason, attemptsLeft: nil)
        }
        if let excluded = expectation.excludedNumber, excluded == proof.number {
            return .refused(kind == .upgoing ? .senderMismatch : .numberMismatch, attemptsLeft: nil)
        }
        return statedNumberHolds(proof.number) ? .pass(proof.number) : .reject
    }
}
