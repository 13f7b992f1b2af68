import Effects
import Primitives

/// The providers in order of preference. One that failed several times in a row is passed over for a
/// while, so that its time-outs do not delay every message.
struct ProviderChain: Sendable {
    static let failuresMax = 3
    static let restFor = Duration.seconds(30)

    /// What one delivery came to.
    struct Result: Sendable {
        let outcome: SubmitOutcome
        /// Where the next delivery begins.
        let nextProvider: Int
        /// Every provider was asked since the first one: what follows waits its backoff.
        let isRoundOver: Bool
    }

    private struct Health: Sendable {
        var failures = 0
        var restsUntil: Duration?
    }

    private let providers: [any SMSProvider]
    private let pause: any Pause
    private let metrics: any Metrics
    private let health: Lock<[Health]>

    init(_ providers: [any SMSProvider], pause: any Pause, metrics: any Metrics) {
        self.providers = providers
        self.pause = pause
        self.metrics = metrics
        health = Lock(Array(repeating: Health(), count: providers.count))
    }

    /// Asks one provider after the other, from `first`, until one takes the message, the round is over or
    /// the time is.
    func submit(
        reference: String, from first: Int, number: PhoneNumber, text: Secret<String>,
        within time: Duration
    ) async -> Result {
        let deadline = pause.steadyNow() + time
        var outcome = SubmitOutcome.unavailable(retryAfter: nil)
        var index = first < providers.count ? first : 0
        while index < providers.count {
            let left = deadline - pause.steadyNow()
            guard left > .zero else {
                return Result(outcome: outcome, nextProvider: index, isRoundOver: false)
            }
            guard isFit(index) else {
                index += 1
                continue
            }
            let provider = providers[index]
            outcome = await provider.submit(
                reference: reference, number: number, text: text, timeout: left)
            note(index, outcome)
            metrics.count(
                SMSCodeSignals.submissions, ("provider", provider.name), ("outcome", outcome.label))
            if outcome == .accepted {
                return Result(outcome: outcome, nextProvider: index, isRoundOver: true)
            }
            index += 1
        }
        return Result(outcome: outcome, nextProvider: 0, isRoundOver: true)
    }

    /// The last one that is left is always asked.
    private func isFit(_ index: Int) -> Bool {
        let now = pause.steadyNow()
        return health.withLock { health in
            let isResting = { (health: Health) in health.restsUntil.map { $0 > now } ?? false }
            return !isResting(health[index])
                || health[(index + 1)...].allSatisfy(isResting)
        }
    }

    private func note(_ index: Int, _ outcome: SubmitOutcome) {
        let now = pause.steadyNow()
        health.withLock { health in
            guard case .unavailable = outcome else {
                health[index] = Health()
                return
            }
            health[index].failures += 1
            if health[index].failures >= Self.failuresMax {
                health[index].restsUntil = now + Self.restFor
            }
        }
    }
}

extension SubmitOutcome {
    var label: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .unavailable: "unavailable"
        }
    }
}
