import Effects
import SceneService
import Wiring

// No main.swift in a daemon: a closure written at its top level inherits the main actor and traps
// when C calls it.
@main enum SceneDaemon {
    static func main() { runScene() }
}

private func runScene() -> Never {
    ServiceDaemon.run("fusion-scene", service: "scene", makeService)
}

@Sendable private func makeService(
    _ configuration: SceneConfiguration, _ parts: Parts
) throws -> [any DaemonPart] {
    let service = SceneService(
        store: try parts.store(SceneTables.self), sealer: parts.sealer("run"),
        digests: SceneService.Digests(
            answers: parts.digest("answer"), runKeys: parts.digest("run-key"),
            risk: parts.digest("risk"), splits: parts.digest("split")),
        signer: parts.signer, clock: parts.clock, pause: parts.pause, random: parts.random,
        bus: parts.bus, phoneNumbers: parts.phoneNumbers(), metrics: parts.metrics,
        log: parts.log, configuration: configuration)
    return service.parts() + [parts.worker(service.handlers)]
}
