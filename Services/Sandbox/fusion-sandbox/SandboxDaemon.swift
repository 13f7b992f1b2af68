import Effects
import SandboxService
import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum SandboxDaemon {
    static func main() { runSandbox() }
}

private func runSandbox() -> Never {
    ServiceDaemon.run("fusion-sandbox", service: "sandbox", makeService)
}

@Sendable private func makeService(
    _ configuration: SandboxConfiguration, _ parts: Parts
) throws -> [any DaemonPart] {
    let service = SandboxService(
        clock: parts.clock, pause: parts.pause, random: parts.random, bus: parts.bus,
        phoneNumbers: parts.phoneNumbers(), signer: parts.signer, log: parts.log,
        configuration: configuration)
    return service.parts() + [parts.worker(service.handlers)]
}
