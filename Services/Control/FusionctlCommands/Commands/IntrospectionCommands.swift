import Bus
import Effects
import Messages
import Primitives

/// `ping`, `info`, `stats`: what every service answers.
enum IntrospectionCommands {
    static let all = [ping, info, stats, health]

    private static let options =
        CommandSyntax.calling + [.value("instance", "ID", "ask this instance only")]

    private static let ping = Command(
        CommandSyntax(
            "ping", optional: ["SERVICE"], options: options,
            "asks whether a service is there; without SERVICE, every one of the design")
    ) { arguments, desk in
        guard let service = arguments.operand(0) else { return try await pingAll(arguments, desk) }
        return try await ask(service, "ping", arguments, desk)
    }

    private static let info = Command(
        CommandSyntax(
            "info", operands: ["SERVICE"], options: options,
            "what a service offers; broker lists every worker")
    ) { arguments, desk in try await ask(try arguments.required(0), "info", arguments, desk) }

    private static let stats = Command(
        CommandSyntax(
            "stats", operands: ["SERVICE"], options: options,
            "calls, errors and time by method, and the service's metrics")
    ) { arguments, desk in try await ask(try arguments.required(0), "stats", arguments, desk) }

    private static let health = Command(
        CommandSyntax(
            "health", options: CommandSyntax.calling,
            "queues, workers and credit of every service, as the broker sees them")
    ) { arguments, desk in try await ask(Introspection.broker, "health", arguments, desk) }

    private static func ask(
        _ service: String, _ verb: String, _ arguments: Arguments, _ desk: Desk
    ) async throws -> ExitStatus {
        let connection = try await desk.connect(arguments)
        let name = arguments["instance"].map { "\(service)@\($0)" } ?? service
        let result = try await Introspection(connection: connection, random: desk.machine.random)
            .ask(name, verb, try desk.options(arguments))
        desk.show(result)
        return .done
    }

    /// Services of the catalogue, in order of first mention.
    static var services: [String] {
        var seen: [String] = []
        for method in MessageCatalog.methods where !seen.contains(method.service) {
            seen.append(method.service)
        }
        return seen
    }

    private static func pingAll(_ arguments: Arguments, _ desk: Desk) async throws -> ExitStatus {
        let connection = try await desk.connect(arguments)
        let introspection = Introspection(connection: connection, random: desk.machine.random)
        var options = try desk.options(arguments)
        options.timeout = options.timeout ?? .milliseconds(500)
        var table = Table(["SERVICE", "DAEMON", "INSTANCE", "VERSION", "MS"])
        var items: [JSONValue] = []
        var isComplete = true
        for service in services {
            let began = desk.machine.pause.steadyNow()
            let answer = try? await introspection.ask(service, "ping", options)
            let took = (desk.machine.pause.steadyNow() - began).wholeMilliseconds
            isComplete = isComplete && answer != nil
            table.add([
                service, answer?["name"]?.string ?? "no answer", answer?["id"]?.string ?? "–",
                answer?["version"]?.string ?? "–", answer == nil ? "–" : "\(took)",
            ])
            items.append(
                .object([
                    "service": .text(service), "answered": .flag(answer != nil),
                    "id": answer?["id"] ?? .null,
                ]))
        }
        desk.terminal.result(
            desk.isJSON ? JSONValue.object(["services": .list(items)]).pretty : table.text)
        return isComplete ? .done : .failed
    }
}

/// Asks `ping`, `info` or `stats` of a service or of one instance.
struct Introspection: Sendable {
    let connection: Connection
    let random: any RandomSource

    func ask(
        _ service: String, _ verb: String, _ options: CallOptions
    ) async throws(CommandFailure) -> JSONValue {
        if service == Self.broker { return try await askBroker(verb, options) }
        let method = "\(service.prefix { $0 != "@" }).\(verb)"
        let body = RawCall.body(
            method: method, id: Hex.encode(random.bytes(8)), parameters: .object([]),
            requestKey: nil, onBehalfOf: nil)
        let reply = await connection.raw(method, service, body, options)
        guard reply.status == .ok || reply.status == .refused else {
            throw CommandFailure(LinkCaller.busFailure(reply))
        }
        let envelope = JSONValue(reply.body)
        if let error = envelope?["error"] { throw RawCall.failure(error) }
        guard let result = envelope?["result"] else {
            throw CommandFailure("the reply is not JSON-RPC", next: nil)
        }
        return result
    }

    /// The name under which the broker itself is asked here; on the bus it answers `mmi.<verb>`, whose
    /// body chooses a service and is empty for all (RFC 8).
    static let broker = "broker"

    private func askBroker(
        _ verb: String, _ options: CallOptions
    ) async throws(CommandFailure) -> JSONValue {
        let reply = await connection.raw("mmi.\(verb)", "mmi.\(verb)", [], options)
        guard reply.status == .ok else { throw CommandFailure(LinkCaller.busFailure(reply)) }
        guard let result = JSONValue(reply.body) else {
            throw CommandFailure(
                "the broker does not know \(verb)", next: "ping, info, stats or health")
        }
        return result
    }
}
