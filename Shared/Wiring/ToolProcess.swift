import Glibc
import Primitives

/// The life of a command-line tool: it ends with its command's status, and Ctrl-C reaches the command
/// only where that wants to finish in order.
package final class ToolProcess: Sendable {
    private let onStop = Lock<(@Sendable () -> Void)?>(nil)

    private init() {}

    /// Runs `command` and never returns. Call it from a synchronous `main`: signals are blocked here for
    /// every thread to come, and this one waits for them.
    @available(*, noasync)
    package static func run(
        _ command: @escaping @Sendable (ToolProcess) async -> Int32
    ) -> Never {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        let process = ToolProcess()
        Task.detached {
            let status = await command(process)
            fflush(nil)
            _exit(status)
        }
        while true {
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            guard let stop = process.onStop.withLock({ $0 }) else { _exit(128 + number) }
            stop()
        }
    }

    /// From now on the first signals call `stop` instead of ending the process; nil undoes it.
    package func setStop(_ stop: (@Sendable () -> Void)?) { onStop.withLock { $0 = stop } }

    /// Words of the command line without the program's name.
    package static var words: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// The folder of this executable, where the daemons lie too.
    package static var folder: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        let text = String(
            decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.lastIndex(of: "/").map { String(text[..<$0]) } ?? "."
    }

    package static func writeOut(_ text: String) { write(STDOUT_FILENO, text) }
    package static func writeError(_ text: String) { write(STDERR_FILENO, text) }

    private static func write(_ descriptor: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: offset), $0.count - offset)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            offset += count
        }
    }
}
