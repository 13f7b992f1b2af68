import Foundation
import FusionAuth

/// A node of a fake scene, by the last three digits of its id.
struct FakeNode: Sendable {
    let number: Int
    let kind: Int
    let success: Int?
    let failure: Int?
    var other: Int?
    var halfway = false
    var prefilled = false
    var validityCheck = false

    /// Which node names and kinds a template has, in short: the graphs without what never waits.
    static func nodes(of templateId: String) -> [FakeNode] {
        let (number, sms, upgoing) = (2_000_001, 2_000_005, 2_000_006)
        switch templateId {
        case "100001":
            return [
                FakeNode(number: 4, kind: number, success: nil, failure: 5, other: 5),
                FakeNode(number: 5, kind: sms, success: nil, failure: 7),
                FakeNode(number: 7, kind: upgoing, success: nil, failure: nil),
            ]
        case "100002":
            return [
                FakeNode(
                    number: 3, kind: sms, success: 4, failure: 5, halfway: true, prefilled: true),
                FakeNode(number: 4, kind: sms, success: nil, failure: 5),
                FakeNode(number: 5, kind: upgoing, success: nil, failure: nil),
            ]
        case "100003", "100004":
            return [
                FakeNode(
                    number: 3, kind: sms, success: nil, failure: 4,
                    validityCheck: templateId == "100003"),
                FakeNode(number: 4, kind: upgoing, success: nil, failure: nil),
            ]
        case "100005":
            return [
                FakeNode(number: 2, kind: sms, success: nil, failure: 3, prefilled: true),
                FakeNode(number: 3, kind: upgoing, success: nil, failure: nil),
            ]
        default: return []
        }
    }

    func id(_ templateId: String) -> String {
        "300000\(templateId)" + String(repeating: "0", count: 3 - "\(number)".count) + "\(number)"
    }
}

/// The gateway's client API in one process, strict about its contract: whoever sends it something
/// that the real one would refuse gets the refusal, and a line in `faults`.
///
/// Every code is 123456, the carrier's token is the number.
final class FakeGateway: FusionAuthTransport {
    struct Run: Sendable {
        let templateId: String
        let key: String
        var step = 1
        var node: FakeNode?
        var state = Wire.RunState.waiting
        var number: String?
        var passedStep: Int?
    }
    /// What a mask token stands for.
    struct Evidence: Sendable {
        let runId: String
        let step: Int
        let number: String
        let isRight: Bool
    }
    struct State: Sendable {
        var goodTokens: Set<String> = []
        var runs: [String: Run] = [:]
        var evidence: [String: Evidence] = [:]
        var answers: [String: (FusionAuthRequest, FusionAuthResponse)] = [:]
        var faults: [String] = []
        var requests: [String] = []
        /// Whether the person's SMS has arrived.
        var hasReceived = false
        /// Codes to answer to the next sends instead of sending.
        var refusals: [Int] = []
        /// Failures of the network for the next requests: before they arrive, or on the way back.
        var lost: [Loss] = []
        /// Nothing is reached any more.
        var isDown = false
    }
    enum Loss: Sendable {
        case before(FusionAuthTransportFailure)
        case after
    }

    private let state = Box(State())

    func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.with(body)
    }
    var faults: [String] { with { $0.faults } }

    func send(
        _ request: FusionAuthRequest
    ) async throws(FusionAuthTransportFailure) -> FusionAuthResponse {
        let outcome = with { state -> Result<FusionAuthResponse, FusionAuthTransportFailure> in
            if state.isDown { return .failure(.noNetwork) }
            let loss = state.lost.isEmpty ? nil : state.lost.removeFirst()
            if case .before(let failure) = loss { return .failure(failure) }
            state.requests.append("\(request)")
            let response = state.answer(request)
            return loss == nil ? .success(response) : .failure(.timeout)
        }
        return try outcome.get()
    }
}

