import Messages
import Primitives

/// `sms …`: the sandbox's phones.
enum SMSCommands {
    static let all = [inbox, sendMobileOriginated]

    private static let inbox = Command(
        CommandSyntax(
            "sms inbox", optional: ["NUMBER"],
            options: CommandSyntax.calling + [
                .value("limit", "N", "1…100; else 20"),
                .value("after", "SEQUENCE", "only newer messages"),
                .value("wait", "MILLISECONDS", "0…1500: waits for a message"),
            ], "what arrived at the sandbox's phones, newest last")
    ) { arguments, desk in
        let request = ReadInbox(
            number: arguments.operand(0),
            afterSequence: try arguments.integer("after", in: 0...Int64.max),
            limit: try arguments.integer("limit", in: 1...100).map { Int($0) },
            waitMilliseconds: try arguments.integer("wait", in: 0...1500))
        return try await desk.show(request, arguments) { inbox in
            var table = Table(["SEQUENCE", "NUMBER", "TEXT"])
            for message in inbox.messages {
                table.add(["\(message.sequence)", message.number.e164, message.text])
            }
            return table.isEmpty ? "nothing arrived" : table.text
        }
    }

    private static let sendMobileOriginated = Command(
        CommandSyntax(
            "sms send-mo", operands: ["SENDER", "RECEIVER", "TEXT"],
            options: CommandSyntax.calling + [
                .value("message-id", "ID", "repeat one to test repeats")
            ], "a person sends an SMS: the sandbox delivers it")
    ) { arguments, desk in
        let request = SendMobileOriginated(
            sender: try arguments.required(0), receiver: try arguments.required(1),
            text: try arguments.required(2), messageId: arguments["message-id"])
        return try await desk.show(request, arguments)
    }
}
