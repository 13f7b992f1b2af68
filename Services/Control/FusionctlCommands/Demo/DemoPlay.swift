import Bus
import Effects
import Messages
import Primitives

/// One case being played: the app and its server over what they are given, the phone over the bus; and
/// what was seen.
///
/// It is used by one task at a time. Every value it draws is fresh, so that a second demo within the
/// hour meets no limit.
final class DemoPlay {
    /// How long an SMS may take to the inbox.
    static let deliveryMax = Duration.seconds(8)
    static let inboxWaitMilliseconds: Int64 = 1000

    /// What the parties of a story speak over.
    struct Cast: Sendable {
        let app: any DemoApp
        let appServer: any DemoAppServer
        /// The sandbox, as the phone's network.
        let bus: any BusCaller
        let pause: any Pause
        let random: any RandomSource
    }

    private let cast: Cast
    private let templateId: String

    private(set) var record = DemoRecord()
    private var authToken = Secret("")
    private var runKey = Secret("")
    private var view: SceneView?
    private var maskToken: (token: Secret<String>, nodeId: String)?
    private var inboxSequence: [String: Int64] = [:]

    private var bus: any BusCaller { cast.bus }
    private var random: any RandomSource { cast.random }

    init(_ cast: Cast, templateId: String) {
        self.cast = cast
        self.templateId = templateId
    }

    /// A mobile number of China, drawn at random; nothing leaves the sandbox.
    func freshNumber() -> String {
        let digits = (0..<8).map { _ in String(random.uniform(below: 10)) }.joined()
        return "+86138\(digits)"
    }

    func node() throws -> NodeView {
        guard let node = view?.node else {
            throw DemoSurprise("the run has no node: \(view?.state.rawValue ?? "not started")")
        }
        return node
    }

    // MARK: The app

    func start(boundNumber: String?) async throws {
        if let boundNumber, cast.appServer.knowsNumbersFromLoginsOnly {
            try await logIn(boundNumber)
        }
        authToken = try await cast.appServer.fetchToken(boundNumber: boundNumber)
        try await cast.app.checkSession(authToken)
        let view = try await cast.app.start(
            authToken, templateId: templateId, deviceId: "demo-\(Hex.encode(random.bytes(12)))")
        guard let key = view.runKey else { throw DemoSurprise("the start gave no run key") }
        runKey = key
        record.runId = view.runId.text
        take(view, codesTo: nil)
    }

    /// A run of its own before this one.
    private func logIn(_ number: String) async throws {
        let play = DemoPlay(cast, templateId: "100001")
        try await DemoCase.login.play(play, number)
        guard play.record.outcome == DemoCase.login.expected.rawValue else {
            throw DemoSurprise("the login before it ended \(play.record.outcome)")
        }
    }

    func submit(_ input: NodeInput) async throws {
        let node = try node()
        record.visit(node)
        let view = try await cast.app.submit(input, try place())
        if let token = view.maskToken { maskToken = (token, node.nodeId) }
        if input.otherLogin == true { record.settle(node.nodeId, .left) }
        take(view, codesTo: node.nodeId)
    }

    func continueRun(_ isSuccess: Bool) async throws {
        let node = try node()
        record.visit(node)
        let view = try await cast.app.continueRun(isSuccess, try place())
        record.settle(node.nodeId, isSuccess ? .passed : .failed)
        take(view, codesTo: nil)
    }

    func halfway(_ isSuccess: Bool) async throws {
        take(try await cast.app.halfway(isSuccess, try place()), codesTo: nil)
    }

    /// Says "success" without a PASS on record; the answer must be a refusal that changes nothing.
    func claimWithoutPass() async throws {
        let node = try node()
        let before = try place().step
        do {
            if node.halfway { try await halfway(true) } else { try await continueRun(true) }
        } catch let failure as ServiceFailure where failure.code == .passNotOnRecord {
            record.settle(node.nodeId, .refused)
            let view = try await cast.app.get(try place())
            guard view.step == before, view.state == .waiting else {
                throw DemoSurprise("the refused continue moved the run")
            }
            return
        }
        throw DemoSurprise("a continue without PASS was accepted")
    }

