import Bus
import Messages
import Primitives
import TestKit

@testable import FusionctlCommands

/// As much of the system as two stories of template 100001 need, and a switch for each thing that it
/// may do wrong.
final class ScriptedScene: Sendable {
    private struct State: Sendable {
        var step = 1
        var kind = NodeKind.numberAuth
        var end: (RunState, Int)?
        var passed = false
        var number = "+8613800138000"
        var code: String?
    }

    let bus = FakeBus()
    private let clock = ManualClock()
    private let random = SeededRandom(seed: 11)
    private let state = Lock(State())
    private let proves: String?
    private let checksPass: Bool

    init(proves: String? = nil, checksPass: Bool = true) {
        self.proves = proves
        self.checksPass = checksPass
        answerServer()
        answerPhone()
        answerScene()
    }

    /// - Parameter app: nil speaks over the bus, and so on.
    func play(
        _ script: DemoScript, app: (any DemoApp)? = nil, appServer: (any DemoAppServer)? = nil
    ) async -> DemoRecord {
        state.withLock { $0 = State() }
        let keys = DemoKeys(random: random)
        let cast = DemoPlay.Cast(
            app: app ?? BusApp(bus: bus, keys: keys),
            appServer: appServer ?? BusAppServer(bus: bus, keys: keys, schemeCode: "FA1"),
            bus: bus, pause: clock, random: random)
        let play = DemoPlay(cast, templateId: "100001")
        let story = DemoCase(templateId: "100001", script: script, expected: .passed)
        var problem: String?
        do { try await story.play(play) } catch { problem = "\(error)" }
        var record = play.record
        record.error = problem
        return record
    }

    private static let runID = RunID(random: Array(repeating: 3, count: 16))

    private func view(
        _ codes: [Int] = [], mask: String? = nil, key: String? = nil
    ) -> SceneView {
        let state = state.withLock { $0 }
        let node = NodeView(
            nodeId: "300000100001\(state.kind == .numberAuth ? "004" : "005")", kind: state.kind,
            nodeName: "node", numberInput: state.kind == .smsCode ? .typed : nil)
        return SceneView(
            runId: Self.runID, templateId: "100001", step: state.step,
            state: state.end?.0 ?? .waiting, endCode: state.end?.1, resultCodes: codes,
            node: state.end == nil ? node : nil, maskToken: mask.map { Secret($0) },
            runKey: key.map { Secret($0) })
    }

    private func answerServer() {
        bus.on(IssueAuthToken.self) { _, _ in
            IssueAuthToken.Issued(
                authToken: "eyJ", tokenId: Samples.tokenID, expiresAtMilliseconds: 1)
        }
        bus.on(VerifyMaskToken.self) { [self] _, _ in
            state.withLock { state in
                guard state.kind == .numberAuth else {
                    return Verified(result: .unknown, reason: .codeRejected)
                }
                state.passed = true
                return Verified(
                    result: .pass, phoneNumber: PhoneNumber(e164: proves ?? state.number))
            }
        }
    }

    private func answerPhone() {
        bus.on(PutSIM.self) { [self] request, _ in
            state.withLock { $0.number = request.numbers.first ?? "" }
            return SIM(
                simId: SIMID(random: Array(repeating: 2, count: 16)), numbers: [], dataSlot: 0,
                carrier: .mobile, fault: .none, delayMilliseconds: 0)
        }
        bus.on(FetchCarrierToken.self) { _, _ in
            CarrierToken(carrierToken: Secret("carrier"), innerCode: 1_600_000, carrier: .mobile)
        }
        bus.on(ReadInbox.self) { request, _ throws(ServiceFailure) in
            guard let number = request.number.flatMap({ PhoneNumber(e164: $0) }) else {
                throw ServiceFailure(.numberInvalid, "no number")
            }
            return Inbox(messages: [
                InboxMessage(
                    sequence: 1, number: number, text: "Your code is 123456.", reference: "r",
                    arrivedAtMilliseconds: 1)
            ])
        }
    }

    private func answerScene() {
        bus.on(StartScene.self) { [self] _, _ in view([700_001], key: "key") }
        bus.on(SubmitInput.self) { [self] request, _ in
            if request.input.carrierToken != nil { return view([400_006], mask: "mask") }
            if request.input.otherLogin == true {
                state.withLock {
                    $0.kind = .smsCode
                    $0.step += 1
                }
                return view()
            }
            return request.input.code == nil ? view([500_007]) : view([500_013], mask: "mask")
        }
        bus.on(ContinueScene.self) { [self] _, _ throws(ServiceFailure) in
            guard state.withLock({ $0.passed }) || !checksPass else {
                throw ServiceFailure(.passNotOnRecord, "no PASS is on record")
            }
            state.withLock { $0.end = (.passed, 110_005) }
            return view([110_005])
        }
        bus.on(GetScene.self) { [self] _, _ in view() }
        bus.on(StopScene.self) { [self] _, _ in
            state.withLock { $0.end = (.stopped, 100_004) }
            return view([100_004])
        }
    }
}
