import Effects
import VerificationService
import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum VerificationDaemon {
    static func main() { runVerification() }
}

private func runVerification() -> Never {
    ServiceDaemon.run("fusion-verification", service: "verification", makeService)
}

@Sendable private func makeService(
    _ configuration: VerificationConfiguration, _ parts: Parts
) throws -> [any DaemonPart] {
    let store = try parts.store(VerificationTables.self)
    let service = VerificationService(
        store: store, answers: parts.answers(store), tokens: parts.digest("token"),
        sealer: parts.sealer("number"), signer: parts.signer,
        phoneNumbers: parts.phoneNumbers(), bus: parts.bus,
        carrier: BusCarrierGateway(bus: parts.bus), clock: parts.clock, pause: parts.pause,
        random: parts.random, metrics: parts.metrics, log: parts.log,
        configuration: configuration)
    return service.parts() + [parts.worker(service.handlers)]
}
