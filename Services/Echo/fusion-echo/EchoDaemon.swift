import EchoService
import Effects
import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum EchoDaemon {
    static func main() { runEcho() }
}

private func runEcho() -> Never {
    ServiceDaemon.run("fusion-echo", service: "echo", makeService)
}

@Sendable private func makeService(
    _ configuration: EchoConfiguration, _ parts: Parts
) throws -> [any DaemonPart] {
    let service = EchoService(
        pause: parts.pause, metrics: parts.metrics, configuration: configuration)
    return [parts.worker(service.handlers)]
}
