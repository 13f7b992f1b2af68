import DaemonKit
import Effects
import Glibc
import Primitives
import Testing

private struct StillClock: WallClock {
    let milliseconds: Int64
    func now() -> WallTime { WallTime(millisecondsSince1970: milliseconds) }
}

@Suite struct HomeTests {
    private let folder = TemporaryFolder()

    @Test("the flag wins over the variable, and both over ./.fusion; paths become absolute")
    func resolution() {
        let environment = ["FUSION_HOME": "/var/lib/fusion/"]
        #expect(HomeResolver.resolve(flag: "/a/b", environment: environment).path == "/a/b")
        #expect(HomeResolver.resolve(flag: nil, environment: environment).path == "/var/lib/fusion")
        let here = HomeResolver.resolve(flag: "", environment: [:]).path
        #expect(here.hasPrefix("/") && here.hasSuffix("/.fusion"))
    }

    @Test("a made home has its folders, keys and run closed to others; an absent one is refused")
    func creation() throws {
        let home = Home(path: folder.path + "/h")
        #expect(throws: HomeProblem.missing(path: home.path)) { try home.open() }
        try home.create()
        try home.open()
        #expect(TemporaryFolder.names(home.path) == ["data", "etc", "keys", "log", "run"])
        chmod(home.keys, 0o755)
        #expect(throws: HomeProblem.keysOpenToOthers(path: home.keys)) { try home.open() }
    }

    @Test("a home whose socket path exceeds 107 bytes is refused, one of 107 is not")
    func socketPath() throws {
        let tail = "/run/broker.ipc".utf8.count
        let room = Home.socketPathBytesMax - folder.path.utf8.count - 1 - tail
        let fits = Home(path: folder.path + "/" + String(repeating: "h", count: room))
        try fits.create()
        try fits.open()
        let long = Home(path: folder.path + "/" + String(repeating: "h", count: room + 1))
        try long.create()
        #expect(
            throws: HomeProblem.socketPathTooLong(path: long.brokerSocket, bytesCount: 108)
        ) { try long.open() }
    }
}

@Suite struct PidFileTests {
    private let folder = TemporaryFolder()

    @Test("one holder at a time; a file left behind is taken over; release removes it")
    func holders() throws {
        let path = folder.path + "/d-1.pid"
        var first: PidFile? = try PidFile.acquire(path)
        #expect(throws: PidFileProblem.taken(path: path)) { try PidFile.acquire(path) }
        #expect(PidFile.read(path)?.state == .starting)
        first?.mark(.ready)
        let ready = PidFile.read(path)
        #expect(ready?.processID == getpid() && ready?.state == .ready && ready?.isAlive == true)
        #expect(readFile(path).hasPrefix("\(getpid())\nready\n"))
        first = nil
        #expect(PidFile.read(path)?.isAlive == false, "the lock went with its holder")
        let second = try PidFile.acquire(path)
        #expect(PidFile.read(path)?.isAlive == true)
        second.release()
        #expect(PidFile.read(path) == nil)
    }
}

@Suite struct JSONLogSinkTests {
    private let folder = TemporaryFolder()

    private func sink(_ bytesMax: Int = 1 << 20) -> JSONLogSink {
        JSONLogSink(
            path: folder.path + "/d.jsonl", level: .info, constants: [("daemon", "d")],
            isOnStandardError: false, fileBytesMax: bytesMax,
            clock: StillClock(milliseconds: 1_796_019_859_123))
    }

    @Test("a line is one JSON object: time, level, message, constants, then the keys in order")
    func form() {
        let log = Log(sink())
        log.debug("unseen")
        log.warning("strange", ["text": "a\"b\\c\nd\u{1}é", "count": -3, "flag": true])
        #expect(
            folder.read("d.jsonl")
                == "{\"time\":\"2026-11-30T06:24:19.123Z\",\"level\":\"warning\","
                + "\"message\":\"strange\",\"daemon\":\"d\","
                + "\"text\":\"a\\\"b\\\\c\\nd\\u0001é\",\"count\":-3,\"flag\":true}\n")
    }

    @Test("a long text is cut, and a long line leaves fields out and says so")
    func bounds() {
        let long = LogValue.text(String(repeating: "é", count: 3000))
        Log(sink()).info(
            "long",
            [
                "a": long, "b": long, "c": long, "d": long, "e": long, "f": long,
                "g": long, "h": long, "i": long, "z": 1,
            ])
        let line = folder.read("d.jsonl")
        #expect(line.utf8.count <= 8192 && line.contains("…"))
        #expect(line.hasSuffix(",\"cut\":true}\n"))
    }

    @Test("a full file becomes .1 and is followed by a new one, so that two bounds are the most")
    func rotation() {
        let sink = sink(8192)
        for _ in 0..<400 { Log(sink).info("a line of about a hundred bytes") }
        #expect(TemporaryFolder.names(folder.path) == ["d.jsonl", "d.jsonl.1"])
        for name in ["d.jsonl", "d.jsonl.1"] {
            let text = folder.read(name)
            #expect(text.utf8.count <= 8192 && text.hasPrefix("{") && text.hasSuffix("}\n"))
        }
        #expect(sink.lostCount == 0)
    }

    @Test("a log that cannot be written counts its losses and stops nobody")
    func lost() {
        let sink = JSONLogSink(
            path: folder.path + "/no/such/place", level: .info, constants: [],
            isOnStandardError: false)
        Log(sink).info("x")
        #expect(sink.lostCount == 1)
    }
}

@Suite struct FullDiskTests {
    private let folder = TemporaryFolder()

