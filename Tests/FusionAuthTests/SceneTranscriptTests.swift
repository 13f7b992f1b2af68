import Foundation
import FusionAuth
import Testing
import handset

/// The callbacks of each template, and what the demo's app does on them, before a gateway that is
/// strict about its contract.
@Suite("Scenes that end well", .timeLimit(.minutes(1)))
struct SceneTranscriptTests {
    private static let ended = ["event 110005", "finish 110005", "app is done"]

    @Test("100001: one click")
    func oneClick() async throws {
        let stage = Stage()
        await stage.start("100001", until: "event 400003")
        #expect(
            stage.lines(after: "app is active") == [
                "event 700001", "event 200002", "event 400001", "event 400003",
            ])
        let page = try #require(stage.numberAuth)
        page.setChecked(true)
        page.login()
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "event 400003") == [
                "event 410008/1700003", "event 410008/1700002", "event 400006/1600000",
                "success numberAuth 400006/1600000", "app: login successful", "event 400005",
            ] + Self.ended)
        #expect(stage.app.state.number == Stage.number)
        #expect(stage.handler.currentTemplateId == nil && stage.handler.currentPage == nil)
        #expect(stage.gateway.faults == [])
        // Loading was on during each call, and off in between.
        let loading = stage.transcript.lines.filter { $0.hasPrefix("interrupt 90000") }
        #expect(loading.count { $0.hasSuffix("3") } == loading.count { $0.hasSuffix("4") })
        #expect(loading.first == "interrupt 900003" && loading.last == "interrupt 900004")
    }

    @Test("100001: another way, a wrong code, and the right one")
    func smsCode() async throws {
        let stage = Stage()
        await stage.start("100001", until: "event 400003")
        try #require(stage.numberAuth).otherLogin()
        await stage.transcript.wait(for: "event 500005")
        #expect(
            stage.lines(after: "event 400003") == [
                "event 410009/1700001", "event 400005", "event 200002", "event 500001",
                "event 500005",
            ])
        let page = try #require(stage.smsCode)
        #expect(page.state.takesNumber && page.codeLength == 6)
        page.send(number: "+86 138 0000 0000")
        await stage.transcript.wait(for: "event 500007")
        page.submit(code: "000000")
        await stage.transcript.wait(for: "app: the code is wrong or has expired")
        page.submit(code: "123456")
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "event 500005") == [
                "event 510002", "event 500007", "event 510003", "event 500013",
                "success verifyCodeAuth 500013", "app: the code is wrong or has expired",
                "event 510003", "event 500013", "success verifyCodeAuth 500013",
                "app: login successful", "event 510001",
            ] + Self.ended)
        #expect(stage.gateway.faults == [])
    }

    @Test("100001: no SIM, then too many codes, then an SMS of one's own")
    func fallBackTwice() async throws {
        let noSIM = CarrierFailure(.noSIM, "no SIM")
        let stage = Stage(carrier: FakeCarrier(offer: .failure(noSIM)))
        stage.gateway.with { $0.refusals = [500_009] }
        await stage.start("100001", until: "event 500005")
        try #require(stage.smsCode).send(number: Stage.number)
        await stage.transcript.wait(for: "event 600003")
        stage.gateway.with { $0.hasReceived = true }
        let page = try #require(stage.upGoing)
        #expect(page.smsContent == "V 77" && page.receivingNumber == "10690")
        page.send()
        page.alreadySent()
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "event 200002") == [
                "event 400002/1600007", "failed numberAuth 400002/1600007",
                "event 400007/1600007", "event 200002", "event 500001", "event 500005",
                "event 510002", "event 500009", "failed verifyCodeAuth 500009",
                "app: too many codes were asked for, wait a little", "event 510001",
                "event 200002", "event 600001", "event 600003", "event 610002", "event 610003",
                "event 600007", "success upGoingAuth 600007", "app: login successful",
                "event 610001",
            ] + Self.ended)
        #expect(stage.gateway.faults == [])
    }

    @Test("100002: half-way with the old number, then the new one")
    func halfway() async throws {
        let stage = Stage(number: Stage.number)
        await stage.start("100002", until: "event 500005")
        let old = try #require(stage.smsCode)
        #expect(!old.state.takesNumber && old.state.maskedNumber == "861******0000")
        #expect(old.state.isHalfway)
        old.send()
        await stage.transcript.wait(for: "event 500007")
        old.submit(code: "123456")
        await stage.transcript.wait(for: "event 500005", 2)
        let new = try #require(stage.smsCode)
        new.send(number: "+8613911111111")
        await stage.transcript.wait(for: "event 500007", 2)
        new.submit(code: "123456")
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "app is active") == [
                "event 700001", "event 200002", "event 500001", "event 500003",
                "number? 500003", "event 500005", "event 510002", "event 500007",
                "event 510003", "event 500013", "half-way verifyCodeAuth 500013",
                "app: old number verified", "event 510001", "event 200002", "event 500001",
                "event 500005", "event 510002", "event 500007", "event 510003", "event 500013",
                "success verifyCodeAuth 500013", "app: phone number updated", "event 510001",
            ] + Self.ended)
        #expect(stage.app.state.number == "+8613911111111")
        #expect(stage.gateway.faults == [])
    }

    @Test("100003: the typed number is compared, and the password page opens")
    func password() async throws {
        let stage = Stage(number: Stage.number)
        await stage.start("100003", until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: "13911111111")
        await stage.transcript.wait(for: "app: this is not the number of the account")
        page.send(number: "13800000000")
        await stage.transcript.wait(for: "event 500007")
        // The service knows the number by its country code, as the account has it.
        let run = try #require(stage.gateway.with { $0.runs.keys.first })
        stage.gateway.with { $0.runs[run]?.number = Stage.number }
        page.submit(code: "123456")
        await stage.transcript.wait(for: "app is done")
        await stage.transcript.wait(for: "app opens password")
        let lines = stage.lines(after: "event 500005").filter { $0 != "app opens password" }
        #expect(
            lines == [
                "event 510002", "event 500003", "number? 500003",
                "event 500015 number_mismatch", "failed verifyCodeAuth 500015 number_mismatch",
                "app: this is not the number of the account", "event 510002", "event 500003",
                "number? 500003", "event 500007", "event 510003", "event 500011",
                "success verifyCodeAuth 500011", "app: verified, you can change your password",
                "event 510001",
            ] + Self.ended)
        #expect(stage.gateway.faults == [])
    }

    @Test("100004: a new number is bound")
    func bind() async throws {
        let stage = Stage()
        await stage.start("100004", until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: Stage.number)
        await stage.transcript.wait(for: "event 500007")
        page.submit(code: "123456")
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "event 500005") == [
                "event 510002", "event 500007", "event 510003", "event 500013",
                "success verifyCodeAuth 500013", "app: new number bound", "event 510001",
            ] + Self.ended)
        #expect(stage.app.state.number == Stage.number)
    }

    @Test("100005: the bound number is filled in by the app")
    func bound() async throws {
        let stage = Stage(number: Stage.number)
        await stage.start("100005", until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send()
        await stage.transcript.wait(for: "event 500007")
        page.submit(code: "123456")
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "app is active") == [
                "event 700001", "event 200002", "event 500001", "event 500003",
                "number? 500003", "event 500005", "event 510002", "event 500007",
                "event 510003", "event 500013", "success verifyCodeAuth 500013",
                "app: verified", "event 510001",
            ] + Self.ended)
        #expect(stage.gateway.faults == [])
    }

    @Test("an answer that was lost is asked for again under its key, and nothing happens twice")
    func lostAnswer() async throws {
        let stage = Stage()
        await stage.start("100004", until: "event 500005")
        let page = try #require(stage.smsCode)
        page.send(number: Stage.number)
        await stage.transcript.wait(for: "event 500007")
        stage.gateway.with { $0.lost = [.after, .before(.noNetwork)] }
        page.submit(code: "123456")
        await stage.transcript.wait(for: "app is done")
        #expect(
            stage.lines(after: "event 500007").prefix(6) == [
                "event 510003", "event 800002", "event 800001", "event 800003", "event 500013",
                "success verifyCodeAuth 500013",
            ])
        #expect(stage.gateway.with { $0.evidence.count } == 1)
        #expect(stage.gateway.faults == [])
    }

    @Test("one scene after another, each with its own pages and its one end")
    func again() async throws {
        let stage = Stage()
        await stage.start("100001", until: "event 400003")
        try #require(stage.numberAuth).back()
        await stage.transcript.wait(for: "app is done")
        stage.handler.startScene(templateId: "100004")
        await stage.transcript.wait(for: "event 500005")
        try #require(stage.smsCode).back()
        await stage.transcript.wait(for: "app is done", 2)
        #expect(
            stage.lines(after: "event 400003") == [
                "event 410010/1700000", "event 400005", "finish 400005", "app is done",
                "event 700001", "event 200002", "event 500001", "event 500005", "event 510004",
                "event 510001", "finish 510001", "app is done",
            ])
    }
}
