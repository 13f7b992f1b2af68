import CPages
import DaemonKit
import Effects
import GatewayService
import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum GatewayDaemon {
    static func main() { runGateway() }
}

private func runGateway() -> Never {
    ServiceDaemon.run("fusion-gateway", service: "gateway", makeGateway)
}

@Sendable private func makeGateway(
    _ configuration: GatewayConfiguration, _ parts: Parts
) throws -> [any DaemonPart] {
    var edges: [any Edge] = [
        try ClientAPI(
            bus: parts.bus, clock: parts.clock, pause: parts.pause,
            webOrigins: configuration.webOrigins),
        try camara(configuration, parts),
        OperationsEdge(bus: parts.bus, pause: parts.pause, metrics: parts.metrics),
        DypnsapiEdge(
            configuration: configuration, bus: parts.bus, signer: parts.signer,
            metrics: parts.metrics, log: parts.log),
    ]
    if !parts.isProduction {
        edges.append(
            try PhonePage(
                bus: parts.bus, files: pageFiles(), hosts: configuration.phonePageHosts,
                schemeCode: configuration.phonePageScheme,
                homeScheme: { parts.defaultScheme() }, pause: parts.pause))
    }
    guard let proxies = TrustedProxies(configuration.trustedProxies) else {
        throw WiringProblem("trustedProxies takes addresses and networks such as 10.0.0.0/8")
    }
    let gateway = Gateway(
        edges: edges, proxies: proxies, random: parts.random, pause: parts.pause,
        metrics: parts.metrics, log: parts.log)
    return [try parts.httpServer(listening(configuration), gateway)]
}

/// Of the executable itself.
private func pageFiles() -> [PhonePageFile] {
    (0..<cpages_files_count()).map { index in
        let file = cpages_file_at(index)
        return PhonePageFile(
            name: String(cString: file.name),
            bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
    }
}

/// Access tokens of configured issuers, and of the sandbox where there may be one.
private func camara(
    _ configuration: GatewayConfiguration, _ parts: Parts
) throws -> CamaraEdge {
    let issuers = try CamaraIssuers(
        configuration.camaraIssuers, sandbox: parts.isProduction ? nil : parts.bus,
        pause: parts.pause, log: parts.log
    ) { try parts.file($0) }
    parts.context.hooks.onReload("camara issuers") { try issuers.reload() }
    return CamaraEdge(
        bus: parts.bus,
        tokens: AccessTokenVerifier(
            issuers: issuers.issuers, signer: parts.signer, foreign: parts.foreignSignatures,
            clock: parts.clock),
        phoneNumbers: parts.phoneNumbers(), signer: parts.signer, pause: parts.pause,
        metrics: parts.metrics)
}

private func listening(_ configuration: GatewayConfiguration) -> HTTPListening {
    var listening = HTTPListening()
    listening.host = configuration.httpHost
    listening.port = configuration.httpPort
    listening.certificateFile = configuration.tlsCertificateFile
    listening.keyFile = configuration.tlsKeyFile
    listening.connectionsMax = configuration.connectionsMax
    listening.connectionsPerAddressMax = configuration.connectionsPerAddressMax
    listening.idleSeconds = configuration.idleSeconds
    listening.headBytesMax = configuration.headBytesMax
    return listening
}
