import Effects

/// `[smscode]` of `etc/fusion.toml`. A limit of 0 allows none.
package struct SMSCodeConfiguration: DaemonConfiguration {
    package static let section = "smscode"

    /// What an executable of this build can make of a name in `providers`. `sandbox` is the
    /// development provider; there is none for real numbers yet.
    static let providersBuiltIn: Set = ["sandbox"]
    private static let howToAdd =
        "add one as an adapter, a type that is an SMSProvider: Services/SMSCode/README.md says where"

    /// Ways out, in order of preference, of those built in.
    package var providers: [String] = ["sandbox"]
    /// Numbers or short codes that take up-going texts, as a handset dials them.
    package var receivingNumbers: [String] = []
    /// ISO 3166 two letters, for senders that a carrier gives without country code; empty: none.
    package var inboundDefaultRegion: String = ""

    /// Wrong guesses per scheme, number and purpose: per rolling hour and 24 hours.
    package var guessesPerHour: Int = 5
    package var guessesPerDay: Int = 20
    /// Guesses that may wait to be redeemed, per challenge.
    package var unredeemedGuesses: Int = 5
    /// Sends per scheme and number, also for the budget of a bound number.
    package var sendsPerHour: Int = 5
    package var sendsPerDay: Int = 10
    /// Sends per number over all schemes.
    package var sendsPerDayAllSchemes: Int = 40
    /// Sends per IPv4 address or IPv6 /64.
    package var sendsPerAddressHour: Int = 60
    /// Up-going texts waiting at once: per run or number, and per scheme and purpose without either.
    package var openTextsPerHolder: Int = 5
    package var openTextsPerPurpose: Int = 500

    /// How long a send waits for its provider before it answers `queued`.
    package var providerWaitMilliseconds: Int64 = 3_000
    /// Sends that may wait so at once: a quarter of the credit.
    package var waitingSends: Int = 16
    /// Messages handed to providers at once by the outbox.
    package var outboxParallel: Int = 16
    package var outboxIntervalMilliseconds: Int64 = 250

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        func range(_ name: String, _ value: Int, _ range: ClosedRange<Int>, _ why: String = "") {
            guard !range.contains(value) else { return }
            problems.append(
                "\(name) must lie in \(range.lowerBound)…\(range.upperBound)"
                    + (why.isEmpty ? "" : ": \(why)"))
        }
        if providers.isEmpty { problems.append("providers is empty: no code could be sent") }
        for name in providers where !Self.providersBuiltIn.contains(name) {
            problems.append(
                "providers names \(name), and no such provider is built in, only sandbox: "
                    + Self.howToAdd)
        }
        range("guessesPerHour", guessesPerHour, 0...5, "more would weaken every code")
        range("guessesPerDay", guessesPerDay, 0...20, "20 of 1,000,000 codes is the bound")
        range("unredeemedGuesses", unredeemedGuesses, 1...5)
        range("sendsPerHour", sendsPerHour, 0...40)
        range("sendsPerDay", sendsPerDay, 0...40)
        range("sendsPerDayAllSchemes", sendsPerDayAllSchemes, 0...40)
        range("sendsPerAddressHour", sendsPerAddressHour, 0...1_000)
        range("openTextsPerHolder", openTextsPerHolder, 1...100)
        range("openTextsPerPurpose", openTextsPerPurpose, 1...1_000)
        range("waitingSends", waitingSends, 0...1_024)
        range("outboxParallel", outboxParallel, 1...256)
        if !(0...5_000).contains(providerWaitMilliseconds) {
            problems.append("providerWaitMilliseconds must lie in 0…5000")
        }
        if !(10...10_000).contains(outboxIntervalMilliseconds) {
            problems.append("outboxIntervalMilliseconds must lie in 10…10000")
        }
        for number in receivingNumbers where !Self.isDialable(number) {
            problems.append("receivingNumbers takes 3…16 digits each, with or without +")
        }
        return problems
    }

    package func problems(isProduction: Bool) -> [String] {
        guard isProduction, providers.contains("sandbox") else { return problems() }
        return problems() + [
            "providers names sandbox, which production = true keeps out, and no provider for real "
                + "numbers is built in yet: \(Self.howToAdd)"
        ]
    }

    private static func isDialable(_ text: String) -> Bool {
        let digits = text.hasPrefix("+") ? text.dropFirst() : text[...]
        return (3...16).contains(digits.utf8.count)
            && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    var guessLimits: GuessWindow.Limits {
        GuessWindow.Limits(hourMax: guessesPerHour, dayMax: guessesPerDay)
    }
    var providerWait: Duration { .milliseconds(providerWaitMilliseconds) }
    var outboxInterval: Duration { .milliseconds(outboxIntervalMilliseconds) }
}
