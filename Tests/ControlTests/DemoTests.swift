import Bus
import Messages
import Primitives
import TestKit
import Testing

@testable import FusionctlCommands

@Suite("The demo")
struct DemoTests {
    @Test("each template has a case that passes and one that fails, and each script is played")
    func cases() {
        for template in StandardScenes.all.map(\.templateId) {
            let ends = DemoCase.all.filter { $0.templateId == template }.map(\.expected)
            #expect(ends.contains(.passed) && ends.contains(.failed), "\(template)")
        }
        #expect(Set(DemoCase.all.map(\.script)) == Set(DemoScript.allCases))
        #expect(Set(DemoCase.all).count == DemoCase.all.count)
    }

    @Test("a report is exactly the documented document")
    func report() throws {
        var record = DemoRecord()
        record.runId = "run_1"
        record.outcome = "passed"
        let node = NodeView(nodeId: "300000100001005", kind: .smsCode, nodeName: "verifyCodeAuth")
        record.visit(node)
        record.add([700_001], to: nil)
        record.add([500_007, 500_013], to: node.nodeId)
        record.add(
            Verified(result: .pass, phoneNumber: PhoneNumber(e164: "+8613800138000")),
            nodeId: node.nodeId)
        record.add([110_005], to: nil)
        let story = DemoCase(templateId: "100001", script: .smsCode, expected: .passed)
        let report = DemoReport(
            endpoints: Endpoints(ipc: "/r/broker.ipc", tcp: "tcp://h:1", http: nil, brokerKey: "k"),
            seconds: 12.3, cases: [DemoReport.Played(story: story, record: record)])
        #expect(
            report.json.compact
                == #"{"formatVersion":1,"ok":true,"seconds":12.3,"endpoints":{"ipc":"/r/broker.ipc","#
                + #""tcp":"tcp://h:1","http":null},"cases":[{"templateId":"100001","case":"sms_code","#
                + #""expected":"passed","outcome":"passed","runId":"run_1","nodes":[{"nodeId":"#
                + #""300000100001005","kind":2000005,"outcome":"passed","resultCodes":[500007,500013]}],"#
                + #""verifications":[{"nodeId":"300000100001005","result":"PASS","reason":null,"#
                + #""phoneNumber":"+8613800138000","phoneScore":null}],"resultCodes":[700001,110005],"#
                + #""error":null}]}"#)
        #expect(report.people.contains("1 of 1 cases as expected, in 12.3 s"))
    }

    @Test("a report without cases, with an error or with another end is not ok")
    func notOK() {
        let none = Endpoints(ipc: nil, tcp: nil, http: nil, brokerKey: nil)
        let story = DemoCase(templateId: "100001", script: .smsCode, expected: .passed)
        func isOK(_ change: (inout DemoRecord) -> Void) -> Bool {
            var record = DemoRecord()
            record.outcome = "passed"
            change(&record)
            return DemoReport(
                endpoints: none, seconds: 1,
                cases: [DemoReport.Played(story: story, record: record)]
            ).isOK
        }
        #expect(isOK { _ in })
        #expect(!isOK { $0.error = "x" })
        #expect(!isOK { $0.outcome = "failed" })
        #expect(!DemoReport(endpoints: none, seconds: 1, cases: []).isOK)
    }

    @Test("a code is read from a text as a person reads it")
    func codes() {
        let text = "[Example] 012345 is your code. It is valid for 5 minutes. @example.com #012345"
        #expect(DemoPlay.code(in: text, length: 6) == "012345")
        #expect(DemoPlay.code(in: "Your code 4821, valid 10 minutes", length: nil) == "4821")
        #expect(DemoPlay.code(in: "no code", length: 6) == nil)
        #expect(DemoCase.another(than: "123459") == "123450")
    }

    @Test("numbers and device ids are fresh in every case")
    func fresh() async {
        let scene = ScriptedScene()
        _ = await scene.play(.oneClick)
        _ = await scene.play(.oneClick)
        let devices = scene.bus.requests(StartScene.self).compactMap(\.deviceId)
        let numbers = scene.bus.requests(PutSIM.self).flatMap(\.numbers)
        #expect(Set(devices).count == 2)
        #expect(Set(numbers).count == 2)
    }

    @Test("a carrier login is played from token to end")
    func oneClick() async {
        let scene = ScriptedScene()
        let record = await scene.play(.oneClick)
        #expect(record.error == nil)
        #expect(record.outcome == "passed")
        #expect(record.nodes.map(\.outcome) == [.passed])
        #expect(record.nodes.map(\.resultCodes) == [[400_006]])
        #expect(record.resultCodes == [700_001, 110_005])
    }

    @Test("a system that proves another number is found out")
    func otherNumber() async {
        let scene = ScriptedScene(proves: "+8613900000000")
        #expect(await scene.play(.oneClick).error == "another number was proven")
    }

    @Test("a system that lets a run move on without PASS is found out")
    func moved() async {
        let scene = ScriptedScene(checksPass: false)
        let record = await scene.play(.continueRefused)
        #expect(record.error == "a continue without PASS was accepted")
    }

    @Test("a refused continue leaves the run where it is, and stop ends it")
    func refused() async {
        let record = await ScriptedScene().play(.continueRefused)
        #expect(record.error == nil)
        #expect(record.outcome == "stopped")
        #expect(record.nodes.map(\.outcome) == [.left, .refused])
    }
}
