import Foundation
import FusionAuth
import Testing
import handset

/// Lines as they come, and whoever waits for one.
final class Transcript: Sendable {
    private struct State {
        var lines: [String] = []
        var waiting: [(line: String, count: Int, continuation: CheckedContinuation<Void, Never>)] =
            []
    }
    private let state = Box(State())

    var lines: [String] { state.with { $0.lines } }

    func add(_ line: String) {
        let ready = state.with { state in
            state.lines.append(line)
            let count = Self.count(line, state.lines)
            let ready = state.waiting.filter { $0.line == line && $0.count <= count }
            state.waiting.removeAll { $0.line == line && $0.count <= count }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    private static func count(_ line: String, _ lines: [String]) -> Int {
        lines.count { $0 == line }
    }

    /// Waits for the `count`th line of this text.
    func wait(for line: String, _ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.with { state in
                if Self.count(line, state.lines) >= count { return true }
                state.waiting.append((line, count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

/// Writes down each callback, then hands it to the app.
final class Recorder: FusionAuthDelegate {
    let app: HandsetApp
    let transcript: Transcript

    init(_ app: HandsetApp, _ transcript: Transcript) {
        self.app = app
        self.transcript = transcript
    }

    func onSDKTokenUpdate(_ handler: FusionAuthHandler) -> FusionAuthToken? {
        transcript.add("token?")
        return app.onSDKTokenUpdate(handler)
    }
    func onSDKTokenAuthSuccess(_ handler: FusionAuthHandler) {
        transcript.add("token good")
        app.onSDKTokenAuthSuccess(handler)
    }
    func onSDKTokenAuthFailure(
        _ handler: FusionAuthHandler, failToken: FusionAuthToken?, error: FusionAuthEvent
    ) {
        transcript.add("token failed \(Lines.of(error))")
        app.onSDKTokenAuthFailure(handler, failToken: failToken, error: error)
    }
    func onVerifySuccess(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
        event: FusionAuthEvent
    ) {
        transcript.add("success \(nodeName) \(Lines.of(event))")
        app.onVerifySuccess(handler, nodeName: nodeName, maskToken: maskToken, event: event)
    }
    func onHalfwayVerifySuccess(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
        event: FusionAuthEvent, resultBlock: @escaping @Sendable (Bool) -> Void
    ) {
        transcript.add("half-way \(nodeName) \(Lines.of(event))")
        app.onHalfwayVerifySuccess(
            handler, nodeName: nodeName, maskToken: maskToken, event: event,
            resultBlock: resultBlock)
    }
    func onVerifyFailed(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, event: FusionAuthEvent
    ) {
        transcript.add("failed \(nodeName) \(Lines.of(event))")
        app.onVerifyFailed(handler, nodeName: nodeName, event: event)
    }
    func onTemplateFinish(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
        transcript.add("finish \(Lines.of(event))")
        app.onTemplateFinish(handler, event: event)
    }
    func onGetPhoneNumberForVerification(
        _ handler: FusionAuthHandler, event: FusionAuthEvent
    ) -> String? {
        transcript.add("number? \(Lines.of(event))")
        return app.onGetPhoneNumberForVerification(handler, event: event)
    }
    func onProtocolClick(
        _ handler: FusionAuthHandler, protocolName: String, protocolUrl: String,
        event: FusionAuthEvent
    ) {
        transcript.add("protocol \(Lines.of(event))")
        app.onProtocolClick(
            handler, protocolName: protocolName, protocolUrl: protocolUrl, event: event)
    }
    func onVerifyInterrupt(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
        transcript.add("interrupt \(Lines.of(event))")
        app.onVerifyInterrupt(handler, event: event)
    }
    func onAuthEvent(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
        transcript.add("event \(Lines.of(event))")
        app.onAuthEvent(handler, event: event)
    }
}

/// What the app shows, in the transcript.
final class RecordedScreen: Screen {
    let transcript: Transcript
    init(_ transcript: Transcript) { self.transcript = transcript }

    func show(_ message: String) { transcript.add("app: \(message)") }
    func setLoading(_ isLoading: Bool) {}
    func open(_ page: String) { transcript.add("app opens \(page)") }
    func becameActive() { transcript.add("app is active") }
    func gaveUp() { transcript.add("app gave up") }
    func finished(_ event: FusionAuthEvent) { transcript.add("app is done") }
}

/// An app server that knows what became of the fake gateway's mask tokens.
final class FakeAppServer: AppServer {
    struct State: Sendable {
        /// Before the good one.
        var tokens: [FusionAuthToken] = []
        /// Instead of the right verdict, for the next verifications.
        var verdicts: [Verdict] = []
    }
    let state = Box(State())
    private let gateway: FakeGateway

    init(_ gateway: FakeGateway) { self.gateway = gateway }

    func authToken() async throws -> String {
        let next = state.with { $0.tokens.isEmpty ? nil : $0.tokens.removeFirst() }
        return (next ?? MachineDriver.token()).authToken
    }

    func verify(_ maskToken: String) async -> Verdict {
        if let given = state.with({ $0.verdicts.isEmpty ? nil : $0.verdicts.removeFirst() }) {
            return given
        }
        return gateway.with { gateway in
            guard let evidence = gateway.evidence[maskToken], evidence.isRight else {
                return .refused
            }
            gateway.runs[evidence.runId]?.passedStep = evidence.step
            return .pass(number: evidence.number)
        }
    }
}

/// Time stands still, but for the pauses between tries.
struct StillPause: FusionAuthPause {
    func pause(for duration: Duration) async throws {
        if FusionAuthMachine.Bounds.pauses.contains(duration) { return }
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        continuation.finish()
        throw CancellationError()
    }
}

struct FakeCarrier: CarrierTokenProvider {
    var offer: Result<CarrierOffer, CarrierFailure> = .success(CarrierOffer())
    var answer: Result<CarrierToken, CarrierFailure> = .success(CarrierToken("+8613800000000"))

    func prepare() async throws(CarrierFailure) -> CarrierOffer { try offer.get() }
    func token() async throws(CarrierFailure) -> CarrierToken { try answer.get() }
}

/// The app of the demo with the SDK, before the fake gateway.
final class Stage: Sendable {
    static let number = "+8613800000000"

    let gateway = FakeGateway()
    let transcript = Transcript()
    let server: FakeAppServer
    let app: HandsetApp
    let recorder: Recorder
    let handler: FusionAuthHandler

    init(
        number: String? = nil, carrier: FakeCarrier? = FakeCarrier(), isQuick: Bool = false,
        isTokenGood: Bool = true
    ) {
        server = FakeAppServer(gateway)
        app = HandsetApp(
            server: isQuick ? nil : server, pastedToken: isQuick ? MachineDriver.token() : nil,
            number: number, screen: RecordedScreen(transcript), passwordPageDelay: .zero)
        recorder = Recorder(app, transcript)
        var settings = FusionAuthMachine.Settings(schemeCode: "FA1", keyPrefix: "k")
        settings.deviceId = "device"
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        var around = FusionAuthSurroundings(
            transport: gateway, pause: StillPause(), callbacks: queue,
            tokenUpdates: ThreadExecutor(threadsMax: 4))
        around.carrier = carrier
        handler = FusionAuthHandler(token: nil, settings, around)
        if isTokenGood {
            gateway.with { $0.goodTokens = [MachineDriver.token().authToken] }
        }
    }

    func begin() { handler.setFusionAuthDelegate(recorder) }

    /// Active, and at the first page of the template.
    func start(_ templateId: String, until line: String) async {
        begin()
        await transcript.wait(for: "app is active")
        handler.startScene(templateId: templateId)
        await transcript.wait(for: line)
    }

    var numberAuth: NumberAuthView? {
        if case .numberAuth(let view) = handler.currentPage { view } else { nil }
    }
    var smsCode: SMSCodeView? {
        if case .smsCode(let view) = handler.currentPage { view } else { nil }
    }
    var upGoing: UpGoingView? {
        if case .upGoing(let view) = handler.currentPage { view } else { nil }
    }

    /// The transcript since a line, without loading and without what another test tells.
    func lines(after first: String) -> [String] {
        let all = transcript.lines.filter { !$0.hasSuffix("900003") && !$0.hasSuffix("900004") }
        guard let index = all.firstIndex(of: first) else { return all }
        return Array(all[(index + 1)...])
    }
}
