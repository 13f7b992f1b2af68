/// Metric names and log keys, declared once.
enum VerificationSignals {
    /// Labels: kind, result.
    static let decisions = "verification_decisions_total"
    /// Labels: answer.
    static let carrierAnswers = "verification_carrier_answers_total"
    static let carrierSeconds = "verification_carrier_seconds"
    static let opened = "verification_opened_total"
    static let resumed = "verification_resumed_total"

    static let verificationID = "verification.id"
    static let kind = "evidence.kind"
    static let result = "verification.result"
    static let reason = "verification.reason"
    static let runID = "scene.run.id"
    static let failure = "failure.code"
}
