import DaemonKit
import Effects
import Glibc
import Primitives

/// A daemon with parts that do as its settings say; the tests of DaemonKit run it as a real process.
@main enum DaemonProbe {
    static func main() { Daemon.run("daemon-probe", makeProbeParts) }
}

struct ProbeSettings: DaemonConfiguration {
    static let section = "echo"
    /// The part that is asked first, and what it does: wait, fail, end, stick, refuse.
    var conduct = "wait"
    var secret = Secret("hush")
    var sizeMax = 3

    func problems() -> [String] { sizeMax > 9 ? ["sizeMax must be at most 9"] : [] }
}

struct ProbeFault: Error {}

@Sendable func makeProbeParts(
    _ settings: ProbeSettings, _ context: DaemonContext
) async throws -> [any DaemonPart] {
    if settings.conduct == "refuse" { throw ProbeFault() }
    context.hooks.onReload("probe") { context.log.info("reload seen") }
    context.hooks.onClose("probe") { context.log.info("closed") }
    return [
        ProbePart(name: "first", conduct: "wait", context: context),
        ProbePart(name: "second", conduct: settings.conduct, context: context),
    ]
}

final class ProbePart: DaemonPart {
    let name: String
    private let conduct: String
    private let context: DaemonContext
    private let stream: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(name: String, conduct: String, context: DaemonContext) {
        self.name = name
        self.conduct = conduct
        self.context = context
        (stream, end) = AsyncStream.makeStream(of: Void.self)
    }

    func run() async throws {
        if conduct == "fail" { throw ProbeFault() }
        if conduct == "end" { return }
        for await _ in stream {}
    }

    func drain() async {
        context.log.info("part drained", ["part": .text(name)])
        if conduct != "stick" { end.finish() }
    }
}
