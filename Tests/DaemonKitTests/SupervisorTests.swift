import CLinuxCalls
import Glibc
import Primitives
import Testing

@testable import DaemonKit

@Suite struct SupervisorMachineTests {
    private typealias Action = SupervisorMachine.Action
    private func at(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    @Test("children start in order, each after the one before it is ready")
    func order() {
        var machine = SupervisorMachine(childrenCount: 3, limits: SupervisorLimits())
        #expect(machine.begin(at(0)) == [.start(0)])
        #expect(machine.ready(0, at(5)) == [.start(1)])
        #expect(machine.ready(0, at(6)) == [], "said twice")
        #expect(machine.nextAt == at(10_005))
        #expect(
            machine.tick(at(10_005)) == [.start(2)], "one that is never ready holds up no longer")
        #expect(machine.ready(2, at(10_010)) == [])
    }

    @Test(
        "a child that ends is restarted after 100 ms, doubling to 5 s; afresh after a steady life"
    )
    func backoff() {
        var machine = SupervisorMachine(childrenCount: 1, limits: SupervisorLimits())
        var now = 0
        _ = machine.begin(at(now))
        for pause in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            #expect(
                machine.ended(0, .exited(1), at(now)) == [.willRestart(0, after: at(pause))])
            #expect(machine.nextAt == at(now + pause))
            #expect(machine.tick(at(now + pause - 1)) == [])
            now += pause
            #expect(machine.tick(at(now)) == [.start(0)])
        }
        #expect(machine.ready(0, at(now)) == [.allReady])
        #expect(machine.nextAt == nil, "at rest there is nothing to wake for")
        #expect(
            machine.ended(0, .signalled(9), at(now + 10_000)) == [.willRestart(0, after: at(100))])
    }

    @Test("the restart of one that was ready holds up nobody; one that never was holds up the next")
    func restartDuringStart() {
        var machine = SupervisorMachine(childrenCount: 2, limits: SupervisorLimits())
        _ = machine.begin(at(0))
        #expect(machine.ended(0, .exited(1), at(1)) == [.willRestart(0, after: at(100))])
        #expect(machine.tick(at(101)) == [.start(0)])
        #expect(machine.ready(0, at(102)) == [.start(1)])
        #expect(machine.ended(0, .exited(1), at(103)) == [.willRestart(0, after: at(200))])
        #expect(machine.ready(1, at(104)) == [.allReady])
    }

    @Test(
        "until all were ready, a status that another try would not change ends the whole start",
        arguments: [64, 70, 78])
    func hopelessAtFirst(status: Int32) {
        var machine = SupervisorMachine(childrenCount: 3, limits: SupervisorLimits())
        _ = machine.begin(at(0))
        _ = machine.ready(0, at(1))
        #expect(machine.ended(1, .exited(status), at(2)) == [.gaveUp(1), .terminate(0)])
        #expect(machine.tick(at(9_000)) == [], "nothing is started any more")
        #expect(machine.ended(0, .exited(0), at(9_001)) == [.finished])
    }

    @Test(
        "later the others stay, and the one that refuses its configuration is tried every 30 s",
        arguments: [64, 78])
    func hopelessLater(status: Int32) {
        var machine = SupervisorMachine(childrenCount: 2, limits: SupervisorLimits())
        _ = machine.begin(at(0))
        _ = machine.ready(0, at(1))
        #expect(machine.ready(1, at(2)) == [.allReady])
        #expect(machine.ended(0, .signalled(9), at(3)) == [.willRestart(0, after: at(100))])
        #expect(machine.tick(at(103)) == [.start(0)])
        for round in 0..<5 {
            let now = 200 + round * 30_000
            #expect(
                machine.ended(0, .exited(status), at(now)) == [.willRetry(0, after: at(30_000))])
            #expect(machine.nextAt == at(now + 30_000))
            #expect(machine.tick(at(now + 29_999)) == [])
            #expect(machine.tick(at(now + 30_000)) == [.start(0)])
        }
        #expect(machine.ready(0, at(151_000)) == [], "all were ready before")
        #expect(machine.drain(at(152_000)) == [.terminate(1)])
    }

    @Test("later a start that fails for another reason is repeated as any end is")
    func cannotStartLater() {
        var machine = SupervisorMachine(childrenCount: 1, limits: SupervisorLimits())
        _ = machine.begin(at(0))
        _ = machine.ready(0, at(1))
        #expect(machine.ended(0, .exited(70), at(2)) == [.willRestart(0, after: at(100))])
    }

    @Test("a drain goes backwards, one at a time; one that takes too long is killed")
    func drain() {
        var machine = SupervisorMachine(childrenCount: 3, limits: SupervisorLimits())
        _ = machine.begin(at(0))
        for index in 0..<3 { _ = machine.ready(index, at(1)) }
        #expect(machine.drain(at(10)) == [.terminate(2)])
        #expect(machine.ended(2, .exited(0), at(20)) == [.terminate(1)])
        #expect(machine.nextAt == at(12_020))
        #expect(machine.tick(at(12_020)) == [.kill(1)])
        #expect(machine.ended(1, .signalled(9), at(12_030)) == [.terminate(0)])
        #expect(machine.ended(0, .exited(0), at(12_040)) == [.finished])
        #expect(machine.tick(at(99_999)) == [])
    }

    @Test("a drain starts nothing that waits or backs off; a second drain kills")
    func secondDrain() {
        var machine = SupervisorMachine(childrenCount: 3, limits: SupervisorLimits())
        _ = machine.begin(at(0))
        _ = machine.ready(0, at(1))
        _ = machine.ended(1, .exited(1), at(2))
        #expect(machine.drain(at(3)) == [.terminate(0)])
        #expect(machine.tick(at(500)) == [])
        #expect(machine.drain(at(501)) == [.kill(0)])
        #expect(machine.ended(0, .signalled(9), at(502)) == [.finished])
    }
}

