import Messages

/// `schema`: every message of the bus as one document.
enum SchemaCommands {
    static let all = [schema]

    private static let schema = Command(
        CommandSyntax(
            "schema", optional: ["METHOD"],
            "prints the messages as an AsyncAPI 3.0 document; METHOD prints one method's part")
    ) { arguments, desk in
        var requests = MessageCatalog.requests
        if let name = arguments.operand(0) {
            requests = requests.filter { $0.method.name == name }
            guard !requests.isEmpty else {
                throw CommandFailure(
                    "there is no method \(name)",
                    next: "fusionctl schema lists them under operations")
            }
        }
        // The document ends with a newline, as files do; so does every result.
        let text = try MessageSchema.asyncAPI(of: requests).text
        desk.terminal.result(String(text.dropLast()))
        return .done
    }
}
