import DaemonKit
import FoundationEssentials
import Glibc
import Primitives

/// `fusionctl bench bus`: client, broker and worker as processes of their own, on this machine.
package struct BusBench: Sendable {
    package struct Row: Sendable {
        package let body: String
        package let transport: String
        package let outstanding: Int
        package let callsPerSecond: Double
        package let p50Microseconds: Double
        package let p99Microseconds: Double
        package let failedCount: Int
    }

    /// The tool itself, which is also each of the parts.
    private let executable: String
    private let process: ToolProcess

    package init(process: ToolProcess) {
        executable = "\(ToolProcess.folder)/fusionctl"
        self.process = process
    }

    package func run(
        seconds: Double, outstanding: [Int], progress: @escaping @Sendable (String) -> Void
    ) async throws -> [Row] {
        var folder = Array("/tmp/fusion-bench-XXXXXX".utf8CString)
        guard mkdtemp(&folder) != nil else { throw WiringProblem("no folder in /tmp") }
        let path = String(decoding: folder.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            unlink("\(path)/broker.ipc")
            unlink("\(path)/broker.ipc.lock")
            rmdir(path)
        }
        var rows: [Row] = []
        for kind in BusBenchParts.Kind.allCases {
            for transport in ["ipc", "tcp"] {
                for count in outstanding {
                    let name = "\(kind.rawValue) \(transport) \(count)"
                    let report = try await measure(
                        kind, transport, count, seconds: seconds, socket: "\(path)/broker.ipc")
                    progress("\(name): \(Int(report.perSecond)) calls/s")
                    rows.append(
                        Row(
                            body: kind.rawValue, transport: transport, outstanding: count,
                            callsPerSecond: report.perSecond,
                            p50Microseconds: Double(report.p50Microseconds),
                            p99Microseconds: Double(report.p99Microseconds),
                            failedCount: report.failedCount))
                }
            }
        }
        return rows
    }

    /// One broker, then one worker, then one client, whose report ends the row.
    private func measure(
        _ kind: BusBenchParts.Kind, _ transport: String, _ outstanding: Int, seconds: Double,
        socket: String
    ) async throws -> BusBenchParts.Report {
        let (broker, brokerEvents) = Supervisor.events([plan("broker", ["broker", socket])])
        process.setStop { broker.drain() }
        defer { process.setStop(nil) }
        var report: BusBenchParts.Report?
        var endpoint = "ipc://\(socket)"
        for await event in brokerEvents {
            switch event {
            case .line(_, let text) where transport == "tcp" && text.hasPrefix("endpoint "):
                endpoint = String(text.dropFirst(9))
            case .allReady:
                report = await serve(kind, endpoint, outstanding, seconds)
                broker.drain()
            case .ended(_, .exited(let status)) where status != 0: broker.drain()
            default: break
            }
        }
        guard let report else { throw WiringProblem("a part of the benchmark failed") }
        return report
    }

    private func serve(
        _ kind: BusBenchParts.Kind, _ endpoint: String, _ outstanding: Int, _ seconds: Double
    ) async -> BusBenchParts.Report? {
        let words = ["client", endpoint, kind.rawValue, "\(outstanding)", "\(seconds)"]
        let (worker, events) = Supervisor.events([
            plan("worker", ["worker", endpoint, kind.rawValue]),
            plan("client", words),
        ])
        var report: BusBenchParts.Report?
        for await event in events {
            switch event {
            case .line("client", let text) where text.hasPrefix("report "):
                report = try? JSONDecoder().decode(
                    BusBenchParts.Report.self, from: Data(text.dropFirst(7).utf8))
                worker.drain()
            case .line(let name, let text): ToolProcess.writeError("\(name): \(text)\n")
            case .ended(_, .exited(let status)) where status != 0: worker.drain()
            default: break
            }
        }
        return report
    }

    private func plan(_ name: String, _ words: [String]) -> ChildPlan {
        ChildPlan(
            name: name, executable: executable, arguments: [BusBenchParts.word] + words)
    }
}
