package import Bus
package import Effects
import Messages
import Primitives
package import Storage

/// The one service that says PASS: it exchanges a mask token, once, for a decision from evidence
/// that the service owning it has checked.
///
/// Any number of instances share one store; no state lives here.
package struct VerificationService: Sendable {
    /// How far ahead a mask token may live, and how much the clocks of two daemons may differ.
    static let tokenLifetimeMax = Duration.seconds(600)
    static let clockSkewMax = Duration.seconds(60)

    let store: any Store
    let answers: Answers
    let tokens: any KeyedDigest
    let sealer: any Sealer
    let signer: any TokenSigner
    let phoneNumbers: any PhoneNumberParser
    let bus: any BusCaller
    let schemes: SchemeDirectory
    let carrier: any CarrierGateway
    let scorer: (any PhoneScorer)?
    let clock: any WallClock
    let pause: any Pause
    let random: any RandomSource
    let metrics: any Metrics
    let log: Log
    let configuration: VerificationConfiguration

    /// - Parameters:
    ///   - answers: on the same store, with a digest of its own.
    ///   - tokens: digests mask tokens and carrier tokens; they are row keys, so it must be kept as
    /// long as rows.   - sealer: for numbers and carrier tokens at rest.
    ///   - signer: for SHA-256 only.
    ///   - scorer: nil leaves scores out.
    package init(
        store: any Store, answers: Answers, tokens: any KeyedDigest, sealer: any Sealer,
        signer: any TokenSigner, phoneNumbers: any PhoneNumberParser, bus: any BusCaller,
        carrier: any CarrierGateway, scorer: (any PhoneScorer)? = nil, clock: any WallClock,
        pause: any Pause, random: any RandomSource, metrics: any Metrics = NoMetrics(),
        log: Log = .silent, configuration: VerificationConfiguration = VerificationConfiguration()
    ) {
        self.store = store
        self.answers = answers
        self.tokens = tokens
        self.sealer = sealer
        self.signer = signer
        self.phoneNumbers = phoneNumbers
        self.bus = bus
        schemes = SchemeDirectory(bus: bus, pause: pause)
        self.carrier = carrier
        self.scorer = scorer
        self.clock = clock
        self.pause = pause
        self.random = random
        self.metrics = metrics
        self.log = log
        self.configuration = configuration
    }

    /// Beside the bus worker: carries lost calls on, and sweeps what is over.
    package func parts() -> [any DaemonPart] {
        [
            Periodic("resume", every: Self.resumeInterval, pause: pause) { await resumeLost() },
            Sweeper(store: store, clock: clock, pause: pause, log: log),
        ]
    }

    // MARK: open

    func open(
        _ request: OpenVerification, _ context: CallContext
    ) async throws(ServiceFailure) -> OpenedVerification {
        let key = try context.answerKey(for: request)
        let now = clock.now()
        let token = MaskToken(
            random: random.bytes(MaskToken.randomBytesCount), digest: tokens)
        let row = try opened(request, random.identifier(), token.key, at: now)
        let reply = try await answers.once(key) { rows in
            rows.put(VerificationTables.verifications, row)
            return OpenedVerification(
                verificationId: row.id, maskToken: token.text,
                expiresAtMilliseconds: row.expiresAt.millisecondsSince1970)
        }
        metrics.count(VerificationSignals.opened, ("kind", request.evidence.kind.rawValue))
        log.debug(
            "verification opened",
            [
                VerificationSignals.verificationID: LogValue(reply.verificationId),
                VerificationSignals.runID: LogValue(request.runId),
                VerificationSignals.kind: .text(request.evidence.kind.rawValue),
            ])
        return reply
    }

    private func opened(
        _ request: OpenVerification, _ id: VerificationID, _ rowKey: String, at now: WallTime
    ) throws(ServiceFailure) -> Verification {
        let wanted = WallTime(millisecondsSince1970: request.expiresAtMilliseconds)
        guard wanted > now, wanted <= now + Self.tokenLifetimeMax + Self.clockSkewMax else {
            throw VerificationFailure.lifetime
        }
        let expiresAt = min(wanted, now + Self.tokenLifetimeMax)
        let binding = Verification.Binding(
            templateId: request.templateId, runId: request.runId, step: request.step,
            nodeId: request.nodeId, purpose: request.purpose,
            expectedNumber: request.expectedNumber.map { sealed($0, .expected, id) },
            excludedNumber: request.excludedNumber.map { sealed($0, .excluded, id) },
            wantsScore: request.score ?? false)
        return Verification(
            key: rowKey, id: id, schemeCode: request.schemeCode, binding: binding,
            evidence: try kept(request.evidence, id), openedAt: now, expiresAt: expiresAt,
            keptUntil: expiresAt + configuration.recordLifetime)
    }

    private func kept(
        _ evidence: Evidence, _ id: VerificationID
    ) throws(ServiceFailure) -> KeptEvidence {
        // The shape was judged with the request: exactly the field of the kind is there.
        if let token = evidence.carrierToken { return .carrier(sealed(token, id)) }
        if let guess = evidence.guessId { return .smsCode(guess) }
        if let upgoing = evidence.upgoingId { return .upgoing(upgoing) }
        throw ServiceFailure(.invalidParameters, "is missing", field: "evidence")
    }

    // MARK: Sealing

    /// What a sealed number of a row is; part of the context that it opens under.
    enum NumberUse: String { case expected, excluded, proven }

    func sealed(_ number: PhoneNumber, _ use: NumberUse, _ id: VerificationID) -> StoredBytes {
        StoredBytes(sealer.seal(number, context: Self.context(use, id)))
    }

    func unsealed(
        _ number: StoredBytes, _ use: NumberUse, _ id: VerificationID
    ) throws(ServiceFailure) -> PhoneNumber {
        guard let number = sealer.openNumber(number.bytes, context: Self.context(use, id)) else {
            throw VerificationFailure.unreadable
        }
        return number
    }

    func sealed(_ carrierToken: Secret<String>, _ id: VerificationID) -> StoredBytes {
        StoredBytes(
            sealer.seal(Array(carrierToken.reveal().utf8), context: "verification.token/\(id)"))
    }

    func unsealed(
        _ carrierToken: StoredBytes, _ id: VerificationID
    ) throws(ServiceFailure) -> Secret<String> {
        guard let bytes = sealer.open(carrierToken.bytes, context: "verification.token/\(id)")
        else { throw VerificationFailure.unreadable }
        return Secret(String(decoding: bytes, as: UTF8.self))
    }

    private static func context(_ use: NumberUse, _ id: VerificationID) -> String {
        "verification.\(use.rawValue)/\(id)"
    }
}
