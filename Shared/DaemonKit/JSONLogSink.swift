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
/// daemon's log never takes more than twice the bound. A line that cannot be written whole leaves
/// nothing behind and is counted, not retried: a full disk must not stop the daemon. The first line
/// that can be written again is preceded by one that tells how many were lost.
package final class JSONLogSink: LogSink {
    /// Of lines that the file did not take.
    package static let lostMetric = "log_lines_lost"
    package static let fileBytesMaxDefault = 64 * 1024 * 1024

    package let level: LogLevel
    private let constants: [(key: String, value: String)]
    private let clock: any WallClock
    private let metrics: any Metrics
    private let isOnStandardError: Bool
    private let file: Lock<LogFile>?

    /// - Parameter path: nil for no file.
    /// - Parameter constants: on every line, after time, level and message.
    package init(
        path: String?, level: LogLevel, constants: [(key: String, value: String)],
        isOnStandardError: Bool, fileBytesMax: Int = JSONLogSink.fileBytesMaxDefault,
        metrics: any Metrics = NoMetrics(), clock: any WallClock = SystemWallClock()
    ) {
        self.level = level
        self.constants = constants
        self.clock = clock
        self.metrics = metrics
        self.isOnStandardError = isOnStandardError
        file = path.map { Lock(LogFile(path: $0, bytesMax: fileBytesMax)) }
    }

    package func write(_ record: LogRecord) {
        let bytes = line(record)
        if isOnStandardError { _ = writeWhole(STDERR_FILENO, bytes) }
        let isWritten = file?.withLock { file in
            if file.lostCountUntold > 0, file.append(lostNotice(file.lostCountUntold)) {
                file.lostCountUntold = 0
            }
            return file.append(bytes) || file.lose()
        }
        if isWritten == false { metrics.count(Self.lostMetric) }
    }

    private func lostNotice(_ count: Int) -> [UInt8] {
        line(
            LogRecord(
                level: .warning, message: "lines were lost", metadata: [("count", .init(count))]))
    }

    private func line(_ record: LogRecord) -> [UInt8] {
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
        return line.finished()
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
    /// Those of which the file does not tell yet.
    var lostCountUntold = 0

    init(path: String, bytesMax: Int) {
        self.path = path
        self.bytesMax = max(bytesMax, JSONLine.lineBytesMax)
        reopen()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The whole line or nothing of it.
    /// - Returns: whether it stands.
    func append(_ bytes: [UInt8]) -> Bool {
        if bytesCount + bytes.count > bytesMax { rotate() }
        if descriptor < 0 { reopen() }
        guard descriptor >= 0 else { return false }
        let count = writeWhole(descriptor, bytes)
        guard count == bytes.count else {
            takeBack(count)
            return false
        }
        bytesCount += bytes.count
        return true
    }

    /// - Returns: false, for the line that is lost.
    func lose() -> Bool {
        lostCount += 1
        lostCountUntold += 1
        return false
    }

    /// Half a line would spoil the next one. From the end as it is: others may have cut the file.
    private func takeBack(_ count: Int) {
        var status = stat()
        guard count > 0, fstat(descriptor, &status) == 0, status.st_size >= off_t(count) else {
            return
        }
        while ftruncate(descriptor, status.st_size - off_t(count)) != 0, errno == EINTR {}
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

/// - Returns: the bytes that were written: all, or those before a failure.
private func writeWhole(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { buffer in
        var count = 0
        while count < buffer.count {
            let part = UnsafeRawBufferPointer(rebasing: buffer[count...])
            let written = write(descriptor, part.baseAddress, part.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { break }
            count += written
        }
        return count
    }
}
