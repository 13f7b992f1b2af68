import Glibc
import SQLiteStorage

/// `fusionctl bench store`: what group commit is worth on this machine's disk.
package enum StoreBenchRun {
    package struct Row: Sendable {
        package let name: String
        package let decisionsPerSecond: Double
        /// Against one commit for each decision.
        package let ratio: Double
    }

    /// - Parameter folder: on the disk to be measured; made files go when it is done.
    package static func run(folder: String, seconds: Double) async throws -> [Row] {
        let path = "\(folder)/bench-\(getpid()).db"
        defer {
            for name in [path, path + ".grouped"] {
                for suffix in ["", "-wal", "-shm", ".entry", ".work"] { unlink(name + suffix) }
            }
        }
        let comparison = try await StoreBench.compare(
            path: path, for: .milliseconds(Int64(seconds * 1_000)))
        return [
            Row(
                name: "one commit each",
                decisionsPerSecond: comparison.oneCommitEach.perSecond, ratio: 1),
            Row(
                name: "in groups", decisionsPerSecond: comparison.grouped.perSecond,
                ratio: comparison.ratio),
        ]
    }
}
