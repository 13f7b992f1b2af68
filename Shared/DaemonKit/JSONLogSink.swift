import CLinuxCalls
package import Effects
import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Log lines as JSON, one object a line, one `write` a line: to a file, and to stderr when asked.
///
/// A file at its bound becomes `<file>.1` (replacing an older one) and a new one begins, so a
/// daemon's log never takes more than twice the bound. A line that cannot be written is counted,
/// not retried: a full disk must not stop the daemon.
package final class JSONLogSink: LogSink {
    package static let fileBytesMaxDefault = 64 * 1024 * 1024

    package let level: LogLevel
    private let constants: [(key: String, value: String)]
    private let clock: any WallClock
    private let isOnStandardError: Bool
    private let file: Lock<LogFile>?

    /// - Parameter path: nil for no file.
    /// - Parameter constants: on every line, after time, level and message.
    package init(
        path: String?, level: LogLevel, constants: [(key: String, value: String)],
        isOnStandardError: Bool, fileBytesMax: Int = JSONLogSink.fileBytesMaxDefault,
        clock: any WallClock = SystemWallClock()
    ) {
        self.level = level
        self.constants = constants
        self.clock = clock
        self.isOnStandardError = isOnStandardError
        file = path.map { Lock(LogFile(path: $0, bytesMax: fileBytesMax)) }
    }

    package func write(_ record: LogRecord) {
        var line = JSONLine()
        line.add("time", timestampText(clock.now()))
        line.add("level", record.level.text)
        line.add("message", record.message.description)
        for (key, value) in constants { line.add(key, value) }
        for (key, value) in record.metadata {
            switch value {
            case .text(let text): line.add(key, text)
            case .integer(let number): line.add(key, number)
            case .flag(let flag): line.add(key, flag)
            }
        }
        let bytes = line.finished()
        if isOnStandardError { _ = Glibc.write(STDERR_FILENO, bytes, bytes.count) }
        file?.withLock { $0.append(bytes) }
    }

    /// Lines that could not be written to the file.
    package var lostCount: Int { file?.withLock { $0.lostCount } ?? 0 }
}

extension LogLevel {
    package var text: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    package init?(text: String) {
        guard let level = [Self.debug, .info, .warning, .error].first(where: { $0.text == text })
        else { return nil }
        self = level
    }
}

private final class LogFile {
    private let path: String
    private let bytesMax: Int
    private var descriptor: Int32 = -1
    private var bytesCount = 0
    private(set) var lostCount = 0

    init(path: String, bytesMax: Int) {
        self.path = path
        self.bytesMax = max(bytesMax, JSONLine.lineBytesMax)
        reopen()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func append(_ bytes: [UInt8]) {
        if bytesCount + bytes.count > bytesMax { rotate() }
        if descriptor < 0 { reopen() }
        guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            lostCount += 1
            return
        }
        bytesCount += bytes.count
    }

    private func rotate() {
        rename(path, path + ".1")
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func reopen() {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640)
        var status = stat()
        bytesCount = descriptor >= 0 && fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }
}
