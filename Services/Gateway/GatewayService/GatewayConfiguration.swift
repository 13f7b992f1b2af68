import Effects

/// `[gateway]` of `etc/fusion.toml`.
package struct GatewayConfiguration: DaemonConfiguration {
    package static let section = "gateway"

    /// One address of this machine. Reachable from elsewhere only when an operator says so.
    package var httpHost: String = "127.0.0.1"
    /// Of the first instance, whose address `run/endpoints.json` tells; instance n of the same home
    /// takes the port n − 1 above. 0 takes any free port.
    package var httpPort: Int = 5572
    /// PEM; with the key file: TLS 1.3 and nothing older. Read again at SIGHUP.
    package var tlsCertificateFile: String = ""
    package var tlsKeyFile: String = ""
    /// Networks (`10.0.0.0/8`) or addresses whose `X-Forwarded-For` and `-Proto` count.
    package var trustedProxies: [String] = []
    package var connectionsMax: Int = 4096
    /// Behind a proxy all connections have one address: raise it there.
    package var connectionsPerAddressMax: Int = 1024
    /// A connection that sends or takes nothing for so long is closed.
    package var idleSeconds: Int = 30
    /// Head of a request: request line and fields.
    package var headBytesMax: Int = 32 * 1024
    /// Origins (`https://app.example`) of web apps that may use the client API from a browser.
    package var webOrigins: [String] = []
    /// CheckSmsVerifyCode of the dypnsapi edge on a wrong code: true answers HTTP 400
    /// `isv.ValidateFail` as the original does, false 200 with `VerifyResult` UNKNOWN as it documents.
    package var failedCheckIsError: Bool = true
    /// Whose access tokens the CAMARA APIs take. Where `production` is false, those of the sandbox
    /// beside them.
    package var camaraIssuers: [CamaraIssuer] = []

    /// Names under which the phone page may be reached beside this machine's own. It hands out auth
    /// tokens to whoever reaches it. It is never there where `production` is true.
    package var phonePageHosts: [String] = []
    /// The scheme that the phone page plays; empty: the one that `fusionctl up` makes.
    package var phonePageScheme: String = ""

    package init() {}

    package func problems() -> [String] {
        var problems: [String] = []
        if !(0...65_535).contains(httpPort) { problems.append("httpPort lies in 0…65535") }
        if tlsCertificateFile.isEmpty != tlsKeyFile.isEmpty {
            problems.append("tlsCertificateFile and tlsKeyFile go together")
        }
        if TrustedProxies(trustedProxies) == nil {
            problems.append("trustedProxies takes addresses and networks such as 10.0.0.0/8")
        }
        if !webOrigins.allSatisfy(CrossOrigin.isOrigin) {
            problems.append(
                "webOrigins takes origins such as https://app.example, in lower case and without "
                    + "a slash at the end")
        }
        if !phonePageHosts.allSatisfy({ PhonePageGuard.host($0) == $0 }) {
            problems.append(
                "phonePageHosts takes host names in lower case, without port: demo.example")
        }
        if !(1...100_000).contains(connectionsMax) {
            problems.append("connectionsMax lies in 1…100000")
        }
        if !(1...100_000).contains(connectionsPerAddressMax) {
            problems.append("connectionsPerAddressMax lies in 1…100000")
        }
        if !(1...3_600).contains(idleSeconds) { problems.append("idleSeconds lies in 1…3600") }
        if !(4_096...1_048_576).contains(headBytesMax) {
            problems.append("headBytesMax lies in 4096…1048576")
        }
        return problems + camaraProblems()
    }
}
