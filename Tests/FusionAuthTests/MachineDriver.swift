import Foundation
import FusionAuth

/// Plays the world around a machine by hand: one input, the lines that it answers.
struct MachineDriver {
    private(set) var machine: FusionAuthMachine
    private(set) var lastActions: [MachineAction] = []

    init(
        token: FusionAuthToken? = MachineDriver.token(),
        _ change: (inout FusionAuthMachine.Settings) -> Void = { _ in }
    ) {
        var settings = FusionAuthMachine.Settings(schemeCode: "FA1", keyPrefix: "k")
        settings.deviceId = "device"
        change(&settings)
        machine = FusionAuthMachine(token: token, settings)
    }

    /// Its signature is the gateway's to judge, and here there is none.
    static func token(_ scheme: String = "FA1", name: String = "1") -> FusionAuthToken {
        let claims = Data(#"{"sub":"\#(scheme)","exp":2000000000,"jti":"\#(name)"}"#.utf8)
        let text = claims.base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
        return FusionAuthToken("e30.\(text.replacing("/", with: "_")).signature")
    }

    mutating func take(_ input: MachineInput) -> [String] {
        lastActions = machine.handle(input)
        return lastActions.map(Lines.of)
    }

    // MARK: What was asked last

    var request: FusionAuthRequest? {
        lastActions.lazy.reversed().compactMap {
            if case .send(_, let request) = $0 { request } else { nil }
        }.first
    }

    mutating func id(_ find: (MachineAction) -> Int?) -> Int {
        lastActions.lazy.reversed().compactMap(find).first ?? -1
    }

    private(set) var sendID = -1
    private(set) var wakeID = -1

    /// Remembers the ids of a send and of a pause, which later inputs name.
    mutating func note() {
        for action in lastActions {
            if case .send(let id, _) = action { sendID = id }
            if case .wake(let id, _) = action { wakeID = id }
        }
    }

    mutating func does(_ input: MachineInput) -> [String] {
        let lines = take(input)
        note()
        return lines
    }

    // MARK: Answers

    mutating func answers(_ value: some Encodable, status: Int = 200) -> [String] {
        let body = (try? JSONEncoder().encode(value)) ?? Data()
        return does(.answered(sendID, .success(FusionAuthResponse(status: status, body: body))))
    }

    mutating func refuses(_ status: Int, _ code: String, wait: Int64? = nil) -> [String] {
        var problem = Wire.Problem()
        problem.code = code
        problem.detail = "no"
        problem.requestId = "R-1"
        problem.retryAfterMilliseconds = wait
        return answers(problem, status: status)
    }

    mutating func failsToSend(_ failure: FusionAuthTransportFailure) -> [String] {
        does(.answered(sendID, .failure(failure)))
    }

    /// From the activation to a good token that expires in half an hour.
    mutating func becomeActive() {
        _ = does(.activate)
        let ask = id { if case .askToken(let id) = $0 { id } else { nil } }
        _ = does(.tokenGiven(ask, Self.token()))
        _ = answers(Self.session())
    }

    static func session(secondsLeft: Int64 = 1_800, scheme: String = "FA1") -> Wire.Session {
        let now: Int64 = 1_800_000_000_000
        let nodes = [
            Wire.TemplateNode(nodeId: "300000100001001", kind: 2_000_001 + 2, enabled: true)
        ]
        return Wire.Session(
            schemeCode: scheme, platform: "ios", app: "com.example.app", issuedAtMilliseconds: now,
            expiresAtMilliseconds: now + secondsLeft * 1_000, serverTimeMilliseconds: now,
            templates: ["100001", "100002", "100003", "100004", "100005"].map {
                Wire.Template(templateId: $0, name: "n", configVersion: 1, nodes: nodes)
            })
    }

    // MARK: Views

    static func view(
        _ step: Int, _ codes: [Int] = [], node: Wire.NodeView? = nil, mask: String? = nil,
        key: String? = nil
    ) -> Wire.SceneView {
        var view = Wire.SceneView(
            runId: "run_1", templateId: "100001", step: step, resultCodes: codes, node: node)
        view.maskToken = mask
        view.runKey = key
        return view
    }

    static func ended(_ state: Wire.RunState, _ code: Int, step: Int) -> Wire.SceneView {
        var view = view(step, [code])
        view.state = state
        view.endCode = code
        return view
    }

    static func numberAuth() -> Wire.NodeView {
        Wire.NodeView(nodeId: "300000100001004", kind: 2_000_001, nodeName: "numberAuth")
    }

    static func sms(
        _ change: (inout Wire.NodeView) -> Void = { _ in }
    ) -> Wire.NodeView {
        var node = Wire.NodeView(
            nodeId: "300000100001005", kind: 2_000_005, nodeName: "verifyCodeAuth")
        node.numberInput = "typed"
        node.codeLength = 6
        change(&node)
        return node
    }

    static func upgoing() -> Wire.NodeView {
        var node = Wire.NodeView(
            nodeId: "300000100001007", kind: 2_000_006, nodeName: "upGoingAuth")
        node.upgoing = Wire.Upgoing(text: "V 1", receivingNumber: "10690")
        return node
    }

    var pageID: Int { machine.currentPage?.id ?? -1 }

    mutating func press(_ input: PageInput) -> [String] { does(.page(pageID, input)) }

    /// A scene that stands at `node`, its page shown.
    mutating func stand(at node: Wire.NodeView, template: String = "100001") {
        becomeActive()
        _ = does(.start(templateId: template))
        _ = answers(Self.view(1, [700_001], node: node, key: "key"), status: 201)
        _ = does(.presented(pageID, true))
    }
}
