import Messages
import Primitives

/// Decisions as the failures that callers see.
enum SMSCodeFailure {
    static let challengeNotFound = ServiceFailure(
        .challengeNotFound, "there is no such challenge", field: "challengeId")
    static let guessNotFound = ServiceFailure(
        .guessNotFound, "there is no such guess", field: "guessId")
    static let upgoingNotFound = ServiceFailure(
        .upgoingNotFound, "there is no such text", field: "upgoingId")
    static let belongsToRun = ServiceFailure(
        .belongsToRun, "it belongs to a scene run and is redeemed there only")
    static let noReceivingNumber = ServiceFailure(
        .providerUnavailable, "no number is configured that takes texts from handsets")
    /// A key was taken away before the last row that names it was gone.
    static let unreadable = ServiceFailure(
        .internalFault, "a sealed value could not be opened")

    static func tooManyGuesses(_ countMax: Int) -> ServiceFailure {
        ServiceFailure(.tooMany, "\(countMax) guesses wait for this challenge", field: "code")
    }

    static let tooManyTexts = ServiceFailure(
        .tooMany, "too many texts wait to be sent; use one of them")

    static func guessesExhausted(until: WallTime, _ now: WallTime) -> ServiceFailure {
        ServiceFailure(
            .guessesExhausted, "too many wrong codes; a new one could not be checked",
            retryAfterMilliseconds: milliseconds(until, now))
    }

    /// The refusal of a send, naming the limit and the wait but nobody's counts.
    static func limited(
        _ verdict: SendWindow.Verdict, byAddress: Bool, _ now: WallTime
    ) -> ServiceFailure? {
        switch verdict {
        case .open: return nil
        case .coolingDown(let until):
            let wait = milliseconds(until, now)
            return ServiceFailure(
                .cooldown,
                "a code was sent a moment ago; the next one in \((wait + 999) / 1000) s",
                retryAfterMilliseconds: wait)
        case .full(let limit, let until):
            let whose = byAddress ? "this address" : "this number"
            return ServiceFailure(
                byAddress ? .addressLimit : .numberLimit,
                "\(whose) takes at most \(limit.countMax) sends per window (\(limit.name))",
                field: limit.name, retryAfterMilliseconds: until.map { milliseconds($0, now) })
        }
    }

    static func refused(_ reason: String?) -> ServiceFailure {
        ServiceFailure(
            .providerRefused, "the provider does not take this message: \(reason ?? "no reason")",
            field: reason)
    }

    private static func milliseconds(_ until: WallTime, _ now: WallTime) -> Int64 {
        max(1, (until - now).wholeMilliseconds)
    }
}
