import Bus
package import Effects
import Messages
import Primitives
package import Storage

/// Schemes, access keys and auth tokens: who may use the system, and for which app.
package struct TokenService: Sendable {
    let store: any Store
    let answers: Answers
    let sealer: any Sealer
    let digest: any KeyedDigest
    let signer: any TokenSigner
    let authenticator: any MessageAuthenticator
    let phoneNumbers: any PhoneNumberParser
    let clock: any WallClock
    let pause: any Pause
    let random: any RandomSource
    let metrics: any Metrics
    let log: Log
    let configuration: TokenConfiguration
    let signingKeys: SigningKeys
    let keySecrets = KeySecrets()

    /// - Parameters:
    ///   - answers: over the same store, with a sealer and a digest of its own.
    ///   - sealer: for signing seeds, secrets of access keys, and bound numbers.
    ///   - digest: for the security tokens of temporary keys.
    package init(
        store: any Store, answers: Answers, sealer: any Sealer, digest: any KeyedDigest,
        signer: any TokenSigner, authenticator: any MessageAuthenticator,
        phoneNumbers: any PhoneNumberParser, clock: any WallClock, pause: any Pause,
        random: any RandomSource, metrics: any Metrics = NoMetrics(), log: Log = .silent,
        configuration: TokenConfiguration = TokenConfiguration()
    ) {
        self.store = store
        self.answers = answers
        self.sealer = sealer
        self.digest = digest
        self.signer = signer
        self.authenticator = authenticator
        self.phoneNumbers = phoneNumbers
        self.clock = clock
        self.pause = pause
        self.random = random
        self.metrics = metrics
        self.log = log
        self.configuration = configuration
        signingKeys = SigningKeys(
            store: store, sealer: sealer, signer: signer, clock: clock, pause: pause)
    }

    /// What the daemon runs beside its bus worker.
    package func parts() -> [any DaemonPart] {
        [Sweeper(store: store, clock: clock, pause: pause, log: log)]
    }
}

extension CallContext {
    var isOperator: Bool { isAny(of: .operator) }

    /// A service that speaks for itself. The gateway never does, not even for a service.
    var isServiceItself: Bool { peer == principal && isAny(of: .service) }
}
