package import Effects
import Messages
import Primitives

/// Serves a handler table on the bus as one part of a daemon: registers every service name and
/// `<service>@<instance>`, adds `ping`, `info` and `stats` to each, counts, and drains.
package struct BusWorker: DaemonPart {
    package struct Identity: Sendable {
        package let daemon: String
        package let instanceID: String
        package let version: String

        package init(daemon: String, instanceID: String, version: String) {
            self.daemon = daemon
            self.instanceID = instanceID
            self.version = version
        }
    }

    package var name: String { "bus worker" }

    private let table: HandlerTable
    private let counters: CallCounters
    private let registrations: [ServiceRegistration]
    private let listener: any BusListener
    private let pause: any Pause
    private let log: Log

    package init(
        _ handlers: HandlerTable, identity: Identity, listener: any BusListener,
        clock: any WallClock, pause: any Pause, metrics: any Metrics = NoMetrics(),
        log: Log = .silent, credit: Int = ServiceRegistration.creditDefault
    ) {
        let services = handlers.services
        let counters = CallCounters(handlers.methods.map(\.name))
        self.counters = counters
        table = Self.withIntrospection(
            handlers, services, identity, counters, metrics, startedAt: clock.now())
        registrations = services.flatMap { service in
            [service, "\(service)@\(identity.instanceID)"].map {
                ServiceRegistration(
                    service: $0, instanceID: identity.instanceID, version: identity.version,
                    credit: credit)
            }
        }
        self.listener = listener
        self.pause = pause
        self.log = log
    }

    package func run() async throws {
        let (table, counters, pause, log) = (table, counters, pause, log)
        try await listener.serve(registrations) { service, header, body in
            let arrivedAt = pause.steadyNow()
            guard header.timeLeftMilliseconds > 0 else { return BusReply(status: .deadlinePassed) }
            let (reply, method) = await table.answer(
                service: service, header: header, body: body, arrivedAt: arrivedAt)
            let took = pause.steadyNow() - arrivedAt
            counters.note(method, isError: reply.status != .ok, took: took)
            log.debug(
                "request answered",
                [
                    "method": .text(method ?? "unknown"),
                    "status": .integer(Int64(reply.status.rawValue)),
                    "request.id": .text(Hex.encode(header.requestID)),
                    "took.ms": LogValue(took), "attempt": LogValue(Int(header.attempt)),
                ])
            return reply
        }
    }

    package func drain() async { await listener.drain() }

    private static func withIntrospection(
        _ handlers: HandlerTable, _ services: [String], _ identity: Identity,
        _ counters: CallCounters, _ metrics: any Metrics, startedAt: WallTime
    ) -> HandlerTable {
        var table = handlers
        let everyone: Roles = [.integrator, .gateway, .service, .operator]
        let endpoints = handlers.methods.map {
            InfoReply.Endpoint(
                name: $0.name, effect: $0.effect == .read ? "read" : "write",
                callers: $0.callers.names)
        }
        for service in services {
            table.on(Method("\(service).ping", .read, callers: everyone)) {
                PingReply(
                    name: identity.daemon, id: identity.instanceID, version: identity.version)
            }
            table.on(Method("\(service).info", .read, callers: everyone)) {
                InfoReply(
                    name: identity.daemon, id: identity.instanceID, version: identity.version,
                    endpoints: endpoints)
            }
            table.on(Method("\(service).stats", .read, callers: [.operator, .service, .gateway])) {
                StatsReply(
                    name: identity.daemon, id: identity.instanceID,
                    startedAtMilliseconds: startedAt.millisecondsSince1970,
                    endpoints: counters.endpoints(),
                    metrics: metrics.snapshot().map {
                        StatsReply.Value(name: $0.name, value: $0.value)
                    })
            }
        }
        return table
    }
}

/// Calls, errors and time per method.
final class CallCounters: Sendable {
    private struct Count {
        var requests: Int64 = 0
        var errors: Int64 = 0
        var time: Duration = .zero
    }
    private let names: [String]
    private let counts: Lock<[String: Count]>

    init(_ names: [String]) {
        self.names = names
        counts = Lock([:])
    }

    /// Bodies that name no known method are counted together, so that typos cost no memory.
    func note(_ method: String?, isError: Bool, took: Duration) {
        counts.withLock { counts in
            counts[method ?? "", default: Count()].requests += 1
            counts[method ?? "", default: Count()].errors += isError ? 1 : 0
            counts[method ?? "", default: Count()].time += took
        }
    }

    func endpoints() -> [StatsReply.Endpoint] {
        let counts = counts.withLock { $0 }
        return (names + [""]).compactMap { name in
            guard let count = counts[name] else { return nil }
            return StatsReply.Endpoint(
                name: name.isEmpty ? "unknown" : name, requestsCount: count.requests,
                errorsCount: count.errors,
                processingMicroseconds: count.time.wholeMicroseconds)
        }
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
