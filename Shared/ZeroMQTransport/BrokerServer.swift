import CZeroMQ
package import Effects
import Glibc
package import Majordomo
import Primitives

/// A broker on its sockets: start, reload, drain, stop.
///
/// One ROUTER, at most two endpoints, both behind ZAP: ipc by Unix uid, tcp by CURVE key.
package final class BrokerServer: Sendable {
    package struct Settings: Sendable {
        /// Path of the Unix socket, at most 107 bytes; nil for none.
        package var ipcPath: String?
        /// `tcp://address:port`, port `*` or 0 for any free one; nil for none.
        package var tcpAddress: String?
        /// Where `tcpAddress` takes any port: this one if it is free, so that addresses which others
        /// hold stay good over a restart.
        package var tcpPortFirst: Int?
        /// Needed for tcp.
        package var curve: CurveKeyPair?
        package var policy: BrokerPolicy
        package var limits = BrokerLimits()
        /// How long the broker looks for more before it sleeps, while traffic is recent.
        package var spinMicroseconds: Int64 = 100
        /// In-flight requests may take this long when the broker ends.
        package var drainMax = Duration.seconds(10)
        /// For the benchmark alone, which reaches it inside this module: every local process is
        /// let in over tcp as our own uid.
        var isTCPInTheClear = false

        package init(
            ipcPath: String? = nil, tcpAddress: String? = nil, curve: CurveKeyPair? = nil,
            policy: BrokerPolicy
        ) {
            self.ipcPath = ipcPath
            self.tcpAddress = tcpAddress
            self.curve = curve
            self.policy = policy
        }
    }

    package enum Problem: Error, Hashable, CustomStringConvertible {
        case noEndpoint
        case tcpWithoutCurve
        /// The probe reached the endpoint and ZAP was not asked: anybody would be let in.
        case notAuthenticated(String)

        package var description: String {
            switch self {
            case .noEndpoint: "a broker needs an ipc path or a tcp address"
            case .tcpWithoutCurve: "a tcp endpoint needs the broker's CURVE keys"
            case .notAuthenticated(let endpoint): "\(endpoint) does not authenticate its peers"
            }
        }
    }

    /// `ipc://…`, or nil.
    package let ipcEndpoint: String?
    /// `tcp://…` with the real port, or nil.
    package let tcpEndpoint: String?
    private let shared: BrokerShared
    private let context: ZeroMQContext
    private let domains: [String]
    private let file: SocketFile?
    private let drainMax: Duration
    private let isStopped = Lock(false)

    private init(
        _ context: ZeroMQContext, _ shared: BrokerShared, _ endpoints: (String?, String?),
        _ domains: [String], _ file: SocketFile?, _ drainMax: Duration
    ) {
        self.context = context
        self.shared = shared
        (ipcEndpoint, tcpEndpoint) = endpoints
        self.domains = domains
        self.file = file
        self.drainMax = drainMax
    }

    /// Binds, proves by a probe that every endpoint authenticates, and runs.
    package static func start(
        _ settings: Settings, context: ZeroMQContext, log: Log = .silent
    ) throws -> BrokerServer {
        guard settings.ipcPath != nil || settings.tcpAddress != nil else {
            throw Problem.noEndpoint
        }
        if settings.tcpAddress != nil, settings.curve == nil { throw Problem.tcpWithoutCurve }
        raiseDescriptorLimit()
        let shared = try BrokerShared(Admissions(settings.policy))
        let file = try settings.ipcPath.map { try SocketFile(path: $0) }
        try context.zap.startOnce()
        let domains = (context.uniqueName("ipc."), context.uniqueName("tcp."))
        context.zap.register(domains.0, shared.admissions, .ipc)
        context.zap.register(
            domains.1, shared.admissions, settings.isTCPInTheClear ? .clearTCP : .tcp)

        let socket = try ZeroMQSocket(context.raw, type: ZMQ_ROUTER)
        do {
            let endpoints = try bind(socket, settings, domains)
            try handOver(socket, shared, settings)
            let server = BrokerServer(
                context, shared, endpoints, [domains.0, domains.1], file, settings.drainMax)
            do {
                try server.probe(settings)
            } catch {
                server.stop()
                throw error
            }
            log.info(
                "broker ready",
                [
                    "broker.ipc": .text(server.ipcEndpoint ?? "none"),
                    "broker.tcp": .text(server.tcpEndpoint ?? "none"),
                ])
            return server
        }
    }

    /// Everybody is judged by `policy` from now on, whoever is connected already included.
    package func reload(_ policy: BrokerPolicy) {
        shared.admissions.replace(policy)
        shared.post(.reload)
    }

    /// Takes no new request, waits for what is in flight (bounded), says goodbye to the workers.
    /// Then `stop`.
    package func drain() async {
        guard !isStopped.withLock({ $0 }) else { return }
        let until = SteadyTime.now() + drainMax
        await withCheckedContinuation { continuation in
            shared.post(.drain(until: until) { continuation.resume() })
        }
    }

    /// Ends the thread and closes the socket; returns at once.
    package func stop() {
        let wasStopped = isStopped.withLock { stopped in
            defer { stopped = true }
            return stopped
        }
        guard !wasStopped else { return }
        let file = file
        shared.post(.stop { withExtendedLifetime(file) {} })
        for domain in domains { context.zap.forget(domain) }
    }

    /// As `stop`; returns when the endpoints are free again.
    package func stopAndWait() async {
        let isMine = isStopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard isMine else { return }
        for domain in domains { context.zap.forget(domain) }
        await withCheckedContinuation { continuation in
            shared.post(.stop { continuation.resume() })
        }
        file?.release()
    }

    package var counters: BrokerCounters { shared.state.withLock { $0.counters } }
    /// Messages dropped because their peer no longer reads.
    package var peersFullCount: Int64 { shared.state.withLock { $0.peersFull } }
    /// Peers that ZAP refused.
    package var refusedCount: Int64 { shared.admissions.refusedCount }

    // MARK: Start

    /// Order matters: options are captured by each bind, and with the domain still unset ZAP is
    /// never asked.
    private static func bind(
        _ socket: ZeroMQSocket, _ settings: Settings, _ domains: (String, String)
    ) throws -> (String?, String?) {
        try socket.set(.routerMandatory, 1)
        try socket.set(.sendHighWaterMark, Bound.routerSendHighWaterMark)
        try socket.set(.receiveHighWaterMark, Bound.routerReceiveHighWaterMark)
        try socket.setMessageBytesMax(Bound.frameBytesMax)
        try socket.set(.handshakeInterval, Bound.handshakeMilliseconds)
        try socket.set(.backlog, Bound.backlog)
        var endpoints: (String?, String?) = (nil, nil)
        if let path = settings.ipcPath {
            try socket.set(.zapDomain, Array(domains.0.utf8))
            // Nobody else may connect between bind and a later change of mode.
            let before = umask(0o007)
            defer { umask(before) }
            try socket.bind("ipc://" + path)
            endpoints.0 = "ipc://" + path
        }
        if let address = settings.tcpAddress, let curve = settings.curve {
            try socket.set(.zapDomain, Array(domains.1.utf8))
            if !settings.isTCPInTheClear {
                try socket.set(.curveServer, 1)
                try socket.set(.curveSecretKey, curve.secretKey.reveal())
            }
            try socket.setTCPLiveness()
            try bind(socket, address, first: settings.tcpPortFirst)
            endpoints.1 = try socket.lastEndpoint()
        }
        return endpoints
    }

    private static func bind(
        _ socket: ZeroMQSocket, _ address: String, first: Int?
    ) throws(ZeroMQFault) {
        guard address.hasSuffix(":0") else { return try socket.bind(address) }
        if let first {
            do throws(ZeroMQFault) {
                return try socket.bind("\(address.dropLast())\(first)")
            } catch {
                guard error.code == EADDRINUSE else { throw error }
            }
        }
        try socket.bind(address.dropLast() + "*")
    }

    private static func handOver(
        _ socket: ZeroMQSocket, _ shared: BrokerShared, _ settings: Settings
    ) throws {
        // Handed over whole: only the broker's thread touches the socket from here on.
        let address = UInt(bitPattern: socket.raw)
        let limits = settings.limits
        let spin = settings.spinMicroseconds
        try startThread("fusion-broker") {
            guard let raw = UnsafeMutableRawPointer(bitPattern: address) else { return }
            let owned = ZeroMQSocket(adopting: raw)
            var loop = BrokerLoop(
                socket: owned, shared: shared, limits: limits, spinMicroseconds: spin)
            let done = loop.run()
            owned.close(flush: Bound.flushSpan)
            done()
        }
    }

    /// Connects to each endpoint as a stranger and waits until ZAP has been asked about it.
    private func probe(_ settings: Settings) throws {
        if let ipcEndpoint {
            try probe(BrokerEndpoint(address: ipcEndpoint), .ipc)
        }
        if let tcpEndpoint, let curve = settings.curve {
            let stranger = CurveKeyPair.generate()
            let isClear = settings.isTCPInTheClear
            try probe(
                BrokerEndpoint(
                    address: tcpEndpoint, curve: isClear ? nil : (curve.publicKey, stranger)),
                isClear ? .clearTCP : .tcp)
        }
    }

    private func probe(_ endpoint: BrokerEndpoint, _ kind: Admissions.Endpoint) throws {
        let before = shared.admissions.askedCount(kind)
        let socket = try ZeroMQSocket(context.raw, type: ZMQ_DEALER)
        defer { socket.close() }
        try endpoint.configure(socket)
        try socket.connect(endpoint.address)
        let until = SteadyTime.now() + Self.probeSpan
        while shared.admissions.askedCount(kind) == before {
            guard SteadyTime.now() < until else {
                throw Problem.notAuthenticated(endpoint.address)
            }
            usleep(1_000)
        }
    }

    private static let probeSpan = Duration.seconds(2)

    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }
}