/// The strictness: headers, keys and fields.
extension FakeGateway.State {
    mutating func answer(_ request: FusionAuthRequest) -> FusionAuthResponse {
        do {
            let token = (request.headers["Authorization"] ?? "").replacing("Bearer ", with: "")
            guard goodTokens.contains(token) else { throw Refusal(401, "token_invalid") }
            let parts = request.path.split(separator: "/").map(String.init)
            guard parts.starts(with: ["client", "v1"]) else { throw fault("path", request) }
            if request.method == "GET" {
                guard request.body == nil else { throw fault("body of GET", request) }
                if parts == ["client", "v1", "session"] { return json(200, Self.session) }
                return json(200, view(try run(parts, request)))
            }
            guard request.method == "POST",
                request.headers["Content-Type"]?.hasPrefix("application/json") == true
            else { throw fault("content type", request) }
            guard let key = request.headers["Idempotency-Key"], (1...128).contains(key.utf8.count),
                key.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else { throw fault("idempotency key", request) }
            if let (first, answer) = answers[key] {
                guard first.path == request.path, first.body == request.body else {
                    throw fault("another body under one key", request)
                }
                return answer
            }
            let answer = try write(request, parts)
            answers[key] = (request, answer)
            return answer
        } catch let refusal as Refusal {
            var problem = Wire.Problem()
            problem.code = refusal.code
            problem.detail = "no"
            problem.requestId = "R"
            return json(refusal.status, problem)
        } catch {
            return FusionAuthResponse(status: 500, body: Data())
        }
    }

    private struct Refusal: Error {
        let status: Int
        let code: String
        init(_ status: Int, _ code: String) {
            self.status = status
            self.code = code
        }
    }

    private mutating func fault(_ what: String, _ request: FusionAuthRequest) -> Refusal {
        faults.append("\(what): \(request)")
        return Refusal(400, "invalid_parameters")
    }

    private func json(_ status: Int, _ value: some Encodable) -> FusionAuthResponse {
        FusionAuthResponse(
            status: status, headers: ["content-type": "application/json; charset=utf-8"],
            body: (try? JSONEncoder().encode(value)) ?? Data())
    }

    /// Unknown properties are refused, as are missing ones.
    private mutating func body<Value: Codable>(
        _ request: FusionAuthRequest, _ names: Set<String>
    ) throws -> Value {
        guard let body = request.body,
            let fields = try? JSONSerialization.jsonObject(with: body) as? [String: Any],
            Set(fields.keys).isSubset(of: names),
            let value = try? JSONDecoder().decode(Value.self, from: body)
        else { throw fault("body", request) }
        return value
    }

    private mutating func run(
        _ parts: [String], _ request: FusionAuthRequest
    ) throws -> (id: String, run: FakeGateway.Run) {
        guard parts.count >= 4, parts[2] == "scenes" else { throw fault("path", request) }
        guard let run = runs[parts[3]], request.headers["X-Run-Key"] == run.key else {
            throw Refusal(404, "run_not_found")
        }
        return (parts[3], run)
    }

    private static var session: Wire.Session { MachineDriver.session() }

    // MARK: Scenes

    private mutating func write(
        _ request: FusionAuthRequest, _ parts: [String]
    ) throws -> FusionAuthResponse {
        if parts == ["client", "v1", "scenes"] { return try start(request) }
        guard parts.count == 5 else { throw fault("path", request) }
        let (id, run) = try run(parts, request)
        if parts[4] == "stop" {
            if run.state == .waiting { end(id, run.passedStep == run.step ? .passed : .stopped) }
            return json(200, view(id, runs[id] ?? run, ended: true))
        }
        guard run.state == .waiting, let node = run.node else { throw Refusal(409, "run_ended") }
        switch parts[4] {
        case "input":
            let body: Wire.Input = try body(request, ["step", "input"])
            guard body.step == run.step else { return unmoved(id, run) }
            return try take(body.input, id, node, request)
        case "continue", "halfway":
            let body: Wire.Verdict = try body(request, ["step", "isSuccess"])
            guard body.step == run.step else { return unmoved(id, run) }
            guard parts[4] == "continue" || (node.halfway && body.isSuccess) else {
                throw Refusal(409, "input_not_expected")
            }
            guard body.isSuccess else { return move(id, to: node.failure, isSuccess: false) }
            guard run.passedStep == run.step else { throw Refusal(409, "pass_not_on_record") }
            return move(id, to: node.success, isSuccess: true)
        default: throw fault("path", request)
        }
    }

    private mutating func start(_ request: FusionAuthRequest) throws -> FusionAuthResponse {
        let names: Set = ["templateId", "deviceId", "capabilities", "locale"]
        let body: Wire.Start = try body(request, names)
        guard let first = FakeNode.nodes(of: body.templateId).first else {
            throw Refusal(404, "template_not_found")
        }
        guard body.deviceId != nil else { throw fault("no device id", request) }
        let id = "run_\(runs.count + 1)"
        runs[id] = FakeGateway.Run(templateId: body.templateId, key: "key-\(id)", node: first)
        var view = view(id, runs[id] ?? FakeGateway.Run(templateId: "", key: ""))
        view.resultCodes = [700_001]
        view.runKey = "key-\(id)"
        return json(201, view)
    }

