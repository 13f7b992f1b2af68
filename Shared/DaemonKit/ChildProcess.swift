import CLinuxCalls

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One process that a supervisor started: its id, and the descriptors that tell of its end, its
/// lines and its readiness.
struct ChildProcess {
    /// Bytes of one output line; a longer one is passed on in pieces.
    static let lineBytesMax = 16 * 1024
    /// The child's end of the readiness pipe has this number, so that a shell can write to it.
    static let readyDescriptor: Int32 = 3

    let processID: pid_t
    /// Readable once the process has ended (pidfd_open).
    let endDescriptor: Int32
    private(set) var outputDescriptor: Int32
    private(set) var readyDescriptor: Int32
    private var pending: [UInt8] = []

    struct StartFault: Error { let code: Int32 }

    /// - Parameter environment: whole; only the variables of readiness and parent are added.
    static func start(
        _ plan: ChildPlan, environment: [String: String]
    ) throws(StartFault) -> ChildProcess {
        var output: [Int32] = [-1, -1]
        var ready: [Int32] = [-1, -1]
        guard pipe2(&output, O_CLOEXEC) == 0 else { throw StartFault(code: errno) }
        guard pipe2(&ready, O_CLOEXEC) == 0 else {
            let code = errno
            for descriptor in output { close(descriptor) }
            throw StartFault(code: code)
        }
        defer {
            close(output[1])
            close(ready[1])
        }
        var processID: pid_t = 0
        let status = spawn(plan, environment, output[1], ready[1], &processID)
        let end = status == 0 ? pidfd_open(processID, 0) : -1
        guard status == 0, end >= 0 else {
            let code = status != 0 ? status : errno
            if status == 0 {
                kill(processID, SIGKILL)
                waitpid(processID, nil, 0)
            }
            close(output[0])
            close(ready[0])
            throw StartFault(code: code)
        }
        for descriptor in [output[0], ready[0]] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        return ChildProcess(
            processID: processID, endDescriptor: end, outputDescriptor: output[0],
            readyDescriptor: ready[0])
    }

    private init(
        processID: pid_t, endDescriptor: Int32, outputDescriptor: Int32, readyDescriptor: Int32
    ) {
        self.processID = processID
        self.endDescriptor = endDescriptor
        self.outputDescriptor = outputDescriptor
        self.readyDescriptor = readyDescriptor
    }

    private static func spawn(
        _ plan: ChildPlan, _ environment: [String: String], _ output: Int32, _ ready: Int32,
        _ processID: inout pid_t
    ) -> Int32 {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var usual = sigset_t()
        sigemptyset(&usual)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD] { sigaddset(&usual, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        // A group of its own: Ctrl-C of a terminal reaches the supervisor alone, which stops in
        // order.
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ready, readyDescriptor)

        var environment = environment
        environment[Daemon.readyVariable] = "\(readyDescriptor)"
        environment[Daemon.parentVariable] = "\(getpid())"
        let variables = environment.keys.sorted().map { "\($0)=\(environment[$0] ?? "")" }
        return withTexts([plan.executable] + plan.arguments) { arguments in
            withTexts(variables) { variables in
                posix_spawn(
                    &processID, plan.executable, &actions, &attributes, arguments, variables)
            }
        }
    }

    private static func withTexts<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }

    // MARK: While it runs

    /// To the child and whatever it started.
    func signal(_ number: Int32) { kill(-processID, number) }

    /// Whether the child said `ready`. Closes the pipe when it did, or can no longer.
    mutating func readReady() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(readyDescriptor, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        close(readyDescriptor)
        readyDescriptor = -1
        return count > 0
    }

    /// Whole lines that have arrived, and at the end of output what is left.
    mutating func readLines() -> [String] {
        var bytes = [UInt8](repeating: 0, count: Self.lineBytesMax)
        let count = read(outputDescriptor, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        if count <= 0 {
            close(outputDescriptor)
            outputDescriptor = -1
            defer { pending = [] }
            return pending.isEmpty ? [] : [String(decoding: pending, as: UTF8.self)]
        }
        pending += bytes[..<count]
        var lines: [String] = []
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: pending[..<end], as: UTF8.self))
            pending.removeSubrange(...end)
        }
        if pending.count >= Self.lineBytesMax {
            lines.append(String(decoding: pending, as: UTF8.self))
            pending = []
        }
        return lines
    }

    /// Collects the ended process. Call it when `endDescriptor` is readable.
    mutating func collect() -> (end: ChildEnd, lines: [String]) {
        var lines: [String] = []
        // What it wrote last is in the pipe; a grandchild that lives on must not hold this up.
        while outputDescriptor >= 0 {
            let before = lines.count
            lines += readLines()
            if lines.count == before { break }
        }
        // Whatever the child itself started goes with it. Before it is collected its id cannot be
        // another's.
        kill(-processID, SIGKILL)
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        for descriptor in [endDescriptor, outputDescriptor, readyDescriptor] where descriptor >= 0 {
            close(descriptor)
        }
        if !pending.isEmpty { lines.append(String(decoding: pending, as: UTF8.self)) }
        let end: ChildEnd =
            fusion_exited(status) != 0
            ? .exited(fusion_exit_status(status)) : .signalled(fusion_term_signal(status))
        return (end, lines)
    }
}
