import Effects
import TokenService
import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum TokenDaemon {
    static func main() { runToken() }
}

private func runToken() -> Never {
    ServiceDaemon.run("fusion-token", service: "token", makeService)
}

@Sendable private func makeService(
    _ configuration: TokenConfiguration, _ parts: Parts
) throws -> [any DaemonPart] {
    let store = try parts.store(TokenTables.self)
    let service = TokenService(
        store: store, answers: parts.answers(store), sealer: parts.sealer("secret"),
        digest: parts.digest("temporary"), signer: parts.signer,
        authenticator: parts.authenticator, phoneNumbers: parts.phoneNumbers(),
        clock: parts.clock, pause: parts.pause, random: parts.random, metrics: parts.metrics,
        log: parts.log, configuration: configuration)
    return service.parts() + [parts.worker(service.handlers)]
}
