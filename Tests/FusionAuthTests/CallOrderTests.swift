import Foundation
import FusionAuth
import Testing

@Suite("Calls in order, and out of it")
struct CallOrderTests {
    @Test("a scene starts only with a good token")
    func tokens() {
        var sdk = MachineDriver()
        _ = sdk.does(.activate)
        #expect(sdk.does(.start(templateId: "100001")) == ["event 300001", "interrupt 300001"])
        _ = sdk.does(.woke(1))
        #expect(sdk.does(.start(templateId: "100001")) == ["event 300003", "interrupt 300003"])
    }

    @Test("an unknown template, a second scene, a continue without one")
    func order() {
        var sdk = MachineDriver()
        sdk.becomeActive()
        #expect(sdk.does(.start(templateId: "9")) == ["event 100001", "interrupt 100001"])
        #expect(
            sdk.does(.proceed(templateId: "100001", isSuccess: false))
                == ["event 100002", "interrupt 100002"])
        #expect(sdk.does(.stop(templateId: "100001")) == [])
        _ = sdk.does(.start(templateId: "100001"))
        #expect(sdk.does(.start(templateId: "100002")) == ["event 100003", "interrupt 100003"])
        #expect(
            sdk.does(.proceed(templateId: "100002", isSuccess: true))
                == ["event 100002", "interrupt 100002"])
        #expect(
            sdk.does(.proceed(templateId: "100001", isSuccess: false))
                == ["event 200003", "interrupt 200003"])
    }

    @Test("success is claimed only where a mask token was won")
    func claim() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        #expect(
            sdk.does(.proceed(templateId: "100001", isSuccess: true))
                == ["event 200003", "interrupt 200003"])
        _ = sdk.press(.submit(code: "123456"))
        let node = MachineDriver.sms()
        _ = sdk.answers(MachineDriver.view(1, [500_013], node: node, mask: "m"))
        #expect(
            sdk.does(.proceed(templateId: "100001", isSuccess: true)).last
                == "POST /client/v1/scenes/run_1/continue")
        // The service has no PASS on its record.
        #expect(
            sdk.refuses(409, "pass_not_on_record").suffix(2) == [
                "event 200003 pass_not_on_record", "interrupt 200003 pass_not_on_record",
            ])
    }

    @Test("a decision that comes during a call is told after it, one that comes too late is not")
    func queued() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.press(.send(number: "13800000000", isChecked: nil))
        #expect(sdk.does(.proceed(templateId: "100001", isSuccess: false)) == [])
        #expect(
            sdk.does(.proceed(templateId: "100001", isSuccess: false))
                == ["event 200003", "interrupt 200003"])
        #expect(
            sdk.answers(MachineDriver.view(1, [500_007], node: MachineDriver.sms())).last
                == "POST /client/v1/scenes/run_1/continue")
        // Its answer is lost, and the run has moved: the repeated call finds it there.
        _ = sdk.failsToSend(.timeout)
        _ = sdk.does(.woke(sdk.wakeID))
        var moved = MachineDriver.view(2, node: MachineDriver.upgoing())
        moved.applied = false
        #expect(
            sdk.answers(moved).suffix(4)
                == ["dismiss", "event 200002", "event 600001", "present upGoingAuth"])
    }

    @Test("stop closes the page, and the service's word ends the template")
    func stop() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        #expect(
            sdk.does(.stop(templateId: "100001"))
                == ["wake 5.0 seconds", "POST /client/v1/scenes/run_1/stop"])
        #expect(sdk.does(.stop(templateId: "100001")) == [])
        #expect(
            sdk.answers(MachineDriver.ended(.passed, 110_005, step: 1))
                == ["event 510001", "dismiss", "event 110005", "finish 110005"])
        // In `onTemplateFinish` the app stops once more; then it may start again.
        #expect(sdk.does(.stop(templateId: "100001")) == [])
        #expect(sdk.does(.start(templateId: "100001")).last == "POST /client/v1/scenes")
    }

    @Test("stop without a network ends here after 5 seconds at the latest")
    func stopOffline() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.does(.stop(templateId: "100001"))
        let bound = sdk.wakeID
        #expect(sdk.does(.woke(bound)).last == "finish 100004 stopped")
        #expect(sdk.answers(MachineDriver.ended(.stopped, 100_004, step: 1)) == [])
        var other = MachineDriver()
        other.stand(at: MachineDriver.sms())
        _ = other.does(.stop(templateId: "100001"))
        #expect(other.failsToSend(.noNetwork).last == "finish 100004 stopped")
    }

    @Test("stop during start stops the run that the start made")
    func stopDuringStart() {
        var sdk = MachineDriver()
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100001"))
        #expect(sdk.does(.stop(templateId: "100001")) == ["wake 5.0 seconds"])
        #expect(
            sdk.answers(
                MachineDriver.view(1, node: MachineDriver.sms(), key: "key"), status: 201)
                == ["POST /client/v1/scenes/run_1/stop"])
        #expect(
            sdk.answers(MachineDriver.ended(.stopped, 100_004, step: 1)).last == "finish 100004")
    }

    @Test("a start that fails ends the template at once")
    func startFails() {
        for (status, code, lines) in [
            (404, "template_not_found", ["interrupt 100001 template_not_found"]),
            (429, "address_limit", []), (403, "scheme_disabled", []),
        ] {
            var sdk = MachineDriver()
            sdk.becomeActive()
            _ = sdk.does(.start(templateId: "100001"))
            let told = sdk.refuses(status, code).filter { !$0.hasPrefix("event") }
            #expect(told == ["interrupt 900004"] + lines + ["finish 200001 \(code)"])
            #expect(sdk.machine.currentTemplateId == nil)
        }
    }

    @Test("the same call is sent three times under one key, then given up")
    func retries() throws {
        var sdk = MachineDriver()
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100001"))
        var requests = [try #require(sdk.request)]
        #expect(sdk.refuses(503, "unavailable") == ["wake 0.3 seconds"])
        _ = sdk.does(.woke(sdk.wakeID))
        requests.append(try #require(sdk.request))
        // The service asks for more patience, within a bound.
        #expect(sdk.refuses(503, "overloaded", wait: 2_000) == ["wake 2.0 seconds"])
        _ = sdk.does(.woke(sdk.wakeID))
        requests.append(try #require(sdk.request))
        #expect(Set(requests).count == 1)
        #expect(
            sdk.refuses(504, "deadline_passed").filter { !$0.hasPrefix("event") } == [
                "interrupt 900004", "interrupt 900001 deadline_passed",
                "finish 200001 deadline_passed",
            ])
    }

    @Test("a run that has ended elsewhere is read, and ends here as it ended there")
    func endedElsewhere() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        _ = sdk.press(.submit(code: "1"))
        #expect(sdk.refuses(409, "run_ended").last == "GET /client/v1/scenes/run_1")
        #expect(sdk.request?.headers["X-Run-Key"] == "key")
        #expect(
            sdk.answers(MachineDriver.ended(.expired, 100_004, step: 1)).last == "finish 100004")
        var gone = MachineDriver()
        gone.stand(at: MachineDriver.sms())
        _ = gone.press(.submit(code: "1"))
        #expect(gone.refuses(404, "run_not_found").last == "finish 100004 run_not_found")
    }

    @Test("after destroy nothing happens, and the run is stopped")
    func destroy() {
        var sdk = MachineDriver()
        sdk.stand(at: MachineDriver.sms())
        let page = sdk.pageID
        #expect(sdk.does(.destroy) == ["last POST /client/v1/scenes/run_1/stop", "end"])
        for input: MachineInput in [
            .activate, .start(templateId: "100001"), .page(page, .submit(code: "1")), .destroy,
            .updateToken(MachineDriver.token()), .stop(templateId: "100001"),
        ] { #expect(sdk.does(input) == []) }
    }

    @Test("what cannot be read, or is of another kind than this SDK knows, ends the scene")
    func notUnderstood() {
        var sdk = MachineDriver()
        sdk.becomeActive()
        _ = sdk.does(.start(templateId: "100001"))
        #expect(
            sdk.answers(["no": "view"], status: 201).last == "finish 200001 not_understood")
        _ = sdk.does(.start(templateId: "100001"))
        let voice = Wire.NodeView(nodeId: "n", kind: 2_000_099, nodeName: "voiceAuth")
        #expect(
            sdk.answers(MachineDriver.view(1, node: voice, key: "k"), status: 201).suffix(3) == [
                "last POST /client/v1/scenes/run_1/stop", "event 200001 node_not_known",
                "finish 200001 node_not_known",
            ])
    }
}
