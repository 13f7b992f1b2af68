import Bus
import Messages
import Primitives
import Storage

/// A code by SMS: `{send, number?}` sends it, `{code}` turns what was typed into a mask token
/// without comparing it.
struct SMSCodeNode: WaitingNode {
    static let kind = NodeKind.smsCode

    enum Code {
        static let sent = 500_007
        static let notSent = 500_008
        static let frequency = 500_009
        static let risk = 500_010
        static let checkedTokenWon = 500_011
        static let checkedTokenRefused = 500_012
        static let tokenWon = 500_013
        static let tokenRefused = 500_014
        static let notTheAccounts = 500_015
    }

    func take(
        _ input: TypedInput, at node: SceneNode, _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) -> NodeStep {
        if input.input.send == true { return try takeSend(input, at: node, &desk, &rows) }
        guard let code = input.input.code else {
            throw SceneFailure.notExpected("the SMS node takes send or code")
        }
        guard let challengeId = desk.run.sms?.challengeId, let number = desk.run.numbers.current
        else { throw SceneFailure.notExpected("no code was sent yet") }
        guard desk.run.reserveMaskToken() else { throw SceneFailure.maskTokensUsedUp }
        return .ask(
            .guess(challengeId, code: code, ProofTerms(code: number, at: node, desk)))
    }

    private func takeSend(
        _ input: TypedInput, at node: SceneNode, _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) -> NodeStep {
        let number = try recipient(input, at: node, desk)
        if let ordinal = desk.run.openSend(to: number) {
            return .ask(question(number, ordinal, at: node, desk))
        }
        if let refusal = desk.refusesSend(to: number, at: node, &rows) {
            desk.run.hold(until: refusal.retryAt)
            desk.run.fail(node, refusal.resultCode, refusal.reason)
            return .done
        }
        return .ask(question(number, desk.run.beginSend(to: number), at: node, desk))
    }

    /// Whose number the code goes to. The app server's word replaces the client's.
    private func recipient(
        _ input: TypedInput, at node: SceneNode, _ desk: SceneDesk
    ) throws(ServiceFailure) -> PhoneNumber {
        let numbers = desk.run.numbers
        if node.isPrefilled, let bound = numbers.bound { return bound }
        if let typed = input.number { return try typed.get() }
        if let known = numbers.current ?? (node.isPrefilled ? numbers.account : nil) {
            return known
        }
        throw ServiceFailure(.invalidParameters, "is missing", field: "input.number")
    }

    private func question(
        _ number: PhoneNumber, _ ordinal: Int, at node: SceneNode, _ desk: SceneDesk
    ) -> NodeQuestion {
        let (map, facts) = (desk.map, desk.facts)
        // A number that the person typed and that must be checked says nothing of who asks:
        // strangers could use up the owner's budget with it.
        let isOwners = !node.checksNumber && number == desk.run.numbers.bound
        let request = SendCode(
            schemeCode: facts.schemeCode, purpose: map.purpose, number: number.e164,
            codeLength: map.codeLength(node), codeType: map.policy.codeType,
            lifetimeSeconds: map.codeLifetimeSeconds(node),
            cooldownSeconds: map.cooldownSeconds, duplicatePolicy: map.policy.duplicatePolicy,
            locale: facts.locale ?? map.policy.locale,
            appHash: facts.platform == .android ? map.policy.androidAppHash : nil,
            webOTPHost: facts.platform == .web ? map.policy.webOTPHost : nil,
            origin: SendOrigin(
                runId: facts.runId, templateId: facts.templateId,
                toBoundNumber: isOwners ? true : nil, address: desk.run.numbers.address))
        return .send(request, number: number, ordinal: ordinal)
    }

    // MARK: Asking

    func ask(_ question: NodeQuestion, _ call: NodeCall) async throws(ServiceFailure) -> NodeAnswer
    {
        switch question {
        case .send(let request, let number, let ordinal):
            if let threshold = call.map.guardNode(of: call.plan.nodeId)?.settings?.scoreThreshold,
                call.scorer.isOn,
                let score = await call.scorer.score(
                    number: number.e164, schemeCode: call.facts.schemeCode),
                score > threshold
            {
                return .tooRisky
            }
            // Named by the run and not by the request: a person who asks again after an answer was
            // lost gets the first send's outcome.
            var options = call.options("send")
            options.requestKey = "\(call.plan.runId)/\(call.plan.step)/send/\(ordinal)"
            do throws(ServiceFailure) {
                return .sent(try await call.bus.call(request, options))
            } catch {
                return try NodeCall.refusal(error)
            }
        case .guess(let challengeId, let code, let terms):
            let attached: AttachedGuess
            do throws(ServiceFailure) {
                attached = try await call.bus.call(
                    AttachGuess(challengeId: challengeId, runId: call.facts.runId, code: code),
                    call.options("attach"))
            } catch {
                return try NodeCall.refusal(error)
            }
            return try await call.open(
                Evidence(kind: .smsCode, guessId: attached.guessId), terms,
                notAfterMilliseconds: attached.expiresAtMilliseconds)
        case .carrier, .upgoing, .proof: throw question.misplaced
        }
    }

    // MARK: Settling

    func settle(
        _ question: NodeQuestion, _ answer: NodeAnswer, at node: SceneNode,
        _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) {
        switch question {
        case .send(_, let number, let ordinal):
            try settleSend(answer, to: number, ordinal, at: node, &desk, &rows)
        case .guess:
            desk.settleProof(
                answer, at: node,
                won: node.checksNumber ? Code.checkedTokenWon : Code.tokenWon,
                refused: node.checksNumber ? Code.checkedTokenRefused : Code.tokenRefused)
        case .carrier, .upgoing, .proof: throw question.misplaced
        }
    }

    private func settleSend(
        _ answer: NodeAnswer, to number: PhoneNumber, _ ordinal: Int, at node: SceneNode,
        _ desk: inout SceneDesk, _ rows: inout Rows
    ) throws(ServiceFailure) {
        let countedAt = desk.run.settleSend(ordinal)
        switch answer {
        case .sent(let sent):
            // A doubled or late request for a settled send repeats its code and changes nothing.
            guard countedAt != nil else { return desk.run.note("code_sent", node, Code.sent) }
            desk.run.sent(sent, to: number, at: node, Code.sent)
        case .tooRisky: desk.run.fail(node, Code.risk, "number_risk")
        case .refused(let failure):
            if let countedAt { desk.giveBackSend(to: number, countedAt, at: node, &rows) }
            let wait = failure.retryAfterMilliseconds.map { Duration.milliseconds($0) }
            desk.run.hold(until: wait.map { desk.now + $0 })
            desk.run.fail(node, Self.resultCode(failure.code), failure.code.rawValue)
        case .won, .proofJudged: break
        }
    }

    private static func resultCode(_ refusal: ErrorCode) -> Int {
        switch refusal {
        case .cooldown, .numberLimit, .addressLimit, .rateLimited, .tooMany: Code.frequency
        case .guessesExhausted: Code.risk
        default: Code.notSent
        }
    }
}
