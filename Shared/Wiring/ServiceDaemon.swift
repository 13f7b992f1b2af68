import DaemonKit
package import Effects

/// A daemon with one service on the bus.
package enum ServiceDaemon {
    package typealias Make<C> = @Sendable (C, Parts) throws -> [any DaemonPart]

    /// Runs the daemon and never returns. Call it from a synchronous `main`.
    /// - Parameter service: names its key ring and its database.
    @available(*, noasync)
    package static func run<C: DaemonConfiguration>(
        _ name: String, service: String, _ make: @escaping Make<C>
    ) -> Never {
        Daemon.run(name, shared: [BusSettings.self, StoreSettings.self]) {
            (configuration: C, context) in
            try make(configuration, try Parts(service: service, context: context))
        }
    }
}
