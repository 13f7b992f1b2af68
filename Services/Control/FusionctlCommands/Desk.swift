import Bus
import Messages
import Primitives

/// What one command works with.
struct Desk: Sendable {
    let machine: any Machine
    let terminal: any Terminal
    let home: String?
    let isJSON: Bool

    func connect(_ arguments: Arguments) async throws(CommandFailure) -> Connection {
        try await machine.connect(home: home, peerFile: arguments["peer"])
    }

    /// The call's own options: `--timeout`, `--request-key`, `--instance`.
    func options(_ arguments: Arguments) throws(CommandFailure) -> CallOptions {
        let timeout = try arguments.integer("timeout", in: 1...600_000)
        return CallOptions(
            requestKey: arguments["request-key"], timeout: timeout.map { .milliseconds($0) },
            instanceID: arguments["instance"])
    }

    /// Calls, and shows the answer as a table or as JSON.
    func show<Request: BusRequest>(
        _ request: Request, _ arguments: Arguments,
        people: ((Request.Reply) -> String)? = nil
    ) async throws -> ExitStatus {
        let connection = try await connect(arguments)
        let reply = try await call(request, on: connection, try options(arguments))
        try show(reply, people: people)
        return .done
    }

    func call<Request: BusRequest>(
        _ request: Request, on connection: Connection, _ options: CallOptions = CallOptions()
    ) async throws(CommandFailure) -> Request.Reply {
        do throws(ServiceFailure) {
            try request.validate()
            return try await connection.caller.call(request, options)
        } catch {
            throw CommandFailure(error)
        }
    }

    func show<Reply: Encodable>(
        _ reply: Reply, people: ((Reply) -> String)? = nil
    ) throws(CommandFailure) {
        if !isJSON, let people {
            terminal.result(people(reply))
            return
        }
        let bytes: [UInt8]
        do throws(ServiceFailure) { bytes = try BusCoding.encode(reply) } catch {
            throw CommandFailure(error)
        }
        show(JSONValue(bytes) ?? .null)
    }

    func show(_ value: JSONValue) {
        terminal.result(isJSON ? value.pretty : Rendering.people(value))
    }
}
