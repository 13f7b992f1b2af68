import Bus
import FoundationEssentials
import Messages
import Primitives

/// `scheme …`.
enum SchemeCommands {
    static let all = [list, show, create, update, disable, enable]

    private static let identityOptions: [CommandSyntax.Option] = [
        .value("bundle-id", "ID", "iOS bundle id"),
        .value("package-name", "NAME", "Android package name"),
        .value("package-sign", "HEX", "MD5 of the Android signing certificate, 32 hex digits"),
        .value("origin", "URL", "web origin: https://host[:port]"),
        .value("policy", "FILE", "the whole policy as JSON"),
    ]

    private static let list = Command(
        CommandSyntax(
            "scheme list",
            options: CommandSyntax.calling + [
                .value("owner", "NAME", "of this owner only"),
                .value("after", "CODE", "the page after this code"),
            ], "lists schemes")
    ) { arguments, desk in
        let request = ListSchemes(owner: arguments["owner"], after: arguments["after"])
        return try await desk.show(request, arguments, people: table)
    }

    private static let show = Command(
        CommandSyntax(
            "scheme show", operands: ["CODE"],
            options: CommandSyntax.calling + [.value("version", "N", "an earlier policy")],
            "shows a scheme with its policy")
    ) { arguments, desk in
        let request = GetScheme(
            schemeCode: try arguments.required(0),
            version: try arguments.integer("version", in: 1...Int64.max))
        return try await desk.show(request, arguments)
    }

    private static let create = Command(
        CommandSyntax(
            "scheme create", operands: ["NAME"],
            options: CommandSyntax.calling + identityOptions + [
                .value("owner", "NAME", "who may use it; else the caller"),
                .value("request-key", "KEY", "same key, same answer, for 24 hours"),
            ], "registers an app and its policy")
    ) { arguments, desk in
        let request = CreateScheme(
            name: try arguments.required(0), owner: arguments["owner"],
            app: identity(arguments) ?? AppIdentity(), policy: try policy(arguments, desk))
        return try await desk.show(request, arguments)
    }

    private static let update = Command(
        CommandSyntax(
            "scheme update", operands: ["CODE"],
            options: CommandSyntax.calling + identityOptions + [
                .value("name", "NAME", "a new name"),
                .value("expect-version", "N", "refuse when it is another by now"),
                .value("request-key", "KEY", "same key, same answer, for 24 hours"),
            ], "makes a new version; what is not given stays")
    ) { arguments, desk in
        let request = UpdateScheme(
            schemeCode: try arguments.required(0),
            expectedVersion: try arguments.integer("expect-version", in: 1...Int64.max),
            name: arguments["name"], app: identity(arguments),
            policy: try policy(arguments, desk))
        return try await desk.show(request, arguments)
    }

    private static let disable = switching(
        "scheme disable", to: true, "switches a scheme off at once")
    private static let enable = switching("scheme enable", to: false, "switches it on again")

    private static func switching(_ words: String, to disabled: Bool, _ help: String) -> Command {
        Command(
            CommandSyntax(words, operands: ["CODE"], options: CommandSyntax.calling, help)
        ) { arguments, desk in
            let request = DisableScheme(
                schemeCode: try arguments.required(0), disabled: disabled)
            return try await desk.show(request, arguments) {
                table(SchemeList(schemes: [$0]))
            }
        }
    }

    private static func identity(_ arguments: Arguments) -> AppIdentity? {
        let names = ["bundle-id", "package-name", "package-sign", "origin"]
        guard names.contains(where: { arguments[$0] != nil }) else { return nil }
        return AppIdentity(
            iosBundleId: arguments["bundle-id"], androidPackageName: arguments["package-name"],
            androidPackageSign: arguments["package-sign"], webOrigin: arguments["origin"])
    }

    private static func policy(
        _ arguments: Arguments, _ desk: Desk
    ) throws(CommandFailure) -> SchemePolicy? {
        guard let path = arguments["policy"] else { return nil }
        let bytes = try desk.machine.readFile(path)
        do {
            return try JSONDecoder().decode(SchemePolicy.self, from: Data(bytes))
        } catch {
            throw CommandFailure(
                "\(path) is no policy: \(DecodingWords.of(error))",
                next: "fusionctl scheme show CODE --json shows one")
        }
    }

    static func table(_ list: SchemeList) -> String {
        var table = Table(["SCHEME", "VERSION", "NAME", "OWNER", "APPS", "STATE"])
        for scheme in list.schemes {
            let apps = [
                scheme.app.iosBundleId.map { "ios \($0)" },
                scheme.app.androidPackageName.map { "android \($0)" },
                scheme.app.webOrigin.map { "web \($0)" },
            ].compactMap(\.self)
            table.add([
                scheme.schemeCode, "\(scheme.version)", scheme.name, scheme.owner,
                apps.joined(separator: ", "), scheme.disabled ? "disabled" : "on",
            ])
        }
        return table.isEmpty
            ? "no schemes yet → fusionctl scheme create NAME --bundle-id ID" : table.text
    }
}

/// What a decoder found wrong, in words, without the value.
enum DecodingWords {
    static func of(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "not JSON" }
        let (codingPath, what): ([any CodingKey], String) =
            switch error {
            case .keyNotFound(let key, let context):
                (context.codingPath, "\(key.stringValue) is missing")
            case .typeMismatch(_, let context): (context.codingPath, "another type is expected")
            case .valueNotFound(_, let context): (context.codingPath, "must not be null")
            case .dataCorrupted(let context): (context.codingPath, context.debugDescription)
            @unknown default: ([], "not valid")
            }
        let path = codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        return path.isEmpty ? what : "\(path.joined(separator: ".")): \(what)"
    }
}