@Suite struct SupervisorTests {
    @Test(
        "children start in order of readiness, their lines carry their name, they stop backwards"
    )
    func family() async {
        let script =
            "echo up; echo ready >&3; trap 'echo down; exit 0' TERM;"
            + " sleep 30 & wait"
        let plans = ["a", "b", "c"].map { shell($0, script) }
        let (supervisor, events) = Supervisor.events(
            plans, environment: ["PATH": "/usr/bin:/bin"])
        var story: [String] = []
        for await event in events {
            switch event {
            case .started(let name, _): story.append("start \(name)")
            case .ready(let name): story.append("ready \(name)")
            case .line(let name, let text): story.append("\(text) \(name)")
            case .ended(let name, let end): story.append("\(end) \(name)")
            case .allReady: supervisor.drain()
            case .finished: story.append("finished")
            default: Issue.record("unexpected \(event)")
            }
        }
        #expect(
            story.filter { $0.hasPrefix("start") || $0.hasPrefix("ready") } == [
                "start a", "ready a", "start b", "ready b", "start c", "ready c",
            ])
        #expect(
            story.filter { $0.hasPrefix("exited") } == [
                "exited(0) c", "exited(0) b", "exited(0) a",
            ])
        for name in ["a", "b", "c"] {
            #expect(story.contains("up \(name)") && story.contains("down \(name)"))
        }
        #expect(story.last == "finished")
    }

    @Test("a child that crashes is started again; a program that is not there is told")
    func restart() async {
        var limits = SupervisorLimits()
        limits.backoffMin = .milliseconds(5)
        let (supervisor, events) = Supervisor.events(
            [shell("a", "kill -9 $$")], limits: limits, environment: ["PATH": "/usr/bin:/bin"])
        var pauses: [Duration] = []
        for await event in events {
            if case .willRestart(_, let pause) = event { pauses.append(pause) }
            if pauses.count == 3 { supervisor.drain() }
        }
        #expect(pauses.prefix(3) == [.milliseconds(5), .milliseconds(10), .milliseconds(20)])
        let absent = await runChild(ChildPlan(name: "x", executable: "/nonexistent/x"))
        #expect(ends(absent).first == .notStarted(ENOENT))
    }

    @Test("a child that refuses its configuration later is alone in it, and is back once mended")
    func refusalLater() async {
        let folder = TemporaryFolder()
        let good = shell("good", "echo ready >&3; trap 'exit 0' TERM; sleep 30 & wait")
        // Ready at the first start; wrong at the second and third; mended at the fourth.
        let other = shell(
            "other",
            "echo x >> \(folder.path)/starts; n=$(wc -l < \(folder.path)/starts);"
                + " [ $n = 2 ] || [ $n = 3 ] && exit 78;"
                + " echo ready >&3; trap 'exit 0' TERM; sleep 30 & wait")
        var limits = SupervisorLimits()
        limits.backoffMin = .milliseconds(1)
        limits.mendingPause = .milliseconds(5)
        let (supervisor, events) = Supervisor.events(
            [good, other], limits: limits, environment: ["PATH": "/usr/bin:/bin"])
        var processID: Int32 = 0
        var readyCount = 0
        var story: [String] = []
        for await event in events {
            switch event {
            case .started("other", let id): processID = id
            case .allReady: kill(processID, SIGKILL)
            case .ready("other"):
                readyCount += 1
                if readyCount == 2 { supervisor.drain() }
            case .ended(let name, let end): story.append("\(name) \(end)")
            case .willRetry(let name, let pause): story.append("\(name) \(pause)")
            case .gaveUp(let name): story.append("\(name) gave up")
            default: break
            }
        }
        #expect(
            story == [
                "other signalled(9)", "other exited(78)", "other 0.005 seconds",
                "other exited(78)", "other 0.005 seconds", "other exited(0)", "good exited(0)",
            ])
    }

    @Test("a child that ignores its drain is killed with all that it started")
    func stubborn() async {
        let plan = shell(
            "a", "trap '' TERM; sleep 30 & echo $!; echo ready >&3; wait")
        var grandchild: Int32 = -1
        let events = await runChild(plan, limits: onceOnly(drainMax: .milliseconds(50))) {
            event, supervisor, _ in
            if case .line(_, let text) = event { grandchild = pidfd_open(Int32(text) ?? 0, 0) }
            if case .allReady = event { supervisor.drain() }
        }
        #expect(events.contains(.killed("a")) && ends(events) == [.signalled(SIGKILL)])
        var ended = pollfd(fd: grandchild, events: Int16(POLLIN), revents: 0)
        #expect(grandchild >= 0 && poll(&ended, 1, 10_000) == 1)
        close(grandchild)
    }

    @Test("a last line without an end, and a line beyond the bound, arrive")
    func lineBounds() async {
        let plan = shell("a", "head -c 20000 /dev/zero | tr '\\0' x; printf '\\nlast'")
        let arrived = lines(await runChild(plan))
        #expect(arrived.last == "last")
        #expect(arrived.dropLast().joined().count == 20000)
        #expect(arrived.allSatisfy { $0.utf8.count <= 32 * 1024 })
    }
}
