import Messages
import Primitives

/// `token …`: auth tokens.
enum TokenCommands {
    static let all = [issue, revoke, introspect, keys, rotate, temporary]

    private static let app: [CommandSyntax.Option] = [
        .value("scheme", "CODE", "else the home's default scheme"),
        .value("platform", "ios|android|web", "else ios"),
        .value("bundle-id", "ID", "iOS bundle id; else the scheme's"),
        .value("package-name", "NAME", "Android package name; else the scheme's"),
        .value("package-sign", "HEX", "Android package sign; else the scheme's"),
        .value("origin", "URL", "web origin; else the scheme's"),
        .value("bound-number", "NUMBER", "the account's number"),
    ]

    private static let issue = Command(
        CommandSyntax(
            "token issue",
            options: CommandSyntax.calling + app + [
                .value("seconds", "N", "900…43200; else 1800"),
                .value("request-key", "KEY", "same key, same answer, for 24 hours"),
            ], "issues an auth token for one app")
    ) { arguments, desk in
        let seconds = try arguments.integer("seconds", in: IssueAuthToken.durationSecondsRange)
        return try await issue(arguments, desk, seconds: seconds ?? 1800)
    }

    /// The quick access mode of the client SDK takes a token that an operator pasted in: the
    /// shortest one there is.
    private static let temporary = Command(
        CommandSyntax(
            "token temporary", options: CommandSyntax.calling + app,
            "issues a 15-minute token to paste into an app in quick access mode")
    ) { arguments, desk in
        try await issue(
            arguments, desk, seconds: IssueAuthToken.durationSecondsRange.lowerBound)
    }

    private static func issue(
        _ arguments: Arguments, _ desk: Desk, seconds: Int64
    ) async throws -> ExitStatus {
        guard let code = arguments["scheme"] ?? desk.machine.defaultScheme(home: desk.home) else {
            throw CommandFailure(
                "no scheme was named and the home has no default scheme",
                next: "--scheme CODE · fusionctl scheme list", status: .usage)
        }
        guard let platform = AppPlatform(rawValue: arguments["platform"] ?? "ios") else {
            throw CommandFailure(
                "--platform takes ios, android or web", next: "--platform ios", status: .usage)
        }
        let connection = try await desk.connect(arguments)
        let identity = try await desk.call(GetScheme(schemeCode: code), on: connection).app
        let request = IssueAuthToken(
            schemeCode: code, platform: platform,
            bundleId: platform == .ios ? arguments["bundle-id"] ?? identity.iosBundleId : nil,
            packageName: platform == .android
                ? arguments["package-name"] ?? identity.androidPackageName : nil,
            packageSign: platform == .android
                ? arguments["package-sign"] ?? identity.androidPackageSign : nil,
            origin: platform == .web ? arguments["origin"] ?? identity.webOrigin : nil,
            durationSeconds: seconds, boundNumber: arguments["bound-number"])
        let issued = try await desk.call(request, on: connection, try desk.options(arguments))
        try desk.show(issued)
        return .done
    }

    private static let revoke = Command(
        CommandSyntax(
            "token revoke", operands: ["TOKEN"], options: CommandSyntax.calling,
            "ends an auth token now; TOKEN is the token or its id (tok_…)")
    ) { arguments, desk in
        let text = try arguments.required(0)
        let tokenID = TokenID(text)
        let request = RevokeAuthToken(
            authToken: tokenID == nil ? text : nil, tokenId: tokenID)
        return try await desk.show(request, arguments)
    }

    private static let introspect = Command(
        CommandSyntax(
            "token introspect", operands: ["TOKEN"], options: CommandSyntax.calling,
            "tells whether an auth token is good now; exits 1 when it is not")
    ) { arguments, desk in
        let connection = try await desk.connect(arguments)
        let request = IntrospectAuthToken(authToken: try arguments.required(0))
        let state = try await desk.call(request, on: connection, try desk.options(arguments))
        try desk.show(state)
        return state.active ? .done : .failed
    }

    private static let keys = Command(
        CommandSyntax(
            "token keys", options: CommandSyntax.calling,
            "the public keys (JWKS) that verify auth tokens offline")
    ) { arguments, desk in
        try await desk.show(GetSigningKeys(), arguments)
    }

    private static let rotate = Command(
        CommandSyntax(
            "token rotate", options: CommandSyntax.calling,
            "makes a new signing key; old ones stay while their tokens may live")
    ) { arguments, desk in
        try await desk.show(RotateSigningKey(), arguments)
    }
}
