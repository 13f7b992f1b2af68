import Foundation
import FusionAuth
import Testing
import handset

@Suite("Scenes that end badly", .timeLimit(.minutes(1)))
struct SceneFailureTests {
    private static let upgoingFails = [
        "event 610003", "event 600007", "success upGoingAuth 600007",
        "app: not verified: was the SMS sent?", "event 610001", "event 200001", "finish 200001",
        "app is done",
    ]

    /// At the up-going page of a template, by way of a risky number.
    private func atUpgoing(_ templateId: String, number: String? = Stage.number) async throws
        -> Stage
    {
        let stage = Stage(number: number, carrier: FakeCarrier(offer: .failure(Self.noSIM)))
        stage.gateway.with { $0.refusals = [500_010] }
        await stage.start(templateId, until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: page.state.takesNumber ? Stage.number : nil)
        await stage.transcript.wait(for: "event 600003")
        return stage
    }

    private static let noSIM = CarrierFailure(.noSIM, "no SIM")

    @Test(
        "every template: the SMS was never sent, and no way is left",
        arguments: ["100001", "100002", "100003", "100004", "100005"])
    func nothingHelps(_ templateId: String) async throws {
        let stage = try await atUpgoing(templateId)
        try #require(stage.upGoing).alreadySent()
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "event 500010") == [
                "failed verifyCodeAuth 500010", "app: no code can be sent to this number now",
                "event 510001", "event 200002", "event 600001", "event 600003",
            ] + Self.upgoingFails)
        #expect(stage.gateway.faults == [])
    }

    @Test(
        "every template: back on the SMS page", arguments: ["100002", "100003", "100004", "100005"])
    func back(_ templateId: String) async throws {
        let stage = Stage(number: Stage.number)
        await stage.start(templateId, until: "event 500005")
        try #require(stage.smsCode).back()
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "event 500005")
                == ["event 510004", "event 510001", "finish 510001", "app is done"])
    }

    @Test("one click: refused, so the code by SMS")
    func oneClickRefused() async throws {
        let stage = Stage()
        stage.server.state.with { $0.verdicts = [.refused] }
        await stage.start("100001", until: "event 400003")
        let page = try #require(stage.numberAuth)
        page.setChecked(true)
        page.login()
        await stage.transcript.wait(for: "event 500005")
        #expect(
            stage.lines(after: "success numberAuth 400006/1600000") == [
                "app: one-click login failed", "event 400005", "event 200002", "event 500001",
                "event 500005",
            ])
    }

    @Test("an app server's answer without a result: the next node, but not from the SMS page")
    func noAnswer() async throws {
        let stage = Stage()
        stage.server.state.with { $0.verdicts = [.noAnswer, .noAnswer] }
        await stage.start("100001", until: "event 400003")
        let first = try #require(stage.numberAuth)
        first.setChecked(true)
        first.login()
        await stage.transcript.wait(for: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: Stage.number)
        await stage.transcript.wait(for: "event 500007")
        page.submit(code: "123456")
        await stage.transcript.wait(for: "success verifyCodeAuth 500013")
        // The page stays; the person does it again.
        page.submit(code: "123456")
        await stage.transcript.wait(for: "app: login successful")
        #expect(
            stage.lines(after: "success verifyCodeAuth 500013").prefix(4) == [
                "event 510003", "event 500013", "success verifyCodeAuth 500013",
                "app: login successful",
            ])
    }

    @Test("an app server that fails stops the scene")
    func serverError() async throws {
        let stage = Stage()
        stage.server.state.with { $0.verdicts = [.serverError("down")] }
        await stage.start("100001", until: "event 400003")
        let page = try #require(stage.numberAuth)
        page.setChecked(true)
        page.login()
        await stage.transcript.wait(for: "app is done")
        await stage.transcript.wait(for: "app: down")
        #expect(
            stage.lines(after: "success numberAuth 400006/1600000").filter { $0 != "app: down" }
                == ["event 400005", "event 100004", "finish 100004", "app is done"])
    }

    @Test("a number that is none: a message and nothing else")
    func shortNumber() async throws {
        let stage = Stage()
        stage.server.state.with { $0.verdicts = [.pass(number: "1380000000")] }
        await stage.start("100004", until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: Stage.number)
        await stage.transcript.wait(for: "event 500007")
        page.submit(code: "123456")
        await stage.transcript.wait(for: "app: failed to get the phone number")
        #expect(stage.handler.currentTemplateId == "100004" && stage.app.state.number == nil)
    }

    @Test("100003 and 100005: a PASS for another number is none", arguments: ["100003", "100005"])
    func anotherNumber(_ templateId: String) async throws {
        let stage = Stage(number: Stage.number)
        stage.server.state.with { $0.verdicts = [.pass(number: "+8613911111111")] }
        await stage.start(templateId, until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: page.state.takesNumber ? Stage.number : nil)
        await stage.transcript.wait(for: "event 500007")
        page.submit(code: "123456")
        await stage.transcript.wait(for: "event 600003")
        #expect(
            stage.lines(after: "event 500007").suffix(5) == [
                "app: verification failed", "event 510001", "event 200002", "event 600001",
                "event 600003",
            ])
        #expect(stage.app.state.number == Stage.number)
    }

    @Test("100002: a wrong code half-way leaves the page, and the block is not called")
    func halfwayRefused() async throws {
        let stage = Stage(number: Stage.number)
        await stage.start("100002", until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send()
        await stage.transcript.wait(for: "event 500007")
        page.submit(code: "000000")
        await stage.transcript.wait(for: "app: the code is wrong or has expired")
        #expect(stage.handler.currentPage?.state.isHalfway == true)
        page.submit(code: "123456")
        await stage.transcript.wait(for: "event 500005", 2)
        #expect(stage.gateway.faults == [])
    }

    @Test("100002: half-way, an app server that fails stops the scene")
    func halfwayServerError() async throws {
        let stage = Stage(number: Stage.number)
        stage.server.state.with { $0.verdicts = [.serverError("down")] }
        try await stage.typeHalfway()
        await stage.transcript.wait(for: "app is done")
        await stage.transcript.wait(for: "app: down")
        #expect(
            stage.lines(after: "half-way verifyCodeAuth 500013").filter { $0 != "app: down" }
                == ["event 510001", "event 100004", "finish 100004", "app is done"])
    }

    @Test("100002: half-way, an answer without a result leaves the page as it is")
    func halfwayNoAnswer() async throws {
        let stage = Stage(number: Stage.number)
        stage.server.state.with { $0.verdicts = [.noAnswer] }
        try await stage.typeHalfway()
        await stage.transcript.wait(for: "app: the code is wrong or has expired")
        stage.smsCode?.submit(code: "123456")
        await stage.transcript.wait(for: "app: old number verified")
    }

    @Test("100002 in quick access: the mask token is shown half-way, and the scene ends there")
    func halfwayByHand() async throws {
        let stage = Stage(number: Stage.number, isQuick: true)
        try await stage.typeHalfway()
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "half-way verifyCodeAuth 500013") == [
                "app: check this mask token by hand: mask-1", "event 510001", "event 100004",
                "finish 100004", "app is done",
            ])
    }

    @Test("a pre-filled page without a number: 500004, and the app stops")
    func noNumber() async throws {
        let stage = Stage(number: nil)
        await stage.start("100005", until: "app is done")
        #expect(
            stage.lines(after: "app is active") == [
                "event 700001", "event 200002", "event 500001", "event 500003",
                "number? 500003", "event 500004", "failed verifyCodeAuth 500004",
                "app: the phone number is not known", "event 100004", "finish 100004",
                "app is done",
            ])
    }

    @Test("an SMS that could not be sent: a message, and the page stays")
    func notSent() async throws {
        let stage = Stage()
        stage.gateway.with { $0.refusals = [500_008] }
        await stage.start("100004", until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: Stage.number)
        await stage.transcript.wait(for: "app: the code could not be sent")
        page.send()
        await stage.transcript.wait(for: "event 500007")
        #expect(stage.gateway.faults == [])
    }

    @Test("the network goes for good: the scene can still be left")
    func networkGone() async throws {
        let stage = Stage()
        await stage.start("100004", until: "event 500005")
        let page = try #require(stage.smsCode)
        stage.gateway.with { $0.isDown = true }
        page.send(number: Stage.number)
        await stage.transcript.wait(for: "app: 800001, there is no network")
        #expect(
            stage.lines(after: "event 500005") == [
                "event 510002", "event 800001", "event 800001", "event 800001",
                "event 800001 no_network", "interrupt 800001 no_network",
                "app: 800001, there is no network",
            ])
        stage.handler.stopScene(templateId: "100004")
        await stage.transcript.wait(for: "app is done")
        #expect(stage.transcript.lines.contains("finish 100004 stopped"))
    }

    @Test("quick access: the mask token is shown, to be checked by hand")
    func quick() async throws {
        let stage = Stage(isQuick: true)
        await stage.start("100001", until: "event 400003")
        let page = try #require(stage.numberAuth)
        page.setChecked(true)
        page.login()
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "success numberAuth 400006/1600000") == [
                "app: check this mask token by hand: mask-1", "event 400005", "event 100004",
                "finish 100004", "app is done",
            ])
    }
}

extension Stage {
    /// Up to the right code of the old number.
    fileprivate func typeHalfway() async throws {
        await start("100002", until: "event 500005")
        let page = try #require(smsCode)
        page.send()
        await transcript.wait(for: "event 500007")
        page.submit(code: "123456")
    }
}
