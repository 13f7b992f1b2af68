import Bus
import Effects
import Messages
import Primitives
import TestKit

/// What people do to the house in one run, and the rules that each of them checks while doing it.
package struct Workloads: Sendable {
    let house: House
    let answers: AnswerBook
    let schemeCode: String
    private var world: World { house.world }

    private func person() -> Person { Person(house, answers) }

    // MARK: Rules 2 and 6: guessing and sending in parallel

    /// Five guessers at once on one number: at most five wrong guesses are evaluated in the hour,
    /// and
    /// then the right code is refused too.
    func guess(_ number: String) async {
        let person = person()
        guard
            case .success = await person.ask(
                SendCode(schemeCode: schemeCode, purpose: "login", number: number),
                key: person.fresh("send")),
            let right = await person.newestCode(number)
        else { return }
        let base = Int(right) ?? 0
        let wrong = (1...12).map { offset in
            let text = String((base + offset * 7919) % 1_000_000)
            return String(repeating: "0", count: 6 - text.count) + text
        }
        let outcomes = await withTaskGroup(of: CodeResult?.self) { group in
            for code in wrong {
                group.addTask {
                    let check = CheckCode(
                        schemeCode: schemeCode, purpose: "login", number: number, code: code)
                    return try? await person.ask(check, key: person.fresh("guess"))?.get().result
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let evaluated = outcomes.filter { $0 == .rejected || $0 == .exhausted }.count
        let rejected = outcomes.filter { $0 == .rejected }.count
        if rejected > 5 { world.violate("rule 2", "\(rejected) wrong guesses were evaluated") }
        if outcomes.contains(.accepted) { world.violate("rule 2", "a wrong guess was accepted") }
        world.tally("wrong guesses evaluated", rejected)
        guard evaluated >= 6 else { return }
        let check = CheckCode(
            schemeCode: schemeCode, purpose: "login", number: number, code: right)
        let late = await person.ask(check, key: person.fresh("right"))
        if case .success(let checked) = late, checked.result == .accepted {
            world.violate("rule 2", "the right code passed after the guesses were used up")
        }
    }

    /// Eight sends at once to one number: the cool-down lets exactly one through, and the phone
    /// gets
    /// exactly one message.
    func flood(_ number: String) async {
        let person = person()
        let outcomes = await withTaskGroup(of: Bool?.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let send = SendCode(
                        schemeCode: schemeCode, purpose: "p\(index)", number: number)
                    guard let outcome = await person.ask(send, key: person.fresh("flood")) else {
                        return nil
                    }
                    if case .success = outcome { return true }
                    return false
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let accepted = outcomes.filter { $0 == true }.count
        if accepted > 1 { world.violate("rule 6", "\(accepted) of 8 parallel sends went out") }
        if accepted == 0, !outcomes.contains(nil) {
            world.violate("rule 6", "none of 8 parallel sends went out")
        }
        world.tally("sends accepted", accepted)
        guard accepted == 1 else { return }
        do { try await world.clock.wait(.seconds(30)) } catch { return }
        let arrived = await person.codes(number).count
        if arrived > 1 { world.violate("rule 6", "\(arrived) messages for one accepted send") }
    }

    // MARK: Rules 1 and 7: a login scene, its mask token asked many times over

    /// Logs in by SMS code. - Returns: whether the run ended passed.
    package func login(_ number: String, device: String) async -> Bool {
        let person = person()
        guard let token = await issueToken(person) else { return false }
        let start = StartScene(
            authToken: token, templateId: "100001", deviceId: device,
            capabilities: ClientCapabilities(numberAuth: false))
        guard case .success(let began) = await person.ask(start, key: person.fresh("start")),
            let runKey = began.runKey, began.state == .waiting
        else { return false }
        func submit(_ input: NodeInput, _ step: Int, _ name: String) async -> SceneView? {
            let submit = SubmitInput(
                authToken: token, runId: began.runId, runKey: runKey, step: step, input: input)
            return try? await person.ask(submit, key: person.fresh(name))?.get()
        }
        guard let sent = await submit(NodeInput(send: true, number: number), began.step, "send"),
            let code = await person.newestCode(number),
            let won = await submit(NodeInput(code: code), sent.step, "code"),
            let maskToken = won.maskToken
        else { return false }
        let passes = await verifyManyTimes(person, maskToken)
        guard passes == 1 else { return false }
        let end = ContinueScene(
            authToken: token, runId: began.runId, runKey: runKey, step: won.step,
            isSuccess: true)
        guard case .success(let ended) = await person.ask(end, key: person.fresh("continue"))
        else { return false }
        await mustStayEnded(person, token, began.runId, runKey, ended)
        return ended.state == .passed
    }

    private func issueToken(_ person: Person) async -> Secret<String>? {
        let issue = IssueAuthToken(
            schemeCode: schemeCode, platform: .ios, bundleId: "com.example.app",
            durationSeconds: 3600)
        guard case .success(let issued) = await person.ask(issue, key: person.fresh("issue")) else {
            return nil
        }
        return Secret(issued.authToken)
    }

    /// Four app servers ask at once, each under its own key, each repeating. - Returns: distinct
    /// PASS.
    private func verifyManyTimes(_ person: Person, _ maskToken: Secret<String>) async -> Int {
        func verify(_ key: String) async -> Bool? {
            for attempt in 0..<8 {
                let outcome = await person.ask(
                    VerifyMaskToken(maskToken: maskToken), key: "\(key)/\(attempt)")
                guard case .success(let verified) = outcome else { return nil }
                if verified.result == .pass { return true }
                guard verified.reason == .tryAgain else { return false }
                do { try await world.clock.wait(.milliseconds(500)) } catch { return nil }
            }
            return nil
        }
        let outcomes = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<4 {
                let key = person.fresh("verify")
                group.addTask { await verify(key) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let passes = outcomes.filter { $0 == true }.count
        world.tally("PASS given", passes)
        if passes > 1 { world.violate("rule 1", "\(passes) PASS for one mask token") }
        return passes
    }

    private func mustStayEnded(
        _ person: Person, _ token: Secret<String>, _ runId: RunID, _ runKey: Secret<String>,
        _ ended: SceneView
    ) async {
        for isSuccess in [true, false] {
            let late = ContinueScene(
                authToken: token, runId: runId, runKey: runKey, step: ended.step,
                isSuccess: isSuccess)
            _ = await person.ask(late, key: person.fresh("late"))
        }
        let get = GetScene(runId: runId, authToken: token, runKey: runKey)
        guard case .success(let view) = await person.ask(get, key: person.fresh("get")) else {
            return
        }
        world.tally("ends looked at again", 1)
        if view.state != ended.state || view.endCode != ended.endCode {
            world.violate("rule 7", "a run left its end \(ended.state) for \(view.state)")
        }
    }

    // MARK: Rule 12: what was answered stays

    /// A challenge that was answered is there for as long as its code lives.
    func mustBeRemembered(_ number: String) async {
        let person = person()
        let send = SendCode(schemeCode: schemeCode, purpose: "keep", number: number)
        guard case .success(let sent) = await person.ask(send, key: person.fresh("keep")),
            let challengeId = sent.challengeId
        else { return }
        do { try await world.clock.wait(.seconds(20)) } catch { return }
        world.tally("challenges looked for", 1)
        let status = await person.ask(
            GetCodeStatus(challengeId: challengeId), key: person.fresh("status"))
        if case .failure(let failure) = status, failure.code == .challengeNotFound {
            world.violate("rule 12", "a challenge that was answered is gone")
        }
    }
}
