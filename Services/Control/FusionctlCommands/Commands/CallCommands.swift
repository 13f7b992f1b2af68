import Bus
import Effects
import Messages
import Primitives

/// `call` and `verify`.
enum CallCommands {
    static let all = [call, verify]

    private static let call = Command(
        CommandSyntax(
            "call", operands: ["METHOD"], optional: ["JSON"],
            options: CommandSyntax.calling + [
                .value("request-key", "KEY", "same key, same answer, for 24 hours"),
                .value("instance", "ID", "ask this instance only"),
                .value("on-behalf-of", "ROLE:NAME", "what only a gateway may say"),
            ],
            "calls any method; JSON is its params object, - reads it from stdin")
    ) { arguments, desk in
        let method = try arguments.required(0)
        let text = arguments.operand(1) ?? "{}"
        let given = text == "-" ? try desk.machine.readFile("/dev/stdin") : Array(text.utf8)
        guard let parameters = JSONValue(given), case .object = parameters else {
            throw CommandFailure(
                "the parameters are not a JSON object",
                next: #"fusionctl call echo.echo '{"text":"hi"}'"#,
                status: .usage)
        }
        guard let dot = method.lastIndex(of: "."), dot != method.startIndex else {
            throw CommandFailure(
                "a method is service.verb", next: "fusionctl schema lists them", status: .usage)
        }
        var options = try desk.options(arguments)
        if options.timeout == nil {
            options.timeout = MessageCatalog.methods.first { $0.name == method }?.timeout
        }
        let body = RawCall.body(
            method: method, id: Hex.encode(desk.machine.random.bytes(8)), parameters: parameters,
            requestKey: options.requestKey, onBehalfOf: try onBehalfOf(arguments))
        let service = String(method[..<dot])
        let reply = await (try await desk.connect(arguments)).raw(
            method, options.instanceID.map { "\(service)@\($0)" } ?? service, body, options)
        return try show(reply, desk)
    }

    private static func onBehalfOf(_ arguments: Arguments) throws(CommandFailure) -> JSONValue? {
        guard let text = arguments["on-behalf-of"] else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let role = parts.first, let name = parts.last else {
            throw CommandFailure(
                "--on-behalf-of takes ROLE:NAME", next: "--on-behalf-of integrator:acme",
                status: .usage)
        }
        return .object(["role": .text(role), "name": .text(name)])
    }

    private static func show(_ reply: BusReply, _ desk: Desk) throws(CommandFailure) -> ExitStatus {
        guard reply.status == .ok || reply.status == .refused else {
            throw CommandFailure(LinkCaller.busFailure(reply))
        }
        guard let envelope = JSONValue(reply.body) else {
            throw CommandFailure("the reply is not JSON", next: "is the worker one of ours?")
        }
        if let error = envelope["error"] { throw RawCall.failure(error) }
        desk.show(envelope["result"] ?? .null)
        return .done
    }

    private static let verify = Command(
        CommandSyntax(
            "verify", operands: ["MASKTOKEN"],
            options: CommandSyntax.calling + [
                .value("number", "NUMBER", "another number is REJECT"),
                .value("scheme", "CODE", "a token of another scheme is UNKNOWN"),
                .value("request-key", "KEY", "same key, same answer, for 24 hours"),
            ],
            "exchanges a mask token once for PASS and the number; exits 1 unless PASS")
    ) { arguments, desk in
        let request = VerifyMaskToken(
            maskToken: Secret(try arguments.required(0)), number: arguments["number"],
            schemeCode: arguments["scheme"])
        let connection = try await desk.connect(arguments)
        let verified = try await desk.call(request, on: connection, try desk.options(arguments))
        try desk.show(verified)
        return verified.result == .pass ? .done : .failed
    }
}

/// The body of a call whose parameters come as JSON, and its error.
enum RawCall {
    static func body(
        method: String, id: String, parameters: JSONValue, requestKey: String?,
        onBehalfOf: JSONValue?
    ) -> [UInt8] {
        var meta: [JSONValue.Member] = []
        if let requestKey {
            meta.append(JSONValue.Member(name: "requestKey", value: .text(requestKey)))
        }
        if let onBehalfOf {
            meta.append(JSONValue.Member(name: "onBehalfOf", value: onBehalfOf))
        }
        var members: [JSONValue.Member] = [
            .init(name: "jsonrpc", value: .text("2.0")), .init(name: "id", value: .text(id)),
            .init(name: "method", value: .text(method)),
            .init(name: "params", value: parameters),
        ]
        if !meta.isEmpty { members.append(.init(name: "meta", value: .object(meta))) }
        return Array(JSONValue.object(members).compact.utf8)
    }

    /// A JSON-RPC error object as a failure.
    static func failure(_ error: JSONValue) -> CommandFailure {
        var retryAfter: Int64?
        if case .integer(let span) = error["data"]?["retryAfterMilliseconds"] { retryAfter = span }
        var code = ErrorCode.internalFault
        if case .integer(-32601) = error["code"] { code = .methodNotFound }
        if let reason = error["data"]?["reason"]?.string { code = ErrorCode(rawValue: reason) }
        return CommandFailure(
            ServiceFailure(
                code, error["message"]?.string ?? "no message",
                field: error["data"]?["field"]?.string, retryAfterMilliseconds: retryAfter))
    }
}
