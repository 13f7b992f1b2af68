import Messages

/// One story of the demo: a template, what the person does, and how the run should end.
struct DemoCase: Sendable, Hashable {
    let templateId: String
    let script: DemoScript
    let expected: RunState
}

enum DemoScript: String, Sendable, CaseIterable {
    /// The carrier names the number.
    case oneClick = "one_click"
    /// A code by SMS.
    case smsCode = "sms_code"
    /// The person sends an SMS.
    case upGoing = "up_going"
    /// The old number by SMS half-way, then the new one.
    case halfway
    /// A wrong code, then nothing else helps.
    case wrongCode = "wrong_code"
    /// No cellular data, then a provider that refuses, then an up-going SMS.
    case carrierToSMSToUpgoing = "carrier_to_sms_to_up_going"
    /// The app claims success without a PASS.
    case continueRefused = "continue_refused"
}

extension DemoCase {
    /// Every template passes at least once and fails at least once.
    static let all: [DemoCase] = [
        DemoCase(templateId: "100001", script: .oneClick, expected: .passed),
        DemoCase(templateId: "100001", script: .smsCode, expected: .passed),
        DemoCase(templateId: "100001", script: .upGoing, expected: .passed),
        DemoCase(templateId: "100001", script: .carrierToSMSToUpgoing, expected: .passed),
        DemoCase(templateId: "100001", script: .wrongCode, expected: .failed),
        DemoCase(templateId: "100001", script: .continueRefused, expected: .stopped),
        DemoCase(templateId: "100002", script: .halfway, expected: .passed),
        DemoCase(templateId: "100002", script: .wrongCode, expected: .failed),
        DemoCase(templateId: "100002", script: .continueRefused, expected: .stopped),
        DemoCase(templateId: "100003", script: .smsCode, expected: .passed),
        DemoCase(templateId: "100003", script: .upGoing, expected: .passed),
        DemoCase(templateId: "100003", script: .wrongCode, expected: .failed),
        DemoCase(templateId: "100004", script: .smsCode, expected: .passed),
        DemoCase(templateId: "100004", script: .wrongCode, expected: .failed),
        DemoCase(templateId: "100005", script: .smsCode, expected: .passed),
        DemoCase(templateId: "100005", script: .upGoing, expected: .passed),
        DemoCase(templateId: "100005", script: .wrongCode, expected: .failed),
    ]

    /// Templates in which the app server knows the account's number.
    private var hasBoundNumber: Bool {
        ["100002", "100003", "100005"].contains(templateId)
    }

    /// How a person signs in before a story that needs an account.
    static let login = DemoCase(templateId: "100001", script: .oneClick, expected: .passed)

    func play(_ play: DemoPlay) async throws {
        try await self.play(play, play.freshNumber())
    }

    func play(_ play: DemoPlay, _ number: String) async throws {
        try await play.start(boundNumber: hasBoundNumber ? number : nil)
        switch script {
        case .oneClick: try await oneClick(play, number)
        case .smsCode: try await smsCode(play, number)
        case .upGoing: try await upGoing(play, number)
        case .halfway: try await halfway(play, number)
        case .wrongCode: try await wrongCode(play, number)
        case .carrierToSMSToUpgoing: try await fallBackTwice(play, number)
        case .continueRefused: try await continueRefused(play, number)
        }
    }

    private func oneClick(_ play: DemoPlay, _ number: String) async throws {
        let sim = try await play.makeSIM(number, fault: .none)
        let token = try await play.fetchCarrierToken(sim)
        try await play.submit(NodeInput(carrierToken: token))
        try await play.verify(.pass, number: number)
        try await play.continueRun(true)
    }

    private func smsCode(_ play: DemoPlay, _ number: String) async throws {
        try await leaveNumberAuth(play)
        try await sendAndType(play, number)
        try await play.verify(.pass, number: number)
        try await play.continueRun(true)
    }

    private func upGoing(_ play: DemoPlay, _ number: String) async throws {
        try await leaveNumberAuth(play)
        try await play.continueRun(false)
        try await proveUpgoing(play, number)
    }

    private func halfway(_ play: DemoPlay, _ oldNumber: String) async throws {
        try await sendAndType(play, oldNumber)
        try await play.verify(.pass, number: oldNumber)
        try await play.halfway(true)
        let newNumber = play.freshNumber()
        try await sendAndType(play, newNumber)
        try await play.verify(.pass, number: newNumber)
        try await play.continueRun(true)
    }

    private func wrongCode(_ play: DemoPlay, _ number: String) async throws {
        try await leaveNumberAuth(play)
        try await sendAndType(play, number, isWrong: true)
        try await play.verify(.unknown, reason: .codeRejected)
        try await play.continueRun(false)
        // The person says it was sent, and it was not.
        try await play.submit(NodeInput(sent: true))
        try await play.verify(.unknown, reason: .notReceived)
        try await play.continueRun(false)
    }

    private func fallBackTwice(_ play: DemoPlay, _ number: String) async throws {
        let sim = try await play.makeSIM(number, fault: .noCellularData)
        try await play.submit(NodeInput(failed: try await play.failCarrierToken(sim)))
        try await play.continueRun(false)
        try await play.putFault(number, .refused)
        try await play.submit(NodeInput(send: true, number: number))
        try await play.putFault(number, .none)
        try await play.continueRun(false)
        try await proveUpgoing(play, number)
    }

    private func continueRefused(_ play: DemoPlay, _ number: String) async throws {
        try await leaveNumberAuth(play)
        try await sendAndType(play, number, isWrong: true)
        try await play.verify(.unknown, reason: .codeRejected)
        try await play.claimWithoutPass()
        try await play.stop()
    }

    // MARK: Steps

    /// Only 100001 begins with number authentication; the person presses the other button.
    private func leaveNumberAuth(_ play: DemoPlay) async throws {
        guard try play.node().kind == .numberAuth else { return }
        try await play.submit(NodeInput(otherLogin: true))
    }

    private func sendAndType(
        _ play: DemoPlay, _ number: String, isWrong: Bool = false
    ) async throws {
        let isTyped = try play.node().numberInput == .typed
        try await play.submit(NodeInput(send: true, number: isTyped ? number : nil))
        let code = try await play.readCode(of: number)
        try await play.submit(NodeInput(code: isWrong ? Self.another(than: code) : code))
    }

    private func proveUpgoing(_ play: DemoPlay, _ number: String) async throws {
        guard let upgoing = try play.node().upgoing else {
            throw DemoSurprise("the up-going node says no text to send")
        }
        try await play.submit(NodeInput(sent: true))
        try await play.verify(.unknown, reason: .notReceived)
        try await play.sendMobileOriginated(from: number, to: upgoing)
        try await play.verify(.pass, number: number)
        try await play.continueRun(true)
    }

    /// Differs in its last digit.
    static func another(than code: String) -> String {
        guard let last = code.last?.wholeNumberValue else { return code + "0" }
        return code.dropLast() + String((last + 1) % 10)
    }
}

/// The system answered something else than the story says.
struct DemoSurprise: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
