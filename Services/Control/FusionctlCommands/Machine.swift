package import Bus
package import Effects
package import HTTPTypes
package import Primitives

/// What the tool needs of the computer it runs on. The executable makes one of adapters; tests make
/// a fake.
package protocol Machine: Sendable {
    var pause: any Pause { get }
    var clock: any WallClock { get }
    var random: any RandomSource { get }

    /// Makes what the home lacks and leaves alone what is there.
    func initialise(home: String?, portBase: Int?) throws(CommandFailure) -> HomeReport
    /// Whether `init` has been there.
    func isInitialised(home: String?) -> Bool
    /// `production = true` in the configuration.
    func isProduction(home: String?) throws(CommandFailure) -> Bool
    /// What the running broker wrote down; nil while there is none.
    func endpoints(home: String?) -> Endpoints?
    func defaultScheme(home: String?) -> String?
    func setDefaultScheme(_ code: String, home: String?) throws(CommandFailure)

    /// - Parameter peerFile: nil calls over ipc as this Unix user.
    func connect(home: String?, peerFile: String?) async throws(CommandFailure) -> Connection

    /// For calls to HTTP servers; made at the first use.
    func http() throws(CommandFailure) -> any HTTPCaller
    /// For the signatures of requests.
    var authenticator: any MessageAuthenticator { get }

    /// From the pid files of the home; a file whose process is gone is marked so.
    func instances(home: String?) -> [RunningInstance]
    /// Starts `daemons` in order, each after the one before is ready, restarts those that end, and
    /// stops them in reverse order when `body` says so, or at SIGINT or SIGTERM.
    ///
    /// - Parameter ready: returns when that daemon answers.
    /// - Parameter body: runs once all are ready; its result decides whether to stay up.
    func supervise(
        home: String?, daemons: [String],
        ready: @escaping @Sendable (_ daemon: String) async throws(CommandFailure) -> Void,
        body: @escaping @Sendable () async -> AfterStart
    ) async throws(CommandFailure)

    func addPeer(_ request: PeerRequest, home: String?) throws(CommandFailure) -> AddedPeer
    func removePeer(_ name: String, home: String?) throws(CommandFailure)
    func peers(home: String?) throws(CommandFailure) -> [KnownPeer]

    func readFile(_ path: String) throws(CommandFailure) -> [UInt8]
    /// Mode 0600, put in place in one step.
    func writePrivateFile(_ path: String, _ bytes: [UInt8]) throws(CommandFailure)

    func benchBus(
        _ plan: BusBenchPlan, home: String?, progress: @escaping @Sendable (String) -> Void
    ) async throws(CommandFailure) -> [BenchRow]
    func benchStore(
        _ plan: StoreBenchPlan, home: String?, progress: @escaping @Sendable (String) -> Void
    ) async throws(CommandFailure) -> [BenchRow]
}

package enum AfterStart: Sendable { case stay, drain }

/// A way to the bus.
package struct Connection: Sendable {
    package typealias Raw =
        @Sendable (_ method: String, _ service: String, _ body: [UInt8], _ options: CallOptions)
        async -> BusReply

    package let caller: any BusCaller
    /// For bodies that are JSON already.
    package let raw: Raw

    package init(caller: any BusCaller, raw: @escaping Raw) {
        self.caller = caller
        self.raw = raw
    }

    package init(_ caller: LinkCaller) {
        self.init(caller: caller) { method, service, body, options in
            await caller.callRaw(method: method, service: service, body: body, options)
        }
    }
}

package struct HomeReport: Sendable {
    package let path: String
    /// Relative to the home; empty when everything was there.
    package let created: [String]

    package init(path: String, created: [String]) {
        self.path = path
        self.created = created
    }
}

package struct Endpoints: Sendable, Hashable {
    package let ipc: String?
    package let tcp: String?
    package let http: String?
    /// Z85, 40 characters.
    package let brokerKey: String?

    package init(ipc: String?, tcp: String?, http: String?, brokerKey: String?) {
        self.ipc = ipc
        self.tcp = tcp
        self.http = http
        self.brokerKey = brokerKey
    }

    var json: JSONValue {
        .object(["ipc": .text(ipc), "tcp": .text(tcp), "http": .text(http)])
    }
}

package struct RunningInstance: Sendable, Hashable {
    package let daemon: String
    package let instanceID: String
    /// nil for a daemon that waits to be started again.
    package let processID: Int32?
    package let isAlive: Bool
    /// `starting`, `ready` or `draining`; `waiting` for one that ended and that `up` starts again.
    package let state: String
    /// Resident set; nil where it cannot be read.
    package let memoryBytes: Int64?

    package init(
        daemon: String, instanceID: String, processID: Int32?, isAlive: Bool, state: String,
        memoryBytes: Int64?
    ) {
        self.daemon = daemon
        self.instanceID = instanceID
        self.processID = processID
        self.isAlive = isAlive
        self.state = state
        self.memoryBytes = memoryBytes
    }
}

package struct PeerRequest: Sendable {
    package let name: String
    package let role: String
    /// Z85; nil makes a key pair.
    package let publicKey: String?
    package let serves: [String]
    /// Besides those of its role.
    package let calls: [String]

    package init(
        name: String, role: String, publicKey: String?, serves: [String], calls: [String]
    ) {
        self.name = name
        self.role = role
        self.publicKey = publicKey
        self.serves = serves
        self.calls = calls
    }
}

package struct AddedPeer: Sendable {
    package let name: String
    package let role: String
    package let endpoint: String?
    package let brokerKey: String
    package let publicKey: String
    /// Absent when the peer brought its own public key.
    package let secretKey: Secret<String>?
    /// False: no broker runs, so it is admitted when one starts.
    package let isBrokerTold: Bool

    package init(
        name: String, role: String, endpoint: String?, brokerKey: String, publicKey: String,
        secretKey: Secret<String>?, isBrokerTold: Bool
    ) {
        self.name = name
        self.role = role
        self.endpoint = endpoint
        self.brokerKey = brokerKey
        self.publicKey = publicKey
        self.secretKey = secretKey
        self.isBrokerTold = isBrokerTold
    }
}

package struct KnownPeer: Sendable, Hashable {
    package let name: String
    package let role: String
    package let publicKey: String
    package let serves: [String]
    /// Besides those of its role.
    package let calls: [String]

    package init(
        name: String, role: String, publicKey: String, serves: [String], calls: [String]
    ) {
        self.name = name
        self.role = role
        self.publicKey = publicKey
        self.serves = serves
        self.calls = calls
    }
}

package struct BusBenchPlan: Sendable {
    package let seconds: Double
    package let outstanding: [Int]

    package init(seconds: Double, outstanding: [Int]) {
        self.seconds = seconds
        self.outstanding = outstanding
    }
}

package struct StoreBenchPlan: Sendable {
    package let seconds: Double

    package init(seconds: Double) { self.seconds = seconds }
}

/// One line of a benchmark: what was run, and its figures in order.
package struct BenchRow: Sendable {
    package let labels: [(name: String, value: String)]
    package let figures: [(name: String, value: Double)]

    package init(
        labels: [(name: String, value: String)], figures: [(name: String, value: Double)]
    ) {
        self.labels = labels
        self.figures = figures
    }
}
