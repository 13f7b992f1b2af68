package import FusionAuth

/// What the app does with the word of its server, and with a failure.
extension HandsetApp {
    /// Of a phone number.
    private static let digitsMin = 11

    func ask(_ maskToken: String) async -> Verdict {
        screen.setLoading(true)
        defer { screen.setLoading(false) }
        if let server { return await server.verify(maskToken) }
        return await hand?.verdict(on: maskToken) ?? .byHand
    }

    static func refusal(_ nodeName: FusionAuthNodeName) -> String {
        switch nodeName {
        case .numberAuth: "one-click login failed"
        case .upGoingAuth: "not verified: was the SMS sent?"
        case .verifyCodeAuth, .graphAuth, .deviceSecurity: "the code is wrong or has expired"
        }
    }

    func passed(_ handler: FusionAuthHandler, _ templateId: String, _ number: String) {
        guard number.count >= Self.digitsMin else {
            screen.show("failed to get the phone number")
            return screen.leavesItToThePerson()
        }
        let isStored = number == state.number
        func accept(_ message: String) {
            account.with { $0.number = number }
            screen.show(message)
            handler.stopScene(templateId: templateId)
        }
        switch (templateId, isStored) {
        case ("100001", _): accept("login successful")
        case ("100002", _): accept("phone number updated")
        case ("100003", true):
            accept("verified, you can change your password")
            Task {
                try? await Task.sleep(for: passwordPageDelay)
                screen.open("password")
            }
        case ("100004", _): accept("new number bound")
        case ("100005", true): accept("verified")
        default:
            screen.show("verification failed")
            handler.continueScene(templateId: templateId, isSuccess: false)
        }
    }

    package func onVerifyFailed(
        _ handler: FusionAuthHandler, nodeName: FusionAuthNodeName, event: FusionAuthEvent
    ) {
        guard nodeName == .verifyCodeAuth else {
            return handler.continueScene(templateId: event.templateId, isSuccess: false)
        }
        screen.show(event.resultMsg)
        switch event.resultCode {
        case .verifyCodeFrequency, .verifyCodeRisk:
            handler.continueScene(templateId: event.templateId, isSuccess: false)
        case .verifyCodeAutoNumberShowFail: handler.stopScene(templateId: event.templateId)
        default: screen.leavesItToThePerson()
        }
    }
}