    private mutating func take(
        _ input: Wire.NodeInput, _ id: String, _ node: FakeNode, _ request: FusionAuthRequest
    ) throws -> FusionAuthResponse {
        switch (node.kind, input) {
        case (2_000_001, _) where input.carrierToken != nil:
            return win(id, 400_006, number: input.carrierToken ?? "", isRight: true)
        case (2_000_001, _) where input.failed != nil: return note(id, 400_007)
        case (2_000_001, _) where input.otherLogin == true:
            return move(id, to: node.other, isSuccess: false)
        case (2_000_005, _) where input.send == true:
            guard let number = input.number ?? runs[id]?.number else {
                throw fault("no number", request)
            }
            if !refusals.isEmpty { return note(id, refusals.removeFirst()) }
            runs[id]?.number = number
            return note(id, 500_007)
        case (2_000_005, _) where input.code != nil:
            guard let number = runs[id]?.number else { throw Refusal(409, "input_not_expected") }
            return win(
                id, node.validityCheck ? 500_011 : 500_013, number: number,
                isRight: input.code == "123456")
        case (2_000_006, _) where input.sent == true:
            return win(id, 600_007, number: "+8613800000000", isRight: hasReceived)
        default: throw fault("input", request)
        }
    }

    private mutating func win(
        _ id: String, _ code: Int, number: String, isRight: Bool
    ) -> FusionAuthResponse {
        let mask = "mask-\(evidence.count + 1)"
        evidence[mask] = FakeGateway.Evidence(
            runId: id, step: runs[id]?.step ?? 0, number: number, isRight: isRight)
        guard let run = runs[id] else { return json(500, [String]()) }
        var view = view(id, run)
        view.resultCodes = [code]
        view.maskToken = mask
        return json(200, view)
    }

    private func note(_ id: String, _ code: Int) -> FusionAuthResponse {
        guard let run = runs[id] else { return json(500, [String]()) }
        var view = view(id, run)
        view.resultCodes = [code]
        return json(200, view)
    }

    private mutating func move(
        _ id: String, to number: Int?, isSuccess: Bool
    ) -> FusionAuthResponse {
        guard var run = runs[id] else { return json(500, [String]()) }
        run.step += 1
        run.number = nil
        run.node = FakeNode.nodes(of: run.templateId).first { $0.number == number }
        runs[id] = run
        if run.node == nil { end(id, isSuccess ? .passed : .failed) }
        return json(200, view(id, runs[id] ?? run, ended: run.node == nil))
    }

    private mutating func end(_ id: String, _ state: Wire.RunState) {
        runs[id]?.state = state
        runs[id]?.node = nil
    }

    private func unmoved(_ id: String, _ run: FakeGateway.Run) -> FusionAuthResponse {
        var view = view(id, run)
        view.applied = false
        return json(200, view)
    }

    private func view(_ found: (id: String, run: FakeGateway.Run)) -> Wire.SceneView {
        view(found.id, found.run)
    }

    private func view(
        _ id: String, _ run: FakeGateway.Run, ended: Bool = false
    ) -> Wire.SceneView {
        var view = Wire.SceneView(
            runId: id, templateId: run.templateId, step: run.step, state: run.state)
        switch run.state {
        case .waiting: break
        case .passed: view.endCode = 110_005
        case .failed: view.endCode = 200_001
        case .stopped, .expired: view.endCode = 100_004
        }
        if ended, let code = view.endCode { view.resultCodes = [code] }
        guard let node = run.node else { return view }
        let names = [2_000_001: "numberAuth", 2_000_005: "verifyCodeAuth"]
        var shown = Wire.NodeView(
            nodeId: node.id(run.templateId), kind: node.kind,
            nodeName: names[node.kind] ?? "upGoingAuth", halfway: node.halfway)
        if node.kind == 2_000_005 {
            shown.numberInput = "typed"
            shown.codeLength = 6
            shown.prefilled = node.prefilled ? true : nil
            shown.validityCheck = node.validityCheck ? true : nil
        }
        if node.kind == 2_000_006 {
            shown.upgoing = Wire.Upgoing(text: "V 77", receivingNumber: "10690")
        }
        view.node = shown
        return view
    }
}

/// A value behind a lock.
final class Box<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
