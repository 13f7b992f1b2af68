import Bus
import Messages
import Primitives

/// One whole login by template 100001, of seven calls: the app's five over the client API, the app
/// server's two (token, verify) over the bus.
struct SceneBench: Sendable {
    enum Way: String, Sendable, CaseIterable {
        /// issue, start, other login, send, code, verify, continue.
        case smsCode = "sms_code"
        /// issue, session, start, carrier token, verify, continue, get.
        case oneClick = "one_click"
    }

    let way: Way
    let app: HTTPApp
    let server: BusAppServer
    /// The sandbox, as the phone's network.
    let bus: any BusCaller
    let numbers: BenchNumbers

    func login(_ timer: inout LoadTimer) async throws {
        let draw = numbers.next()
        let token = try await timer.time("issue") {
            try await server.fetchToken(boundNumber: nil)
        }
        if way == .oneClick {
            try await timer.time("session") { try await app.checkSession(token) }
        }
        let started = try await timer.time("start") {
            try await app.start(token, templateId: "100001", deviceId: "bench-\(draw.nonce)")
        }
        guard let runKey = started.runKey else { throw BenchProblem("start: no run key") }
        let run = Run(token: token, runKey: runKey, number: "+86" + draw.national)
        let won =
            switch way {
            case .smsCode: try await code(&timer, run, started)
            case .oneClick: try await carrier(&timer, run, started)
            }
        guard let maskToken = won.maskToken else { throw BenchProblem("no mask token") }
        let verified = try await timer.time("verify") { try await server.verify(maskToken) }
        guard verified.result == .pass, verified.phoneNumber?.e164 == run.number else {
            throw BenchProblem("verify: " + (verified.reason?.rawValue ?? "another number"))
        }
        let ended = try await timer.time("continue") {
            try await app.continueRun(true, run.place(won))
        }
        guard ended.state == .passed else {
            throw BenchProblem("continue: \(ended.state.rawValue)")
        }
        if way == .oneClick {
            _ = try await timer.time("get") { try await app.get(run.place(ended)) }
        }
    }

    private struct Run {
        let token: Secret<String>
        let runKey: Secret<String>
        let number: String

        func place(_ view: SceneView) -> DemoPlace {
            DemoPlace(authToken: token, runId: view.runId, runKey: runKey, step: view.step)
        }
    }

    private func code(
        _ timer: inout LoadTimer, _ run: Run, _ started: SceneView
    ) async throws -> SceneView {
        let atSMS = try await timer.time("other login") {
            try await app.submit(NodeInput(otherLogin: true), run.place(started))
        }
        let sent = try await timer.time("send") {
            try await app.submit(NodeInput(send: true, number: run.number), run.place(atSMS))
        }
        let code = try await timer.leaveOut { try await readCode(run.number, sent) }
        return try await timer.time("code") {
            try await app.submit(NodeInput(code: code), run.place(sent))
        }
    }

    private func readCode(_ number: String, _ sent: SceneView) async throws -> String {
        let inbox = try await bus.call(
            ReadInbox(number: number, waitMilliseconds: DemoPlay.inboxWaitMilliseconds))
        let code = inbox.messages.last.flatMap {
            DemoPlay.code(in: $0.text, length: sent.node?.codeLength)
        }
        guard let code else { throw BenchProblem("send: no SMS arrived") }
        return code
    }

    private func carrier(
        _ timer: inout LoadTimer, _ run: Run, _ started: SceneView
    ) async throws -> SceneView {
        let token = try await timer.leaveOut {
            let sim = try await bus.call(PutSIM(numbers: [run.number], carrier: .mobile))
            return try await bus.call(FetchCarrierToken(simId: sim.simId)).carrierToken
        }
        guard let token else { throw BenchProblem("the carrier gave no token") }
        return try await timer.time("carrier token") {
            try await app.submit(NodeInput(carrierToken: token), run.place(started))
        }
    }
}
