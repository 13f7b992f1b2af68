import Messages
import Primitives

/// `sandbox …`: the simulated operator.
enum SandboxCommands {
    static let all = [token, keys]

    /// Short words for the scopes of the gateway's CAMARA APIs.
    private static let scopes = [
        "send-validate": "one-time-password-sms:send-validate",
        "verify": "number-verification:verify",
        "read": "number-verification:device-phone-number:read",
    ]

    private static let token = Command(
        CommandSyntax(
            "sandbox token",
            options: CommandSyntax.calling + [
                .value("scope", "WORDS", "send-validate, verify, read, or any scope; with commas"),
                .value("scheme", "CODE", "else the home's default scheme"),
                .value("number", "NUMBER", "the phone that wins it over the mobile network"),
                .value("sim", "ID", "the same, by the id of a simulated phone"),
                .value("client", "ID", "client_id; else sandbox-client"),
                .value("amr", "WORDS", "else nba with a phone, none without; with commas"),
                .value("seconds", "N", "1…86400; else 300"),
                .value("fault", AccessTokenFault.words, "makes it wrong on purpose"),
            ], "an access token for the gateway's CAMARA APIs, right or wrong")
    ) { arguments, desk in
        guard let code = arguments["scheme"] ?? desk.machine.defaultScheme(home: desk.home) else {
            throw CommandFailure(
                "no scheme was named and the home has no default scheme",
                next: "--scheme CODE · fusionctl scheme list", status: .usage)
        }
        guard let scope = arguments["scope"] else {
            throw CommandFailure(
                "--scope is missing", next: "--scope send-validate · --scope verify,read",
                status: .usage)
        }
        let fault = arguments["fault"] ?? AccessTokenFault.none.rawValue
        guard let fault = AccessTokenFault(rawValue: fault) else {
            throw CommandFailure(
                "--fault takes \(AccessTokenFault.words)", next: "--fault expired", status: .usage)
        }
        let simID = arguments["sim"].flatMap { SIMID($0) }
        guard arguments["sim"] == nil || simID != nil else {
            throw CommandFailure(
                "--sim takes an id that begins with sim_", next: "fusionctl call sandbox.sim …",
                status: .usage)
        }
        let connection = try await desk.connect(arguments)
        let scheme = try await desk.call(GetScheme(schemeCode: code), on: connection)
        let minted = try await desk.call(
            MintAccessToken(
                owner: scheme.owner, schemeCode: code,
                scope: words(scope).map { scopes[$0] ?? $0 }.joined(separator: " "),
                clientId: arguments["client"], simId: simID, number: arguments["number"],
                amr: arguments["amr"].map(words),
                lifetimeSeconds: try arguments.integer("seconds", in: 1...86_400), fault: fault),
            on: connection, try desk.options(arguments))
        try desk.show(minted) { $0.accessToken.reveal() }
        return .done
    }

    private static let keys = Command(
        CommandSyntax(
            "sandbox keys", options: CommandSyntax.calling,
            "the public keys (JWKS) of those tokens, while this sandbox runs")
    ) { arguments, desk in
        try await desk.show(GetAccessKeys(), arguments)
    }

    private static func words(_ text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map(String.init)
    }
}

extension AccessTokenFault {
    fileprivate static var words: String { allCases.map(\.rawValue).joined(separator: "|") }
}
