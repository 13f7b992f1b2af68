package import Bus
package import Effects
import Messages
import Primitives
package import Storage

/// Codes, up-going texts, their limits and their delivery. Its methods are spread by topic:
/// `SendingCodes`, `CheckingCodes`, `RunGuesses`, `AskingAbout`, `UpgoingTexts`, `CarrierReports`.
package struct SMSCodeService: Sendable {
    let store: any Store
    let answers: Answers
    let clock: any WallClock
    let pause: any Pause
    let random: any RandomSource
    let schemes: SchemeDirectory
    let phoneNumbers: any PhoneNumberParser
    let keys: RowKeys
    let book: CodeBook
    let sealer: any Sealer
    let chain: ProviderChain
    let metrics: any Metrics
    let log: Log
    let configuration: SMSCodeConfiguration
    /// Names this process among several; see `SendWindow.clockSkewMax`.
    let instanceID: String
    /// Sends that wait for a provider right now.
    let waitingSends = Lock(0)
    /// Wakes the outbox.
    let outboxBell = Wakeups()

    /// - Parameters:
    ///   - answers: on the same store.
    ///   - numberDigest: names rows by number, address and text; of its own purpose.
    ///   - guessDigest: for guesses and fixed codes, bound to challenges; of its own purpose.
    ///   - codes: derives codes; no other service may hold its key.
    ///   - sealer: for numbers and texts at rest.
    ///   - providers: in order of preference, at least one.
    package init(
        store: any Store, answers: Answers, clock: any WallClock, pause: any Pause,
        random: any RandomSource, bus: any BusCaller, phoneNumbers: any PhoneNumberParser,
        numberDigest: any KeyedDigest, guessDigest: any KeyedDigest, codes: any CodeDerivation,
        sealer: any Sealer, providers: [any SMSProvider], instanceID: String,
        metrics: any Metrics = NoMetrics(), log: Log = .silent,
        configuration: SMSCodeConfiguration = SMSCodeConfiguration()
    ) {
        precondition(!providers.isEmpty, "codes need a way out")
        self.store = store
        self.answers = answers
        self.clock = clock
        self.pause = pause
        self.random = random
        schemes = SchemeDirectory(bus: bus, pause: pause)
        self.phoneNumbers = phoneNumbers
        keys = RowKeys(digest: numberDigest)
        book = CodeBook(derivation: codes, guesses: guessDigest)
        self.sealer = sealer
        chain = ProviderChain(providers, pause: pause, metrics: metrics)
        self.metrics = metrics
        self.log = log
        self.configuration = configuration
        self.instanceID = instanceID
    }

    /// The outbox, the sweep of old rows, and the carrying on of sends that a crash left open. Called
    /// once: they share one bell with the service.
    package func parts() -> [any DaemonPart] {
        [
            MessagePump(service: self),
            Sweeper(store: store, clock: clock, pause: pause, log: log),
            Periodic("open sends", every: Answers.resumeAfter, pause: pause) {
                await finishOpenSends()
            },
        ]
    }

    // MARK: Rows that several topics read

    func guessWindow(_ names: [String], _ rows: inout Rows, _ now: WallTime) -> GuessWindow {
        let found = names.map { rows.get(SMSCodeTables.guessWindows, $0) }.compactMap(\.self)
        guard let first = found.first else { return GuessWindow(key: names[0], at: now) }
        guard found.count > 1 || first.key != names[0] else { return first }
        return found.dropFirst().reduce(GuessWindow(key: names[0], joining: first, nil)) {
            GuessWindow(key: names[0], joining: $0, $1)
        }
    }

    func put(_ window: GuessWindow, _ names: [String], _ rows: inout Rows) {
        rows.put(SMSCodeTables.guessWindows, window)
        for older in names.dropFirst() { rows.delete(SMSCodeTables.guessWindows, older) }
    }

    /// Challenges of a slot, newest first.
    func challenges(_ slots: [String], _ rows: inout Rows, limit: Int) -> [CodeChallenge] {
        slots.map { slot in
            rows.find(
                SMSCodeTables.challenges, SMSCodeTables.bySlot, slot, newestFirst: true,
                limit: limit)
        }.flatMap(\.self).sorted { $0.createdAt > $1.createdAt }
    }

    func number(of challenge: CodeChallenge) throws(ServiceFailure) -> PhoneNumber {
        guard
            let number = sealer.openNumber(
                challenge.number.bytes, context: Self.numberContext(challenge.id.text))
        else { throw SMSCodeFailure.unreadable }
        return number
    }

    static func numberContext(_ id: String) -> String { "smscode.number/\(id)" }
    static func contentContext(_ id: String) -> String { "smscode.content/\(id)" }

    func countDay(
        _ scheme: String, holder: String, _ now: WallTime, _ rows: inout Rows,
        _ change: (inout SMSDayCount) -> Void
    ) {
        let part = SMSDayCount.part(of: holder)
        let day = UTCDay(now)
        let key = SMSDayCount.key(day.text, scheme, part)
        var count =
            rows.get(SMSCodeTables.days, key) ?? SMSDayCount(day, schemeCode: scheme, part: part)
        change(&count)
        rows.put(SMSCodeTables.days, count)
    }

    func prefetchDay(_ scheme: String, holder: String, _ now: WallTime, _ rows: inout Rows) {
        rows.prefetch(
            SMSCodeTables.days,
            SMSDayCount.key(UTCDay(now).text, scheme, SMSDayCount.part(of: holder)))
    }

    /// Purposes of scenes and of the dypnsapi edge are not for integrators to choose.
    func judgePurpose(_ purpose: String, _ context: CallContext) throws(ServiceFailure) {
        guard purpose.hasPrefix("scene:") || purpose.hasPrefix("api:") else { return }
        guard context.peer.roles.isDisjoint(with: [.gateway, .service]) else { return }
        throw ServiceFailure(
            .notAllowed, "purposes that begin with scene: or api: are reserved", field: "purpose")
    }
}
