import CLinuxCalls
import Effects
import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A daemon that has read its flags and its configuration and holds its pid file.
struct DaemonStart<C: DaemonConfiguration>: Sendable {
    enum Preparation {
        case ended(DaemonExit)
        case start(DaemonStart)
    }

    let configuration: C
    let settings: [EffectiveSetting]
    let context: DaemonContext
    let pidFile: PidFile
    let sink: JSONLogSink
    let drainMax: Duration
    let beganAt: Duration

    private struct Read {
        var own: ConfigurationReading<C>
        var daemon: ConfigurationReading<DaemonSettings>
        var problems: [String]
        var sections: [(name: String, settings: [EffectiveSetting])]
    }

    static func prepare(
        _ name: String, _ version: String, _ shared: [any DaemonConfiguration.Type],
        _ words: [String], _ environment: [String: String]
    ) -> Preparation {
        let pause = SystemPause()
        let beganAt = pause.steadyNow()
        let arguments: DaemonArguments
        do throws(DaemonArguments.UsageProblem) {
            arguments = try DaemonArguments(words)
        } catch {
            say(STDERR_FILENO, "\(name): \(error)\n")
            return .ended(.usage)
        }
        if arguments.printsHelp { return show(DaemonArguments.help(name)) }
        if arguments.printsVersion {
            return show("\(name) \(version) (\(BuildInfo.configuration))\n")
        }
        if arguments.diesWithParent, !followParent(environment) { return .ended(.cannotStart) }

        let home = HomeResolver.resolve(flag: arguments.home, environment: environment)
        let source = ConfigurationSource(
            file: arguments.configurationFile ?? home.configurationFile,
            isFileRequired: arguments.configurationFile != nil, environment: environment,
            assignments: arguments.assignments)
        let read = read(source, shared)
        if arguments.printsConfiguration {
            say(STDOUT_FILENO, print(source, read.sections))
        }
        guard read.problems.isEmpty else {
            for problem in read.problems { say(STDERR_FILENO, "\(name): \(problem)\n") }
            return .ended(.configuration)
        }
        if arguments.printsConfiguration { return .ended(.drained) }
        if arguments.checksConfiguration { return show("configuration is good\n") }
        return open(name, version, arguments, home, source, read, beganAt)
    }

    private static func open(
        _ name: String, _ version: String, _ arguments: DaemonArguments, _ home: Home,
        _ source: ConfigurationSource, _ read: Read, _ beganAt: Duration
    ) -> Preparation {
        let pidFile: PidFile
        let instance: String
        do {
            try home.open()
            (pidFile, instance) = try claim(name, arguments.instance, home)
        } catch PidFileProblem.taken(let path) {
            say(STDERR_FILENO, "\(name): another process is this instance (\(path))\n")
            return .ended(.cannotStart)
        } catch {
            say(STDERR_FILENO, "\(name): \(error)\n")
            return .ended(.cannotStart)
        }
        let settings = read.daemon.configuration
        let metrics = MemoryMetrics(seriesCountMax: settings.metricSeriesCountMax)
        let sink = JSONLogSink(
            path: home.logFile(name, instance), level: LogLevel(text: settings.logLevel) ?? .info,
            constants: [("daemon", name), ("instance", instance)],
            isOnStandardError: arguments.isForeground || isatty(STDERR_FILENO) == 1,
            fileBytesMax: settings.logFileBytesMax, metrics: metrics)
        let context = DaemonContext(
            daemon: name, version: version, instance: instance, home: home, configuration: source,
            log: Log(sink), metrics: metrics)
        return .start(
            DaemonStart(
                configuration: read.own.configuration,
                settings: read.sections.flatMap { section in
                    section.settings.map { setting in
                        EffectiveSetting(
                            path: "\(section.name).\(setting.path)", value: setting.value,
                            origin: setting.origin, isLimit: setting.isLimit)
                    }
                },
                context: context, pidFile: pidFile, sink: sink,
                drainMax: .seconds(settings.drainSecondsMax), beganAt: beganAt))
    }

    func run(
        _ events: AsyncStream<DaemonEvent>, _ inbox: AsyncStream<DaemonEvent>.Continuation,
        _ makeParts: @escaping Daemon.MakeParts<C>
    ) async -> DaemonExit {
        tellStart()
        let log = context.log
        let parts: [any DaemonPart]
        do {
            parts = try await makeParts(configuration, context)
        } catch {
            log.error("could not start", ["error": .text("\(error)")])
            say(STDERR_FILENO, "\(context.daemon): \(error)\n")
            await context.hooks.close(log)
            pidFile.release()
            return .cannotStart
        }
        let (pidFile, pause, beganAt) = (pidFile, context.pause, beganAt)
        let runner = DaemonRunner(
            parts: parts, log: log, pause: pause, hooks: context.hooks, drainMax: drainMax,
            onReady: {
                pidFile.mark(.ready)
                tellReady()
                log.info("ready", ["start.milliseconds": .init(pause.steadyNow() - beganAt)])
            },
            onDrain: {
                pidFile.mark(.draining)
                log.info("draining")
            },
            giveUp: {
                log.error("drain took too long")
                pidFile.release()
                Daemon.end(.drainTimedOut)
            })
        let status = await runner.run(events, inbox)
        log.info("stopped", ["exit": .integer(Int64(status.rawValue))])
        pidFile.release()
        return status
    }