    func stop() async throws {
        take(try await cast.app.stop(try place()), codesTo: nil)
    }

    // MARK: The app server

    func verify(
        _ expected: VerificationResult, reason: VerificationReason? = nil, number: String? = nil
    ) async throws {
        guard let maskToken else { throw DemoSurprise("no mask token was won") }
        let verified = try await cast.appServer.verify(maskToken.token)
        record.add(verified, nodeId: maskToken.nodeId)
        guard verified.result == expected, verified.reason == reason else {
            let seen = verified.reason.map { " \($0.rawValue)" } ?? ""
            throw DemoSurprise(
                "verified \(verified.result.rawValue)\(seen), expected \(expected.rawValue)")
        }
        if let number, verified.phoneNumber?.e164 != number {
            throw DemoSurprise("another number was proven")
        }
    }

    // MARK: The phone

    func makeSIM(_ number: String, fault: SIMFault) async throws -> SIMID {
        try await bus.call(PutSIM(numbers: [number], carrier: .mobile, fault: fault), write()).simId
    }

    func fetchCarrierToken(_ sim: SIMID) async throws -> Secret<String> {
        let fetched = try await bus.call(FetchCarrierToken(simId: sim), write())
        guard let token = fetched.carrierToken else {
            throw DemoSurprise("the carrier gave no token: \(fetched.innerCode)")
        }
        return token
    }

    /// - Returns: the inner code of the failure.
    func failCarrierToken(_ sim: SIMID) async throws -> Int {
        let fetched = try await bus.call(FetchCarrierToken(simId: sim), write())
        guard fetched.carrierToken == nil else {
            throw DemoSurprise("the carrier gave a token in spite of the fault")
        }
        return fetched.innerCode
    }

    func putFault(_ number: String, _ fault: SMSFault) async throws {
        _ = try await bus.call(PutFault(number: number, fault: fault), write())
    }

    func sendMobileOriginated(from number: String, to upgoing: UpgoingView) async throws {
        let received = try await bus.call(
            SendMobileOriginated(
                sender: number, receiver: upgoing.receivingNumber, text: upgoing.text), write())
        guard received.matched else { throw DemoSurprise("the up-going text matched nothing") }
    }

    /// The code in the newest message to `number`, as a person reads it.
    func readCode(of number: String) async throws -> String {
        let deadline = cast.pause.steadyNow() + Self.deliveryMax
        let length = try node().codeLength
        while cast.pause.steadyNow() < deadline {
            let inbox = try await bus.call(
                ReadInbox(
                    number: number, afterSequence: inboxSequence[number],
                    waitMilliseconds: Self.inboxWaitMilliseconds))
            guard let message = inbox.messages.last else { continue }
            inboxSequence[number] = message.sequence
            if let code = Self.code(in: message.text, length: length) { return code }
        }
        throw DemoSurprise("no code arrived within \(Self.deliveryMax.components.seconds) s")
    }

    /// The first run of digits that is `length` long, at least four when the length is unknown.
    static func code(in text: String, length: Int?) -> String? {
        let runs = text.split { !("0"..."9").contains($0) }.map(String.init)
        return runs.first { $0.count == length } ?? runs.first { $0.count >= 4 }
    }

    // MARK: -

    private func place() throws -> DemoPlace {
        guard let view else { throw DemoSurprise("the run did not start") }
        return DemoPlace(
            authToken: authToken, runId: view.runId, runKey: runKey, step: view.step)
    }

    private func write() -> CallOptions {
        CallOptions(requestKey: DemoKeys(random: random).next())
    }

    private func take(_ view: SceneView, codesTo nodeId: String?) {
        self.view = view
        record.outcome = view.state.rawValue
        record.add(view.resultCodes, to: nodeId)
        if let node = view.node { record.visit(node) }
        // The end code is said once, whether or not it is among the codes of this call.
        if let end = view.endCode, !record.resultCodes.contains(end) {
            record.add([end], to: nil)
        }
    }
}
