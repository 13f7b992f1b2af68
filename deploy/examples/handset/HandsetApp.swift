import Foundation
package import FusionAuth

/// The app of the original's demo, without its views: how long its handler lives, and what it does
/// on each callback. Everything else in this folder stands for what surrounds an app.
package final class HandsetApp: FusionAuthDelegate {
    package struct Account: Sendable {
        package var number: String?
        package var isActive = false
        package var retriesLeft = HandsetApp.retriesMax
    }

    package static let retriesMax = 3

    /// nil: quick access, where the mask token is checked by hand.
    let server: (any AppServer)?
    /// In quick access; nil: the token is shown, and the scene ends there.
    let hand: (any MaskTokenCheck)?
    private let pastedToken: FusionAuthToken?
    let screen: any Screen
    let passwordPageDelay: Duration
    let account = Guarded(Account())

    package init(
        server: (any AppServer)?, pastedToken: FusionAuthToken? = nil,
        hand: (any MaskTokenCheck)? = nil, number: String? = nil, screen: any Screen,
        passwordPageDelay: Duration = .milliseconds(500)
    ) {
        self.server = server
        self.hand = hand
        self.pastedToken = pastedToken
        self.screen = screen
        self.passwordPageDelay = passwordPageDelay
        account.with { $0.number = number }
    }

    package var state: Account { account.with { $0 } }

    // MARK: Token

    package func onSDKTokenUpdate(_ handler: FusionAuthHandler) -> FusionAuthToken? {
        // May wait: this thread is the SDK's, and not the main one.
        Blocking.wait { await self.fetchToken() }
    }

    private func fetchToken() async -> FusionAuthToken? {
        guard let server else { return pastedToken }
        return try? await FusionAuthToken(server.authToken())
    }

    package func onSDKTokenAuthSuccess(_ handler: FusionAuthHandler) {
        account.with {
            $0.isActive = true
            $0.retriesLeft = Self.retriesMax
        }
        screen.becameActive()
    }

    package func onSDKTokenAuthFailure(
        _ handler: FusionAuthHandler, failToken: FusionAuthToken?, error: FusionAuthEvent
    ) {
        let mayRetry = account.with { account in
            account.isActive = false
            account.retriesLeft -= 1
            guard account.retriesLeft < 0 else { return true }
            account.retriesLeft = Self.retriesMax
            return false
        }
        guard mayRetry else {
            handler.destroy()
            return screen.gaveUp()
        }
        Task {
            guard let token = await fetchToken() else {
                return onSDKTokenAuthFailure(handler, failToken: nil, error: error)
            }
            handler.updateToken(token)
        }
    }

    // MARK: Verification

    package func onVerifySuccess(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
        event: FusionAuthEvent
    ) {
        Task {
            let templateId = event.templateId
            let staysOnPage = nodeName == .verifyCodeAuth
            switch await ask(maskToken) {
            case .pass(let number): passed(handler, templateId, number)
            case .refused:
                screen.show(Self.refusal(nodeName))
                goOn(handler, templateId, staysOnPage)
            case .noAnswer: goOn(handler, templateId, staysOnPage)
            case .serverError(let error): stop(handler, templateId, error)
            case .byHand: stopForTheHand(handler, templateId, maskToken)
            }
        }
    }

    package func onHalfwayVerifySuccess(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, maskToken: String,
        event: FusionAuthEvent, resultBlock: @escaping @Sendable (Bool) -> Void
    ) {
        Task {
            switch await ask(maskToken) {
            case .pass:
                screen.show("old number verified")
                resultBlock(true)
            case .refused, .noAnswer:
                // The block stays open: the code may be typed again.
                screen.show(Self.refusal(nodeName))
                screen.leavesItToThePerson()
            case .serverError(let error): stop(handler, event.templateId, error)
            case .byHand: stopForTheHand(handler, event.templateId, maskToken)
            }
        }
    }

    /// After anything but a PASS. A code may be typed again; every other node is over.
    private func goOn(_ handler: FusionAuthHandler, _ templateId: String, _ staysOnPage: Bool) {
        if staysOnPage {
            screen.leavesItToThePerson()
        } else {
            handler.continueScene(templateId: templateId, isSuccess: false)
        }
    }

    private func stop(_ handler: FusionAuthHandler, _ templateId: String, _ error: String) {
        handler.stopScene(templateId: templateId)
        screen.show(error)
    }

    private func stopForTheHand(
        _ handler: FusionAuthHandler, _ templateId: String, _ maskToken: String
    ) {
        screen.show("check this mask token by hand: \(maskToken)")
        screen.leavesItToTheHand()
        handler.stopScene(templateId: templateId)
    }

    // MARK: The rest

    package func onTemplateFinish(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
        handler.stopScene(templateId: event.templateId)
        screen.finished(event)
    }

    package func onGetPhoneNumberForVerification(
        _ handler: FusionAuthHandler, event: FusionAuthEvent
    ) -> String? { state.number }

    package func onProtocolClick(
        _ handler: FusionAuthHandler, protocolName: String, protocolUrl: String,
        event: FusionAuthEvent
    ) { screen.open(protocolUrl) }

    package func onVerifyInterrupt(_ handler: FusionAuthHandler, event: FusionAuthEvent) {
        switch event.resultCode {
        case .startLoading: screen.setLoading(true)
        case .endLoading: screen.setLoading(false)
        default:
            screen.show("\(event.resultCode.value), \(event.resultMsg)")
            screen.leavesItToThePerson()
        }
    }
}
