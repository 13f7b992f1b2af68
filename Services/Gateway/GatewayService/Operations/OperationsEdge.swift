package import Bus
package import Effects
package import HTTPTypes
import Primitives

/// What operators and their tools ask: whether the process lives, whether it can serve, what it
/// counted. Nothing of it is secret, and nothing names a person.
package struct OperationsEdge: Edge {
    package let prefixes = ["/healthz", "/readyz", "/metrics"]
    private let readiness: Readiness
    private let metrics: any Metrics

    package init(bus: LinkCaller, pause: any Pause, metrics: any Metrics) {
        readiness = Readiness(bus: bus, pause: pause)
        self.metrics = metrics
    }

    package var routes: [Route] {
        [
            Route("health", "GET", "/healthz", bodyBytesMax: 0, isProbe: true) { _, _ in
                .text(200, "ok\n")
            },
            Route("ready", "GET", "/readyz", bodyBytesMax: 0, isProbe: true) { _, _ in await ready()
            },
            Route("metrics", "GET", "/metrics", bodyBytesMax: 0, isProbe: true) { _, _ in
                .text(
                    200, Exposition.text(metrics.snapshot()),
                    type: "text/plain; version=0.0.4; charset=utf-8")
            },
        ]
    }

    package func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse {
        PlainRefusal.answer(refusal)
    }

    private struct Report: Encodable {
        let ready: Bool
        /// Services that did not answer a ping.
        let notReady: [String]
    }

    private func ready() async -> HTTPResponse {
        let silent = await readiness.silentServices()
        if let first = silent.first { FaultNote.current?.note("\(first).ping", .unavailable) }
        return JSONAnswer.make(
            silent.isEmpty ? 200 : 503, Report(ready: silent.isEmpty, notReady: silent))
    }
}
