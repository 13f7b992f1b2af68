import Foundation
import FusionAuth
import Testing
import handset

@Suite("The life of a handler", .timeLimit(.minutes(1)))
struct HandlerLifeTests {
    @Test("three retries with new tokens, then the handler is given up")
    func givesUp() async {
        let stage = Stage(isTokenGood: false)
        stage.begin()
        await stage.transcript.wait(for: "app gave up")
        let failure = ["event 300003 token_invalid", "token failed 300003 token_invalid"]
        let failures: [String] = failure + failure + failure + failure
        let expected: [String] = ["token?"] + failures + ["app gave up"]
        #expect(stage.transcript.lines == expected)
        #expect(stage.app.state.retriesLeft == HandsetApp.retriesMax)
        #expect(!stage.app.state.isActive)
        stage.handler.startScene(templateId: "100001")
        #expect(stage.transcript.lines.last == "app gave up")
    }

    @Test("a retry that helps: active, and three retries again")
    func recovers() async {
        let stage = Stage()
        stage.server.state.with { $0.tokens = [FusionAuthToken("none"), MachineDriver.token()] }
        stage.begin()
        await stage.transcript.wait(for: "app is active")
        #expect(
            stage.transcript.lines == [
                "token?", "event 300005", "token failed 300005", "event 300002", "token good",
                "app is active",
            ])
        #expect(stage.app.state.retriesLeft == HandsetApp.retriesMax)
    }

    /// Looks whether callbacks overlap, and calls the handler from within.
    private final class Watcher: FusionAuthDelegate {
        struct Seen: Sendable {
            var inside = 0
            var deepest = 0
            var wasOnMain = false
            var count = 0
        }
        let seen = Box(Seen())
        let transcript = Transcript()

        private func callback(_ handler: FusionAuthHandler, _ line: String) {
            seen.with {
                $0.inside += 1
                $0.deepest = max($0.deepest, $0.inside)
                $0.count += 1
            }
            transcript.add(line)
            // Calls from within take effect afterwards.
            handler.continueScene(templateId: "none", isSuccess: true)
            handler.stopScene(templateId: "none")
            seen.with { $0.inside -= 1 }
        }

        func onSDKTokenUpdate(_ handler: FusionAuthHandler) -> FusionAuthToken? {
            seen.with { $0.wasOnMain = Thread.isMainThread }
            return MachineDriver.token()
        }
        func onSDKTokenAuthSuccess(_ handler: FusionAuthHandler) { callback(handler, "good") }
        func onSDKTokenAuthFailure(
            _ handler: FusionAuthHandler, failToken: FusionAuthToken?, error: FusionAuthEvent
        ) { callback(handler, "bad") }
        func onVerifySuccess(
            _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
            event: FusionAuthEvent
        ) { callback(handler, "success") }
        func onHalfwayVerifySuccess(
            _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
            event: FusionAuthEvent, resultBlock: @escaping @Sendable (Bool) -> Void
        ) { callback(handler, "half-way") }
        func onVerifyFailed(
            _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, event: FusionAuthEvent
        ) { callback(handler, "failed") }
        func onTemplateFinish(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
            callback(handler, "finish")
            handler.destroy()
            transcript.add("destroyed")
        }
        func onGetPhoneNumberForVerification(
            _ handler: FusionAuthHandler, event: FusionAuthEvent
        ) -> String? { nil }
        func onProtocolClick(
            _ handler: FusionAuthHandler, protocolName: String, protocolUrl: String,
            event: FusionAuthEvent
        ) {}
        func onVerifyInterrupt(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
            if event.resultCode != .templateNotStart { callback(handler, "interrupt") }
        }
        func onAuthEvent(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
            if event.resultCode != .templateNotStart { callback(handler, Lines.of(event)) }
        }
    }

    @Test("callbacks never overlap, even on a concurrent queue, and none comes after destroy")
    func serial() async throws {
        let stage = Stage()
        let watcher = Watcher()
        stage.handler.setFusionAuthDelegate(watcher)
        await watcher.transcript.wait(for: "good")
        stage.handler.startScene(templateId: "100001")
        await watcher.transcript.wait(for: "400003")
        let page = try #require(stage.numberAuth)
        for _ in 1...50 { page.setChecked(true) }
        page.back()
        await watcher.transcript.wait(for: "destroyed")
        let last = watcher.transcript.lines
        page.login()
        stage.handler.startScene(templateId: "100001")
        stage.handler.updateToken(MachineDriver.token())
        #expect(watcher.transcript.lines == last)
        let seen = watcher.seen.with { $0 }
        #expect(seen.deepest == 1 && !seen.wasOnMain)
    }

    /// Shapes pages, draws them, and writes both down.
    private final class Artist: FusionAuthUIDelegate, FusionAuthPresenter {
        let transcript: Transcript
        let canDraw: Bool

        init(_ transcript: Transcript, canDraw: Bool = true) {
            self.transcript = transcript
            self.canDraw = canDraw
        }

        func onPhoneNumberVerifyUICustomDefined(
            _ handler: FusionAuthHandler, templateId: String, nodeId: String,
            model: inout NumberAuthPageModel
        ) {
            transcript.add("shape \(nodeId)")
            model.checkBoxIsChecked = true
            model.navTitle.text = "Mine"
        }
        func onSMSCodeVerifyUICustomDefined(
            _ handler: FusionAuthHandler, templateId: String, nodeId: String, isAutoInput: Bool,
            view: SMSCodeView
        ) { transcript.add("shape \(nodeId) auto \(isAutoInput)") }
        func onSMSSendVerifyUICustomDefined(
            _ handler: FusionAuthHandler, templateId: String, nodeId: String, smsContent: String,
            receiveNum: String, view: UpGoingView
        ) { transcript.add("shape \(nodeId) \(smsContent) to \(receiveNum)") }
        func onNavigationControllerCustomDefined(
            _ handler: FusionAuthHandler, templateId: String, nodeId: String,
            navigation: inout NavigationModel
        ) {
            transcript.add("bar \(nodeId)")
            navigation.isHidden = true
        }

        func present(_ page: FusionAuthPage) -> Bool {
            if case .numberAuth(let view) = page {
                transcript.add("draw \(view.model.navTitle.text), bar \(!view.navigation.isHidden)")
            } else {
                transcript.add("draw \(page.state.nodeName)")
            }
            return canDraw
        }
        func dismiss(_ page: FusionAuthPage) { transcript.add("gone \(page.state.nodeName)") }
    }

    @Test("each page is shaped, drawn and dismissed, in this order")
    func pages() async throws {
        let stage = Stage()
        stage.begin()
        await stage.transcript.wait(for: "app is active")
        let artist = Artist(stage.transcript)
        stage.handler.startSceneUI(templateId: "100001", presenter: artist, uiDelegate: artist)
        await stage.transcript.wait(for: "event 400003")
        let page = try #require(stage.numberAuth)
        #expect(page.state.isChecked)
        page.otherLogin()
        await stage.transcript.wait(for: "event 500005")
        stage.handler.continueScene(templateId: "100001", isSuccess: false)
        await stage.transcript.wait(for: "event 600003")
        stage.handler.stopScene(templateId: "100001")
        await stage.transcript.wait(for: "app is done")
        let drawn = stage.transcript.lines.filter { line in
            ["shape", "bar", "draw", "gone"].contains { line.hasPrefix($0) }
        }
        #expect(
            drawn == [
                "shape 300000100001004", "bar 300000100001004", "draw Mine, bar false",
                "gone numberAuth", "shape 300000100001005 auto false", "bar 300000100001005",
                "draw verifyCodeAuth", "gone verifyCodeAuth",
                "shape 300000100001007 V 77 to 10690", "bar 300000100001007",
                "draw upGoingAuth", "gone upGoingAuth",
            ])
    }

    @Test("a page that cannot be drawn fails its node, and the app goes on")
    func cannotDraw() async {
        let stage = Stage()
        stage.begin()
        await stage.transcript.wait(for: "app is active")
        let artist = Artist(stage.transcript, canDraw: false)
        stage.handler.startScene(templateId: "100001", presenter: artist)
        await stage.transcript.wait(for: "failed verifyCodeAuth 500006")
        let lines = stage.lines(after: "event 400001").prefix(8)
        #expect(
            lines == [
                "draw One-click Login, bar true", "event 400004", "failed numberAuth 400004",
                "event 200002", "event 500001", "draw verifyCodeAuth", "event 500006",
                "failed verifyCodeAuth 500006",
            ])
    }

    @Test("a handler that is let go ends by itself")
    func released() async {
        let gateway = FakeGateway()
        let watcher = Watcher()
        gateway.with { $0.goodTokens = [MachineDriver.token().authToken] }
        weak var weakHandler: FusionAuthHandler?
        do {
            let settings = FusionAuthMachine.Settings(schemeCode: "FA1", keyPrefix: "k")
            let handler = FusionAuthHandler(
                token: nil, settings,
                FusionAuthSurroundings(
                    transport: gateway, pause: StillPause(), callbacks: OperationQueue(),
                    tokenUpdates: ThreadExecutor(threadsMax: 1)))
            weakHandler = handler
            handler.setFusionAuthDelegate(watcher)
            await watcher.transcript.wait(for: "good")
        }
        // A queue may hold it a moment longer, and nothing else does: else this never ends.
        while weakHandler != nil { await Task.yield() }
    }
}