    @Test("a line for which there is no room leaves nothing behind, is counted, and told of later")
    func noRoom() async {
        let path = folder.path + "/d.jsonl"
        await #expect(processExitsWith: .success) { [path = path as String] in
            let metrics = MemoryMetrics()
            let sink = JSONLogSink(
                path: path, level: .info, constants: [], isOnStandardError: false,
                metrics: metrics)
            let log = Log(sink)
            log.info("first")
            // No file of this process may grow beyond this: the next line fits in part.
            signal(SIGXFSZ, SIG_IGN)
            let before = readFile(path)
            setFileBytesMax(before.utf8.count + 10)
            for _ in 0..<3 { log.error("lost") }
            #expect(readFile(path) == before, "no half line")
            #expect(sink.lostCount == 3)
            #expect(metrics.snapshot().map { "\($0.name) \($0.value)" } == ["log_lines_lost 3.0"])
            setFileBytesMax(1 << 20)
            log.info("again")
            log.info("and again")
            let messages = readFile(path).split(separator: "\n").map { line in
                line.split(separator: "\"message\":").last.map(String.init) ?? ""
            }
            #expect(
                messages == [
                    "\"first\"}", "\"lines were lost\",\"count\":3}", "\"again\"}",
                    "\"and again\"}",
                ])
        }
    }
}

private func setFileBytesMax(_ count: Int) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = rlim_t(count)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
}

@Suite struct MemoryMetricsTests {
    @Test("counters add up per label set; the snapshot is ordered by name")
    func counters() {
        let metrics = MemoryMetrics()
        metrics.count("sent", ("provider", "b"))
        metrics.count("sent", ("provider", "a"))
        metrics.add(2, to: "sent", labels: [("provider", "a")])
        metrics.count("checked")
        let lines = metrics.snapshot().map { "\($0.name) \($0.value)" }
        #expect(
            lines == [
                "checked 1.0", "sent{provider=\"a\"} 3.0", "sent{provider=\"b\"} 1.0",
            ])
    }

    @Test("a quantile is at least the true one and at most a quarter above it")
    func quantiles() {
        let metrics = MemoryMetrics()
        for value in 1...1000 {
            metrics.observe(Double(value) / 1000, in: "wait_seconds", labels: [("m", "x")])
        }
        metrics.observe(.nan, in: "wait_seconds", labels: [("m", "x")])
        metrics.observe(-1, in: "wait_seconds", labels: [("m", "x")])
        var lines: [String: Double] = [:]
        for line in metrics.snapshot() { lines[line.name] = line.value }
        #expect(lines["wait_seconds_count{m=\"x\"}"] == 1000)
        #expect(lines["wait_seconds_max{m=\"x\"}"] == 1)
        let median = lines["wait_seconds_p50{m=\"x\"}"] ?? 0
        #expect(median >= 0.5 && median <= 0.625)
        let last = lines["wait_seconds_p99{m=\"x\"}"] ?? 0
        #expect(last >= 0.99 && last <= 1)
        metrics.observe(0, in: "tiny", labels: [])
        metrics.observe(1e300, in: "tiny", labels: [])
        #expect(
            metrics.snapshot().contains {
                $0.name == "tiny_p99" && $0.value == 1e300 || $0.value > 0
            })
    }

    @Test("beyond the bound new series are dropped and counted, and known ones live on")
    func bound() {
        let metrics = MemoryMetrics(seriesCountMax: 2)
        for _ in 0..<2 { for name in ["a", "b", "c", "d"] { metrics.count("x", ("name", name)) } }
        #expect(
            metrics.snapshot().map { "\($0.name) \($0.value)" } == [
                "metrics_dropped 4.0", "x{name=\"a\"} 2.0", "x{name=\"b\"} 2.0",
            ])
    }
}

@Suite struct DaemonArgumentsTests {
    @Test("values may be attached or follow; switches stand alone")
    func forms() throws {
        let arguments = try DaemonArguments([
            "--home", "/h", "--config=c.toml", "--instance", "b-2", "--set", "a.b=c=d",
            "--set=e.f=", "--foreground", "--die-with-parent",
        ])
        #expect(arguments.home == "/h" && arguments.configurationFile == "c.toml")
        #expect(arguments.instance == "b-2" && arguments.assignments == ["a.b=c=d", "e.f="])
        #expect(arguments.isForeground && arguments.diesWithParent && !arguments.printsVersion)
    }

    @Test(
        "what is not understood is refused by name",
        arguments: [
            (["--hme", "/h"], "--hme is no flag; --help lists them"),
            (["--home"], "--home needs a value"), (["--home="], "--home needs a value"),
            (["stray"], "stray is no flag; --help lists them"),
            (["--version=1"], "--version takes no value"),
            (
                ["--instance", "a/b"],
                "--instance takes 1…32 letters, digits and dashes, not a/b"
            ),
        ])
    func refusals(words: [String], message: String) {
        do throws(DaemonArguments.UsageProblem) {
            _ = try DaemonArguments(words)
            Issue.record("\(words) passed")
        } catch {
            #expect(error.description == message)
        }
    }
}

@Suite struct SystemPauseTests {
    @Test("a cancelled wait ends at once")
    func cancellation() async {
        let pause = SystemPause()
        let began = pause.steadyNow()
        let wasCancelled = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do throws(CancellationError) {
                    try await pause.wait(.seconds(60))
                    return false
                } catch {
                    return true
                }
            }
            group.cancelAll()
            return await group.next() ?? false
        }
        #expect(wasCancelled && pause.steadyNow() - began < .seconds(30))
    }
}
