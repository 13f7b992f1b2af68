import Bus
import Messages
import Primitives
import TestKit

/// The other services as scene sees them: answers by request key, codes, texts, records of PASS.
/// Each part can be taken down.
final class Neighbours: Sendable {
    struct Challenge: Sendable {
        let id: ChallengeID
        let number: String
        let code: String
        let runId: RunID?
    }
    struct Opened: Sendable {
        let request: OpenVerification
        let reply: OpenedVerification
    }
    struct State: Sendable {
        var schemes: [Scheme] = []
        var keys = PublicKeySet(keys: [])
        var inactive: [TokenID: TokenInactivity] = [:]
        var bound: [TokenID: PhoneNumber] = [:]
        var challenges: [Challenge] = []
        var guesses: [GuessID: (challenge: ChallengeID, code: String)] = [:]
        var opened: [Opened] = []
        var upgoings: [(id: UpgoingID, request: OpenUpgoing)] = []
        var arrived: [UpgoingID: PhoneNumber] = [:]
        var passes: [String: PhoneNumber] = [:]
        var notices: [NotifyNumber] = []
        /// By method and request key.
        var answers: [String: any Sendable] = [:]
        var down: Set<String> = []
        /// Done, but the answer is lost once.
        var loseAnswerOf: Set<String> = []
        var refusals: [String: ServiceFailure] = [:]
    }
    let state = Lock(State())
    let bus = FakeBus()
    let clock: ManualClock
    private let random = SeededRandom(seed: 4_711)

    init(clock: ManualClock) {
        self.clock = clock
        serveTokens()
        serveCodes()
        serveVerification()
        serveUpgoing()
    }

    static func number(_ text: String) -> PhoneNumber {
        guard let number = PhoneNumber(e164: text) else { preconditionFailure("no number") }
        return number
    }

    // MARK: What a test does

    func down(_ methods: String...) { state.withLock { $0.down.formUnion(methods) } }
    func up() { state.withLock { $0.down = [] } }
    func refuse(_ method: String, _ failure: ServiceFailure?) {
        state.withLock { $0.refusals[method] = failure }
    }
    func loseAnswer(of method: String) { state.withLock { _ = $0.loseAnswerOf.insert(method) } }

    var sentNumbers: [String] { state.withLock { $0.challenges.map(\.number) } }
    var lastCode: String { state.withLock { $0.challenges.last?.code ?? "none" } }
    var notices: [NotifyNumber] { state.withLock(\.notices) }
    var opened: [OpenVerification] { state.withLock { $0.opened.map(\.request) } }
    var upgoings: [OpenUpgoing] { state.withLock { $0.upgoings.map(\.request) } }

    /// The person sends the newest text from this number.
    func arrive(from sender: String) {
        state.withLock { state in
            guard let newest = state.upgoings.last else { return }
            state.arrived[newest.id] = Self.number(sender)
        }
    }

    /// What the app server gets for a mask token: the whole decision, in small.
    @discardableResult
    func verify(_ maskToken: Secret<String>?) -> Bool {
        state.withLock { state in
            guard
                let opened = state.opened.first(where: {
                    $0.reply.maskToken.reveal() == maskToken?.reveal()
                }), let number = Self.evidence(opened.request.evidence, state)
            else { return false }
            let request = opened.request
            guard request.expectedNumber == nil || request.expectedNumber == number,
                request.excludedNumber != number
            else { return false }
            state.passes["\(request.runId)/\(request.step)"] = number
            return true
        }
    }

    private static func evidence(_ evidence: Evidence, _ state: State) -> PhoneNumber? {
        switch evidence.kind {
        case .carrier: return evidence.carrierToken.flatMap { PhoneNumber(e164: $0.reveal()) }
        case .smsCode:
            guard let guess = evidence.guessId.flatMap({ state.guesses[$0] }),
                let challenge = state.challenges.first(where: { $0.id == guess.challenge }),
                challenge.code == guess.code
            else { return nil }
            return PhoneNumber(e164: challenge.number)
        case .upgoing: return evidence.upgoingId.flatMap { state.arrived[$0] }
        }
    }

    // MARK: Serving

    private func on<Request: BusRequest>(
        _ type: Request.Type,
        _ answer:
            @escaping @Sendable (inout State, Request) throws(ServiceFailure) -> Request.Reply
    ) {
        let name = Request.method.name
        bus.on(type) { [state] request, options throws(ServiceFailure) in
            let (outcome, isLost) = state.withLock { state in
                Self.outcome(name, request, options, &state, answer)
            }
            if isLost { throw ServiceFailure(.workerLost, "the answer is lost") }
            return try outcome.get()
        }
    }

