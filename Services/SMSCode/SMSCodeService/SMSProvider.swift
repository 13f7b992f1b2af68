package import Primitives

/// What a provider said of one submission.
package enum SubmitOutcome: Hashable, Sendable {
    case accepted
    /// It will not take this message. `reason` is the provider's word, at most 128 bytes, without the
    /// text and the number.
    case refused(reason: String)
    /// It did not answer in time, or says to come back.
    case unavailable(retryAfter: Duration?)
}

/// A way out to handsets.
package protocol SMSProvider: Sendable {
    /// For log lines and metrics.
    var name: String { get }
    /// Hands over one text. Repeats under one reference are dropped by providers that can; the caller
    /// repeats only under the same reference and with the same text.
    /// - Parameter timeout: after it the outcome is `unavailable`.
    func submit(
        reference: String, number: PhoneNumber, text: Secret<String>, timeout: Duration
    ) async -> SubmitOutcome
}
