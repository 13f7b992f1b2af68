import Messages
import Primitives

/// `key …`: access keys of the HTTP edge.
enum KeyCommands {
    static let all = [create, list, revoke, temporary]

    private static let scope: [CommandSyntax.Option] = [
        .value("schemes", "CODE,…", "schemes it may use; else all of the owner's"),
        .value("actions", "NAME,…", "actions it may call; else all"),
    ]

    private static let create = Command(
        CommandSyntax(
            "key create", operands: ["OWNER"],
            options: CommandSyntax.calling + scope + [
                .value("name", "NAME", "a name for people"),
                .value("default-scheme", "CODE", "serves calls without a scheme code"),
                .value("calls-per-second", "N", "the most it may call"),
                .value("request-key", "KEY", "same key, same answer, for 24 hours"),
            ], "makes an access key; the secret is shown once")
    ) { arguments, desk in
        let request = CreateAccessKey(
            owner: try arguments.required(0), name: arguments["name"],
            schemeCodes: arguments.list("schemes"), actions: arguments.list("actions"),
            defaultSchemeCode: arguments["default-scheme"],
            callsPerSecondMax: try arguments.integer("calls-per-second", in: 1...100_000)
                .map { Int($0) })
        return try await desk.show(request, arguments, people: once)
    }

    private static let list = Command(
        CommandSyntax(
            "key list",
            options: CommandSyntax.calling + [
                .value("owner", "NAME", "of this owner only"),
                .value("after", "ID", "the page after this id"),
            ], "lists access keys")
    ) { arguments, desk in
        let request = ListAccessKeys(owner: arguments["owner"], after: arguments["after"])
        return try await desk.show(request, arguments) { list in
            var table = Table(["KEY", "OWNER", "NAME", "DEFAULT SCHEME", "STATE"])
            for key in list.keys {
                table.add([
                    key.accessKeyId, key.owner, key.name ?? "–", key.defaultSchemeCode ?? "–",
                    key.active ? "active" : "ended",
                ])
            }
            return table.isEmpty ? "no keys yet → fusionctl key create OWNER" : table.text
        }
    }

    private static let revoke = Command(
        CommandSyntax(
            "key revoke", operands: ["ID"], options: CommandSyntax.calling,
            "ends a key now, and every temporary key made from it")
    ) { arguments, desk in
        try await desk.show(RevokeAccessKey(accessKeyId: try arguments.required(0)), arguments)
    }

    private static let temporary = Command(
        CommandSyntax(
            "key temporary", operands: ["ID"],
            options: CommandSyntax.calling + scope + [
                .value("seconds", "N", "900…43200; else 3600"),
                .value("request-key", "KEY", "same key, same answer, for 24 hours"),
            ], "makes a temporary key: id, secret and security token")
    ) { arguments, desk in
        let seconds = try arguments.integer(
            "seconds", in: IssueAuthToken.durationSecondsRange)
        let request = CreateTemporaryKey(
            accessKeyId: try arguments.required(0), durationSeconds: seconds ?? 3600,
            schemeCodes: arguments.list("schemes"), actions: arguments.list("actions"))
        return try await desk.show(request, arguments, people: once)
    }

    private static func once(_ key: CreatedAccessKey) -> String {
        var table = Table(["", ""])
        table.add(["accessKeyId", key.accessKeyId])
        table.add(["accessKeySecret", key.accessKeySecret.reveal()])
        if let token = key.securityToken { table.add(["securityToken", token.reveal()]) }
        return table.text + "\nThe secret is not shown again."
    }
}