    private static func outcome<Request: BusRequest>(
        _ name: String, _ request: Request, _ options: CallOptions, _ state: inout State,
        _ answer: (inout State, Request) throws(ServiceFailure) -> Request.Reply
    ) -> (Result<Request.Reply, ServiceFailure>, isLost: Bool) {
        if state.down.contains(name) {
            return (.failure(ServiceFailure(.unavailable, "down")), false)
        }
        let key = options.requestKey.map { "\(name) \($0)" }
        if let key, let stored = state.answers[key] as? Result<Request.Reply, ServiceFailure> {
            return (stored, false)
        }
        let outcome: Result<Request.Reply, ServiceFailure>
        if let refusal = state.refusals[name] {
            outcome = .failure(refusal)
        } else {
            do throws(ServiceFailure) {
                outcome = .success(try answer(&state, request))
            } catch {
                outcome = .failure(error)
            }
        }
        if let key { state.answers[key] = outcome }
        return (outcome, state.loseAnswerOf.remove(name) != nil)
    }

    private func serveTokens() {
        on(GetSigningKeys.self) { state, _ in state.keys }
        on(IntrospectAuthToken.self) { state, request throws(ServiceFailure) in
            guard let compact = CompactToken(request.authToken),
                let claims = try? AuthTokenReader.genuineClaims(
                    compact, keys: state.keys, signer: FakeSigner())
            else { return TokenState(active: false, reason: .malformed) }
            if let reason = state.inactive[claims.jti] {
                return TokenState(active: false, reason: reason)
            }
            let scheme = state.schemes.last { $0.schemeCode == claims.sub }
            guard let scheme else { return TokenState(active: false, reason: .unknown) }
            guard !scheme.disabled else {
                return TokenState(active: false, reason: .schemeDisabled)
            }
            return TokenState(
                active: true, tokenId: claims.jti, schemeCode: claims.sub, owner: scheme.owner,
                platform: claims.platform, app: claims.app, boundNumber: state.bound[claims.jti])
        }
        on(GetScheme.self) { state, request throws(ServiceFailure) in
            let found = state.schemes.last {
                $0.schemeCode == request.schemeCode
                    && (request.version == nil || $0.version == request.version)
            }
            guard let found else { throw ServiceFailure(.schemeNotFound, "no scheme") }
            return found
        }
    }

    private func serveCodes() {
        on(SendCode.self) { [clock, random] state, request throws(ServiceFailure) in
            let id = ChallengeID(random: random.bytes(16))
            let code = String(repeating: "\(state.challenges.count % 10)", count: 5) + "7"
            state.challenges.append(
                Challenge(
                    id: id, number: request.number, code: code, runId: request.origin?.runId))
            let now = clock.now().millisecondsSince1970
            return SentCode(
                challengeId: id, messageId: MessageID(random: random.bytes(16)), delivery: .sent,
                expiresAtMilliseconds: now + (request.lifetimeSeconds ?? 300) * 1_000,
                resendAtMilliseconds: now + 60_000, sendsLeft: 4,
                codeLength: request.codeLength ?? 6, codeType: 1)
        }
        on(AttachGuess.self) { [clock, random] state, request throws(ServiceFailure) in
            guard state.challenges.contains(where: { $0.id == request.challengeId }) else {
                throw ServiceFailure(.challengeNotFound, "no challenge")
            }
            let id = GuessID(random: random.bytes(16))
            state.guesses[id] = (request.challengeId, request.code)
            return AttachedGuess(
                guessId: id, expiresAtMilliseconds: clock.now().millisecondsSince1970 + 300_000)
        }
        on(NotifyNumber.self) { [random] state, request in
            state.notices.append(request)
            return NotifiedNumber(messageId: MessageID(random: random.bytes(16)))
        }
        on(CheckProof.self) { _, request in
            CheckedProof(accepted: request.proof.hasPrefix("human-"))
        }
    }

    private func serveVerification() {
        on(OpenVerification.self) { [random] state, request in
            let reply = OpenedVerification(
                verificationId: VerificationID(random: random.bytes(16)),
                maskToken: Secret("1." + Hex.encode(random.bytes(32))),
                expiresAtMilliseconds: request.expiresAtMilliseconds)
            state.opened.append(Opened(request: request, reply: reply))
            return reply
        }
        on(GetRunStatus.self) { state, request in
            let number = state.passes["\(request.runId)/\(request.step)"]
            return RunStatus(passed: number != nil, number: number)
        }
    }

    private func serveUpgoing() {
        on(OpenUpgoing.self) { [clock, random] state, request in
            let id = UpgoingID(random: random.bytes(16))
            state.upgoings.append((id, request))
            return OpenedUpgoing(
                upgoingId: id, text: "TEXT-\(Hex.encode(random.bytes(6)))",
                receivingNumber: "106900000000",
                expiresAtMilliseconds: clock.now().millisecondsSince1970
                    + (request.lifetimeSeconds ?? 600) * 1_000)
        }
    }
}