    /// One line with what is in effect: every whole number and flag of the sections that were read.
    private func tellStart() {
        raiseOpenFilesMax()
        var metadata: [(key: String, value: LogValue)] = [
            ("version", .text(context.version)), ("build", .text(BuildInfo.configuration)),
            ("pid", .integer(Int64(getpid()))), ("home", .text(context.home.path)),
            ("production", .flag(context.isProduction)),
            ("open.files.max", .integer(openFilesMax())),
        ]
        for setting in settings where setting.isLimit {
            metadata.append(
                (
                    setting.path,
                    Int64(setting.value).map { .integer($0) }
                        ?? .text(setting.value)
                ))
        }
        sink.write(LogRecord(level: .info, message: "started", metadata: metadata))
    }
}

// MARK: Steps

extension DaemonStart {
    private static func read(
        _ source: ConfigurationSource, _ shared: [any DaemonConfiguration.Type]
    ) -> Read {
        let daemon = source.read(DaemonSettings.self)
        let own = source.read(C.self)
        var read = Read(
            own: own, daemon: daemon, problems: source.problems + daemon.problems,
            sections: [(DaemonSettings.section, daemon.settings)])
        for type in shared { add(type, source, &read) }
        read.problems += own.problems
        read.sections.append((C.section, own.settings))
        return read
    }

    private static func add<S: DaemonConfiguration>(
        _ type: S.Type, _ source: ConfigurationSource, _ read: inout Read
    ) {
        let reading = source.read(type)
        read.problems += reading.problems
        read.sections.append((S.section, reading.settings))
    }

    private static func print(
        _ source: ConfigurationSource, _ sections: [(name: String, settings: [EffectiveSetting])]
    ) -> String {
        var text = "production = \(source.isProduction)\n"
        for (name, settings) in sections {
            text += "\n[\(name)]\n"
            for setting in settings {
                let isNone = setting.value == "(none)"
                text +=
                    isNone
                    ? "# \(setting.path) is not set\n"
                    : "\(setting.path) = \(setting.value)  # \(setting.origin)\n"
            }
        }
        return text
    }

    private static func show(_ text: String) -> Preparation {
        say(STDOUT_FILENO, text)
        return .ended(.drained)
    }

    /// The named instance, or the smallest number that no living process has.
    private static func claim(
        _ daemon: String, _ wanted: String?, _ home: Home
    ) throws(PidFileProblem) -> (PidFile, String) {
        if let wanted { return (try PidFile.acquire(home.pidFile(daemon, wanted)), wanted) }
        var last = PidFileProblem.taken(path: home.run)
        for number in 1...Daemon.instancesMax {
            do throws(PidFileProblem) {
                return (try PidFile.acquire(home.pidFile(daemon, "\(number)")), "\(number)")
            } catch .taken(let path) {
                last = .taken(path: path)
            }
        }
        throw last
    }

    /// SIGTERM when the parent's thread that started this process ends. False when the parent is
    /// gone already.
    private static func followParent(_ environment: [String: String]) -> Bool {
        guard setDeathSignal(SIGTERM) else { return false }
        guard let text = environment[Daemon.parentVariable], let parent = Int32(text) else {
            return getppid() != 1
        }
        return getppid() == parent
    }
}

private func setDeathSignal(_ signal: Int32) -> Bool {
    fusion_die_with_parent(signal) == 0
}

/// Sockets and files: the soft limit goes up to the hard one, at most 65,536.
private func raiseOpenFilesMax() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

private func openFilesMax() -> Int64 {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int64(clamping: limit.rlim_cur)
}

/// For a supervisor that waits on a pipe instead of reading the pid file.
private func tellReady() {
    guard let text = getenv(Daemon.readyVariable), let descriptor = Int32(String(cString: text)),
        descriptor > STDERR_FILENO
    else { return }
    _ = write(descriptor, "ready\n", 6)
    close(descriptor)
}

func say(_ descriptor: Int32, _ text: String) {
    let bytes = Array(text.utf8)
    _ = write(descriptor, bytes, bytes.count)
}
