import CLinuxCalls
import DaemonKit
import Glibc
import Testing

/// Real processes of `Tests/DaemonProbe`.
@Suite struct DaemonTests {
    private let folder = TemporaryFolder()

    private func plan(_ flags: String..., home: Bool = true) -> ChildPlan {
        ChildPlan(
            name: "probe", executable: builtProduct("daemon-probe"),
            // Should the tests themselves crash, no probe stays behind.
            arguments: ["--die-with-parent"] + (home ? ["--home", folder.path] : []) + flags,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    private var log: String { folder.read("log/daemon-probe-1.jsonl") }

    private func messages(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            // {"time":"…","level":"…","message":"…"
            return parts.count > 11 && parts[9] == "message" ? String(parts[11]) : nil
        }
    }

    @Test("ready, reload, drain in reverse order, close, exit 0, no pid file left")
    func life() async throws {
        var pidFile: PidFile.Content?
        let path = folder.path + "/run/daemon-probe-1.pid"
        let events = await runChild(plan()) { event, _, processID in
            guard case .ready = event else { return }
            pidFile = PidFile.read(path)
            kill(processID, SIGHUP)
            // The signals of one process are taken in turn, so the reload comes first.
            kill(processID, SIGTERM)
        }
        #expect(ends(events).first == .exited(0))
        #expect(pidFile?.state == .ready && pidFile?.isAlive == true)
        #expect(PidFile.read(path) == nil)
        let told = messages(log)
        #expect(told.first == "started" && told.contains("ready"))
        #expect(
            told.suffix(5) == ["draining", "part drained", "part drained", "closed", "stopped"])
        let drains = log.split(separator: "\n").filter { $0.contains("part drained") }
        #expect(drains.first?.contains("second") == true && drains.last?.contains("first") == true)
        #expect(log.contains("\"echo.sizeMax\":3"), "limits are on the start line")
        #expect(!log.contains("hush"))
    }

    @Test("SIGHUP runs the reload hooks and nothing stops")
    func reload() async {
        let events = await runChild(plan("--foreground")) { event, supervisor, processID in
            if case .ready = event { kill(processID, SIGHUP) }
            if case .line(_, let text) = event, text.contains("reload seen") { supervisor.drain() }
        }
        #expect(ends(events) == [.exited(0)])
        #expect(messages(log).contains("reloaded"))
    }

    @Test("a part that fails, or ends by itself, drains the others and exits 1")
    func failure() async {
        for conduct in ["fail", "end"] {
            let events = await runChild(plan("--set", "echo.conduct=\(conduct)"))
            #expect(ends(events).first == .exited(1), "\(conduct)")
        }
        #expect(messages(log).contains("a part failed"))
        #expect(messages(log).contains("a part ended by itself"))
        #expect(messages(log).filter { $0 == "closed" }.count == 2)
    }

    @Test("a part that cannot be made exits 70 and says why")
    func refusal() async {
        let events = await runChild(plan("--set", "echo.conduct=refuse"))
        #expect(ends(events).first == .exited(70))
        #expect(lines(events) == ["daemon-probe: ProbeFault()"])
    }

    @Test("a stuck drain ends at its cap with 75, or at once by a second signal")
    func stuck() async {
        let stick = plan("--set", "echo.conduct=stick", "--set", "daemon.drainSecondsMax=1")
        let capped = await runChild(stick) { event, _, processID in
            if case .ready = event { kill(processID, SIGTERM) }
        }
        #expect(ends(capped).first == .exited(75))
        let twice = await runChild(plan("--set", "echo.conduct=stick", "--foreground")) {
            event, _, processID in
            if case .ready = event { kill(processID, SIGINT) }
            if case .line(_, let text) = event, text.contains("draining") {
                kill(processID, SIGINT)
            }
        }
        #expect(ends(twice).first == .exited(128 + SIGINT))
        #expect(TemporaryFolder.names(folder.path + "/run").isEmpty)
    }

    @Test(
        "--version, --help, --check-config and --print-config answer and end; secrets stay masked")
    func questions() async {
        let version = await runChild(plan("--version"))
        #expect(
            lines(version) == ["daemon-probe \(BuildInfo.version) (\(BuildInfo.configuration))"])
        #expect(ends(version).first == .exited(0))
        #expect(lines(await runChild(plan("--help"))).first == "Usage: daemon-probe [flags]")
        #expect(lines(await runChild(plan("--check-config"))) == ["configuration is good"])
        let shown = lines(await runChild(plan("--print-config", "--set", "echo.secret=loud")))
        #expect(shown.contains("secret = \"<secret>\"  # --set"))
        #expect(shown.contains("sizeMax = 3  # default"))
        #expect(shown.contains("[daemon]") && shown.contains("production = false"))
        #expect(!shown.joined().contains("loud"))
    }

    @Test("wrong flags exit 64, a wrong configuration 78 with every fault, an absent home 70")
    func refusals() async {
        let usage = await runChild(plan("--nope"))
        #expect(ends(usage).first == .exited(64) && usage.contains(.gaveUp("probe")))
        mkdir(folder.path + "/etc", 0o755)
        folder.write(
            "[echo]\nsizeMx = 1\nconduct = 3\n[daemon]\nlogLevel = \"loud\"", to: "etc/fusion.toml")
        let wrong = await runChild(plan("--check-config"))
        #expect(ends(wrong).first == .exited(78))
        #expect(
            lines(wrong).count == 3 && lines(wrong).allSatisfy { $0.hasPrefix("daemon-probe: ") })
        let absent = await runChild(plan("--home", "/nonexistent/home", home: false))
        #expect(ends(absent).first == .exited(70))
        #expect(lines(absent).first?.contains("fusionctl --home /nonexistent/home init") == true)
    }

    @Test("a second instance takes the next number; a named one that lives is refused")
    func instances() async {
        let second = plan()
        let named = plan("--instance", "1")
        let (first, events) = Supervisor.events([plan()])
        for await event in events {
            guard case .allReady = event else { continue }
            let other = await runChild(second) { event, _, processID in
                if case .ready = event { kill(processID, SIGTERM) }
            }
            #expect(ends(other).first == .exited(0))
            let refused = await runChild(named)
            #expect(ends(refused).first == .exited(70))
            #expect(lines(refused).first?.contains("another process is this instance") == true)
            first.drain()
        }
        #expect(
            TemporaryFolder.names(folder.path + "/log")
                == ["daemon-probe-1.jsonl", "daemon-probe-2.jsonl"])
    }

    @Test("with --die-with-parent a daemon drains when the process that started it is killed")
    func orphan() async {
        let probe = builtProduct("daemon-probe")
        // The shell is the parent; it gives the daemon a session of its own, passes its readiness
        // pipe on, and is killed without warning.
        let parent = shell(
            "parent",
            "export FUSION_PARENT_PID=$$; "
                + "setsid \(probe) --home \(folder.path) --die-with-parent & wait")
        let pidPath = folder.path + "/run/daemon-probe-1.pid"
        var daemon: Int32 = -1
        _ = await runChild(parent) { event, _, processID in
            guard case .ready = event else { return }
            daemon = PidFile.read(pidPath).map { pidfd_open($0.processID, 0) } ?? -1
            kill(processID, SIGKILL)
        }
        var ended = pollfd(fd: daemon, events: Int16(POLLIN), revents: 0)
        #expect(daemon >= 0 && poll(&ended, 1, 10_000) == 1, "it ends by itself")
        close(daemon)
        #expect(messages(log).suffix(2) == ["closed", "stopped"])
    }
}
