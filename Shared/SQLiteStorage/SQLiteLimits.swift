import Primitives

/// The bounds of a store on one file.
package struct SQLiteLimits: Sendable {
    /// Decisions of one commit. With `groupTimeMax`, also the longest turn among processes on one file.
    package static let groupCountMax = 256
    package static let groupTimeMax = Duration.milliseconds(5)
    /// How long a group waits for another process before its callers are told `unavailable`.
    package static let waitMax = Duration.seconds(2)
    /// Pages of the write-ahead log (4 KiB each) after which a commit also moves them into the file.
    static let checkpointPages = 4_000
    /// Page cache, in KiB.
    static let cacheKibibytes = 4_096

    /// Decisions that may wait for the writer; one more is `overloaded`.
    package let queueCountMax: Int
    /// `groupCountMax` unless lowered, to measure what a group is worth.
    package let groupCount: Int

    package init(queueCountMax: Int = 8_192, groupCount: Int = Self.groupCountMax) {
        precondition(
            queueCountMax > 0 && groupCount > 0 && groupCount <= Self.groupCountMax,
            "a store that takes no work")
        self.queueCountMax = queueCountMax
        self.groupCount = groupCount
    }
}

extension Duration {
    /// For C interfaces that take an `int` of milliseconds.
    var wholeMillisecondsClamped: Int64 { min(wholeMilliseconds, Int64(Int32.max)) }
}
