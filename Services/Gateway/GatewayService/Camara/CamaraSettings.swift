package import Bus
package import Effects

/// One issuer of access tokens, as `[[gateway.camaraIssuers]]` of `etc/fusion.toml` names it.
package struct CamaraIssuer: DefaultedConfiguration {
    /// `iss` of its tokens, compared as it is.
    package var issuer = ""
    /// Its JWKS; read at start and at SIGHUP. A relative path begins at the home.
    package var jwksFile = ""
    /// What `aud` must name; empty: any.
    package var audience = ""
    /// Whose scheme the clients of this issuer use.
    package var owner = ""
    package var schemeCode = ""
    /// The claim with a token that the carrier exchanges for the device's number …
    package var carrierTokenClaim = ""
    /// … or the claim with the number itself. Without either: no Number Verification.
    package var numberClaim = ""
    /// `amr` values that mean authentication by network or SIM; empty: `nba`, `mnba`, `sim`, `ts43`.
    package var amr: [String] = []
    /// Wordings that were approved, each with `{{code}}`; when there are any, no other is sent.
    package var messages: [String] = []

    package init() {}

    func problems(_ place: String) -> [String] {
        var problems: [String] = []
        for (name, value) in [
            ("issuer", issuer), ("jwksFile", jwksFile), ("owner", owner),
            ("schemeCode", schemeCode),
        ] where value.isEmpty {
            problems.append("\(place): \(name) is missing")
        }
        if !carrierTokenClaim.isEmpty, !numberClaim.isEmpty {
            problems.append("\(place): one of carrierTokenClaim and numberClaim")
        }
        for message in messages where !message.contains(OneTimePasswordSMS.mark) {
            problems.append("\(place): every message contains \(OneTimePasswordSMS.mark)")
        }
        return problems
    }

    fileprivate var device: AccessTokenIssuer.Device {
        if !carrierTokenClaim.isEmpty { return .carrierToken(claim: carrierTokenClaim) }
        return numberClaim.isEmpty ? .nothing : .number(claim: numberClaim)
    }
}

extension GatewayConfiguration {
    func camaraProblems() -> [String] {
        var problems = camaraIssuers.enumerated().flatMap { index, issuer in
            issuer.problems("camaraIssuers[\(index)]")
        }
        if Set(camaraIssuers.map(\.issuer)).count < camaraIssuers.count {
            problems.append("camaraIssuers: an issuer is named twice")
        }
        return problems
    }
}

/// Every issuer of a gateway, and what to do at a reload.
package struct CamaraIssuers: Sendable {
    package let issuers: [AccessTokenIssuer]
    private let files: [KeySetFile]

    /// - Parameters:
    ///   - bus: to ask the sandbox for its keys; nil in production, where its tokens are strangers'.
    ///   - read: the bytes of a file that the configuration names.
    /// - Throws: for a key set that cannot be used, with its path.
    package init(
        _ configured: [CamaraIssuer], sandbox bus: (any BusCaller)?, pause: any Pause, log: Log,
        read: @escaping @Sendable (String) throws -> [UInt8]
    ) throws {
        var files: [KeySetFile] = []
        var issuers: [AccessTokenIssuer] = []
        for entry in configured {
            let keys = try KeySetFile(path: entry.jwksFile, log: log, read: read)
            files.append(keys)
            issuers.append(
                AccessTokenIssuer(
                    name: entry.issuer, audience: entry.audience.isEmpty ? nil : entry.audience,
                    client: .fixed(owner: entry.owner, schemeCode: entry.schemeCode),
                    device: entry.device,
                    methods: entry.amr.isEmpty ? AccessTokenIssuer.methodsStandard : entry.amr,
                    messages: entry.messages, keys: keys))
        }
        if let bus { issuers.append(.sandbox(SandboxKeys(bus: bus, pause: pause))) }
        self.issuers = issuers
        self.files = files
    }

    /// Reads every key set again; one that fails does not keep the others from it.
    package func reload() throws {
        var fault: (any Error)?
        for file in files {
            do { try file.reload() } catch { fault = error }
        }
        if let fault { throw fault }
    }
}
