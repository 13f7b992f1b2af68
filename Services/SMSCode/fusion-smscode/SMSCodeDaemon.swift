import Effects
import SMSCodeService
import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum SMSCodeDaemon {
    static func main() { runSMSCode() }
}

private func runSMSCode() -> Never {
    ServiceDaemon.run("fusion-smscode", service: "smscode", makeService)
}

@Sendable private func makeService(
    _ configuration: SMSCodeConfiguration, _ parts: Parts
) throws -> [any DaemonPart] {
    let store = try parts.store(SMSCodeTables.self)
    let service = SMSCodeService(
        store: store, answers: parts.answers(store), clock: parts.clock, pause: parts.pause,
        random: parts.random, bus: parts.bus, phoneNumbers: parts.phoneNumbers(),
        numberDigest: parts.digest("number"), guessDigest: parts.digest("guess"),
        codes: parts.codeDerivation("code"), sealer: parts.sealer("text"),
        providers: try configuration.providers.map { try makeProvider($0, parts) },
        instanceID: parts.instanceID, metrics: parts.metrics, log: parts.log,
        configuration: configuration)
    return service.parts() + [parts.worker(service.handlers)]
}

/// Only names that the configuration lets pass come here, and `sandbox` not in production.
@Sendable private func makeProvider(_ name: String, _ parts: Parts) throws -> any SMSProvider {
    switch name {
    case "sandbox": return BusSMSProvider(name: name, bus: parts.bus)
    default: throw WiringProblem("SMSCodeDaemon makes no SMS provider of the name \(name)")
    }
}
