import Effects

/// What every daemon has: table `[daemon]`.
package struct DaemonSettings: DaemonConfiguration {
    package static let section = "daemon"

    /// debug, info, warning or error: lines below it are not written.
    package var logLevel = "info"
    /// Bytes of a log file before it becomes `.1`.
    package var logFileBytesMax = JSONLogSink.fileBytesMaxDefault
    /// How long a drain may take before the process ends with what is unfinished.
    package var drainSecondsMax = 10
    /// Distinct series that the metrics of one process hold.
    package var metricSeriesCountMax = MemoryMetrics.seriesCountMaxDefault

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        if LogLevel(text: logLevel) == nil {
            problems.append("logLevel must be debug, info, warning or error, not \(logLevel)")
        }
        if !(65_536...1_073_741_824).contains(logFileBytesMax) {
            problems.append("logFileBytesMax must lie in 65536…1073741824, not \(logFileBytesMax)")
        }
        if !(1...300).contains(drainSecondsMax) {
            problems.append("drainSecondsMax must lie in 1…300, not \(drainSecondsMax)")
        }
        if !(16...100_000).contains(metricSeriesCountMax) {
            problems.append(
                "metricSeriesCountMax must lie in 16…100000, not \(metricSeriesCountMax)")
        }
        return problems
    }
}
