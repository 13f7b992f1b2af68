import Bus
package import Primitives

/// One command of the tool: what it takes and what it does.
struct Command: Sendable {
    let syntax: CommandSyntax
    let run: @Sendable (Arguments, Desk) async throws -> ExitStatus

    init(
        _ syntax: CommandSyntax,
        _ run: @escaping @Sendable (Arguments, Desk) async throws -> ExitStatus
    ) {
        self.syntax = syntax
        self.run = run
    }
}

package enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    /// The command line could not be understood.
    case usage = 2
}

/// Why a command did not do it, and what a person does next.
package struct CommandFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String
    package let next: String?
    package let reason: String?
    package let status: ExitStatus

    package init(
        _ message: String, next: String?, reason: String? = nil, status: ExitStatus = .failed
    ) {
        self.message = message
        self.next = next
        self.reason = reason
        self.status = status
    }

    static func usage(_ message: String, _ syntax: CommandSyntax) -> Self {
        Self(
            message,
            next: "\(syntax.usage) · fusionctl help \(syntax.words.joined(separator: " "))",
            status: .usage)
    }

    /// A refusal of the bus or of a service, with what an operator can do about it.
    package init(_ failure: ServiceFailure) {
        let field = failure.field.map { " (\($0))" } ?? ""
        var wait: String?
        if let span = failure.retryAfterMilliseconds, span > 0 {
            wait = "repeat it in \((span + 999) / 1000) s"
        }
        self.init(
            "\(failure.code.rawValue)\(field): \(failure.message)",
            next: wait ?? Self.unanswered[failure] ?? Self.advice[failure.code],
            reason: failure.code.rawValue)
    }

    /// What the bus says when no daemon has answered.
    private static let unanswered: [ServiceFailure: String] = [
        LinkCaller.busFailure(BusReply(status: .noSuchService)):
            "is it running? fusionctl ps · fusionctl up",
        LinkCaller.busFailure(BusReply(status: .deadlinePassed)):
            "is it running? fusionctl ps · or give it longer: --timeout",
        LinkCaller.busFailure(BusReply(status: .cancelled)): "repeat it",
    ]

    /// What a daemon that has answered says.
    private static let advice: [ErrorCode: String] = [
        .unavailable: "the daemon runs and says so itself; its log has more: log/ in the home",
        .deadlinePassed: "give it longer: --timeout",
        .notAllowed: "look at etc/policy.toml and etc/peers.toml of the home",
        .methodNotFound: "fusionctl schema lists the methods",
        .invalidParameters: "fusionctl schema describes the fields",
        .schemeNotFound: "fusionctl scheme list",
        .schemeDisabled: "fusionctl scheme enable CODE",
        .keyNotFound: "fusionctl key list",
        .numberInvalid: "write it as + and country code",
        .internalFault: "the daemon's log has the detail: log/ in the home",
        .overloaded: "repeat it",
        .workerLost: "repeat it",
    ]

    package var description: String { message + (next.map { "\n→ \($0)" } ?? "") }
}

/// Where a command speaks: results go to stdout, progress and complaints to stderr.
package protocol Terminal: Sendable {
    func result(_ text: String)
    func progress(_ text: String)
}
