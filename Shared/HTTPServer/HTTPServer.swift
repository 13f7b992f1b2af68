import CMicroHTTP
package import Effects
package import HTTPTypes
import Primitives

/// HTTP/1.1 over libmicrohttpd: a few threads for all connections, one task for each request.
///
/// It listens as soon as it is made. A request that the library itself cannot read (no head in it, a
/// head that is too large, another version of HTTP) is answered by the library and never seen here.
package final class HTTPServer: DaemonPart {
    package let name = "http"
    /// Where it listens.
    package let host: String
    package let port: Int
    package let isSecure: Bool

    /// GnuTLS: TLS 1.3 and its ciphers, nothing older.
    private static let priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3"
    /// Late connections are looked for so often, or four times in `transferMax`.
    private static let lookEvery = Duration.seconds(1)

    /// What the threads have in their hands is through by then.
    private static let settleMax = Duration.milliseconds(500)

    private let settings: HTTPServerSettings
    let reception: Reception
    private let watch: GoneWatch
    private let socket: ListenSocket
    private let pause: any Pause
    private let metrics: any Metrics
    private let log: Log
    /// `fusion_http_daemon`; nil once it has stopped.
    private let daemon: Lock<UInt?>
    private let end: AsyncStream<Void>
    private let ended: AsyncStream<Void>.Continuation

    package init(
        _ settings: HTTPServerSettings, handler: any HTTPHandler, pause: any Pause,
        metrics: any Metrics = NoMetrics(), log: Log = .silent
    ) throws(HTTPServerProblem) {
        self.settings = settings
        self.pause = pause
        self.metrics = metrics
        self.log = log
        host = settings.host
        isSecure = settings.identity != nil
        watch = try GoneWatch()
        reception = Reception(settings, handler, watch)
        let identity = try settings.identity.map { (files) throws(HTTPServerProblem) in
            try Identity.read(files)
        }
        do throws(HTTPServerProblem) {
            socket = try ListenSocket(host: settings.host, port: settings.port)
        } catch {
            fusion_http_identity_free(identity)
            throw error
        }
        port = socket.port
        (end, ended) = AsyncStream.makeStream(of: Void.self)
        daemon = Lock(try Self.start(settings, reception, socket, identity))
        try startThread("fusion-http-age") { [self] in lookAfter() }
    }

    private static func start(
        _ settings: HTTPServerSettings, _ reception: Reception, _ socket: ListenSocket,
        _ identity: OpaquePointer?
    ) throws(HTTPServerProblem) -> UInt {
        let started = priorities.withCString { priorities in
            var plan = fusion_http_plan()
            plan.calls = receptionCalls(reception)
            plan.listener = socket.descriptor
            plan.threads = UInt32(min(settings.threadsCount, settings.connectionsMax))
            plan.connections_max = UInt32(settings.connectionsMax)
            plan.idle_seconds = UInt32(settings.idleSeconds)
            // Zeroed for each request, so not larger than it must be.
            plan.memory_bytes = settings.headBytesMax + settings.recordBytesMax
            plan.identity = identity
            plan.priorities = priorities
            // The library's threads inherit what is blocked here.
            return withSignalsBlocked { fusion_http_start(&plan) }
        }
        guard let started else {
            // Whether the library closed the listener tells nobody; the process ends anyway.
            fusion_http_identity_free(identity)
            throw .system(call: "MHD_start_daemon", reason: "the library could not start")
        }
        return UInt(bitPattern: started)
    }

    /// Connections that are open.
    var openCount: Int { reception.links.count }

    // MARK: Life

    package func run() async throws {
        for await _ in end { break }
    }

    /// Refuses new connections, answers what is in hand, ends streams, closes the rest.
    package func drain() async {
        if withDaemon({ fusion_http_quiesce($0) }) == 0 { log.error("still accepts connections") }
        reception.drain()
        await waitForHand(settings.drainMax)
        // Kept connections may have brought more in the meantime; what comes from now on is refused.
        reception.refuseNew()
        await waitForHand(Self.settleMax)
        let leftCount = reception.inHandCount
        if leftCount > 0 { log.warning("requests were left", ["count": .init(leftCount)]) }
        reception.giveUp()
        await waitForHand(Self.settleMax)
        daemon.withLock { daemon in
            if let raw = daemon, let pointer = OpaquePointer(bitPattern: raw) {
                fusion_http_stop(pointer)
            }
            daemon = nil
        }
        watch.wake()
        ended.finish()
    }

    /// Reads certificate and key again, for connections to come. One that cannot be used changes
    /// nothing.
    package func reloadIdentity() throws(HTTPServerProblem) {
        guard let files = settings.identity else { return }
        let identity = try Identity.read(files)
        let isTaken: Void? = withDaemon { fusion_http_identify($0, identity) }
        if isTaken == nil { fusion_http_identity_free(identity) }
    }

    private func withDaemon<Result>(_ body: (OpaquePointer) -> Result) -> Result? {
        daemon.withLock { raw in raw.flatMap { OpaquePointer(bitPattern: $0) }.map(body) }
    }

    private func waitForHand(_ span: Duration) async {
        let (reception, pause) = (reception, pause)
        reception.beginWaiting()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reception.waitUntilEmpty() }
            group.addTask { try? await pause.wait(span) }
            await group.next()
            reception.stopWaiting()
            group.cancelAll()
        }
    }

    /// The thread that breaks late connections, notices clients that have gone, and keeps the
    /// counters of what is open, which may so lag by `lookEvery`.
    private func lookAfter() {
        let span = min(Self.lookEvery, settings.transferMax / 4)
        var told = Tally()
        while daemon.withLock({ $0 }) != nil {
            watch.wait(span)
            let tally = reception.tally
            tally.tell(since: told, metrics)
            told = tally
            let lateCount = reception.links.breakLate(coarseNow())
            if lateCount > 0 {
                metrics.add(Int64(lateCount), to: "http_connections_late", labels: [])
            }
        }
    }
}

extension HTTPServer {
    /// `http://127.0.0.1:5572`
    package var address: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(port)"
    }
}
