/// Metric names and log keys, declared once.
enum SMSCodeSignals {
    /// Labels: outcome.
    static let sends = "smscode_sends_total"
    /// Labels: result.
    static let checks = "smscode_checks_total"
    /// Labels: provider, outcome.
    static let submissions = "smscode_submissions_total"
    /// Labels: state.
    static let messages = "smscode_messages_total"
    /// Labels: outcome.
    static let inbound = "smscode_inbound_total"
    /// Labels: outcome.
    static let receipts = "smscode_receipts_total"
    static let guessesAttached = "smscode_guesses_attached_total"
    static let upgoingOpened = "smscode_upgoing_opened_total"

    static let messageID = "message.id"
    static let challengeID = "challenge.id"
    static let upgoingID = "upgoing.id"
    static let scheme = "scheme.code"
    static let phone = "phone.masked"
    static let result = "code.result"
    static let state = "message.state"
    static let reason = "message.reason"
    static let failure = "failure.code"
}
