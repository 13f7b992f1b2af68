package import Primitives

package enum LogLevel: Int, Comparable, Sendable {
    /// One line per decision.
    case debug
    /// Life of the process.
    case info
    /// An operator can act.
    case warning
    /// An operator must act.
    case error

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What may stand in a log line. There is no case for free text from outside and none for a secret.
package enum LogValue: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    case text(String)
    case integer(Int64)
    case flag(Bool)

    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .flag(value) }
    package init(_ number: PhoneNumber) { self = .text(number.masked) }
    package init(_ code: ErrorCode) { self = .text(code.rawValue) }
    package init<Kind>(_ identifier: Identifier<Kind>) { self = .text(identifier.text) }
    package init(_ count: Int) { self = .integer(Int64(count)) }
    package init(_ span: Duration) { self = .integer(span.wholeMilliseconds) }
}

package struct LogRecord: Sendable {
    package let level: LogLevel
    /// Constant: everything that varies is metadata.
    package let message: StaticString
    package let metadata: [(key: String, value: LogValue)]

    package init(
        level: LogLevel, message: StaticString, metadata: [(key: String, value: LogValue)]
    ) {
        self.level = level
        self.message = message
        self.metadata = metadata
    }
}

package protocol LogSink: Sendable {
    var level: LogLevel { get }
    func write(_ record: LogRecord)
}

/// The logging habit of the whole house: a constant message and keyed values.
package struct Log: Sendable {
    private let sink: any LogSink

    package init(_ sink: any LogSink) { self.sink = sink }
    package static let silent = Log(SilentSink())

    package func debug(_ message: StaticString, _ metadata: KeyValuePairs<String, LogValue> = [:]) {
        write(.debug, message, metadata)
    }
    package func info(_ message: StaticString, _ metadata: KeyValuePairs<String, LogValue> = [:]) {
        write(.info, message, metadata)
    }
    package func warning(_ message: StaticString, _ metadata: KeyValuePairs<String, LogValue> = [:])
    {
        write(.warning, message, metadata)
    }
    package func error(_ message: StaticString, _ metadata: KeyValuePairs<String, LogValue> = [:]) {
        write(.error, message, metadata)
    }

    private func write(
        _ level: LogLevel, _ message: StaticString, _ metadata: KeyValuePairs<String, LogValue>
    ) {
        guard level >= sink.level else { return }
        sink.write(LogRecord(level: level, message: message, metadata: metadata.map { ($0, $1) }))
    }
}

private struct SilentSink: LogSink {
    let level = LogLevel.error
    func write(_ record: LogRecord) {}
}
