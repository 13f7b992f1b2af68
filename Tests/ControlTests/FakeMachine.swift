import Bus
import Effects
import FusionctlCommands
import HTTPTypes
import Primitives
import TestKit

/// What the tool said, by stream.
final class RecordingTerminal: Terminal {
    private let said = Lock<(results: [String], progress: [String])>(([], []))
    var results: [String] { said.withLock(\.results) }
    var progress: [String] { said.withLock(\.progress) }
    var lastResult: String { results.last ?? "" }

    func result(_ text: String) { said.withLock { $0.results.append(text) } }
    func progress(_ text: String) { said.withLock { $0.progress.append(text) } }
}

/// A machine whose bus and files a test sets. What a test did not set fails loudly.
final class FakeMachine: Machine {
    struct State: Sendable {
        var isInitialised = true
        var isProduction = false
        var defaultScheme: String?
        var schemesWritten: [String] = []
        var endpoints: Endpoints?
        var instances: [RunningInstance] = []
        var files: [String: [UInt8]] = [:]
        var written: [String: [UInt8]] = [:]
        var peersAsked: [PeerRequest] = []
        var supervised: [[String]] = []
        var ends: [AfterStart] = []
        var portBases: [Int?] = []
        var rawCalls: [(service: String, body: String)] = []
        var rawReply = BusReply(status: .noSuchService)
    }
    let state = Lock(State())
    let bus = FakeBus()
    let world = ManualClock()
    var pause: any Pause { world }
    var clock: any WallClock { world }
    let random: any RandomSource = SeededRandom(seed: 7)
    let web = FakeHTTP()
    let authenticator: any MessageAuthenticator = FakeAuthenticator()

    func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    func get<Value>(_ path: KeyPath<State, Value>) -> Value { state.withLock { $0[keyPath: path] } }

    func initialise(home: String?, portBase: Int?) throws(CommandFailure) -> HomeReport {
        state.withLock {
            $0.isInitialised = true
            $0.portBases.append(portBase)
        }
        return HomeReport(path: home ?? "/home", created: ["etc/fusion.toml"])
    }

    func isInitialised(home: String?) -> Bool { get(\.isInitialised) }
    func isProduction(home: String?) throws(CommandFailure) -> Bool { get(\.isProduction) }
    func endpoints(home: String?) -> Endpoints? { get(\.endpoints) }
    func defaultScheme(home: String?) -> String? { get(\.defaultScheme) }

    func setDefaultScheme(_ code: String, home: String?) throws(CommandFailure) {
        state.withLock {
            $0.defaultScheme = code
            $0.schemesWritten.append(code)
        }
    }

    func connect(home: String?, peerFile: String?) async throws(CommandFailure) -> Connection {
        Connection(caller: bus) { [self] _, service, body, _ in
            state.withLock {
                $0.rawCalls.append((service, String(decoding: body, as: UTF8.self)))
                return $0.rawReply
            }
        }
    }

    func http() throws(CommandFailure) -> any HTTPCaller { web }

    func instances(home: String?) -> [RunningInstance] { get(\.instances) }

    func supervise(
        home: String?, daemons: [String],
        ready: @escaping @Sendable (_ daemon: String) async throws(CommandFailure) -> Void,
        body: @escaping @Sendable () async -> AfterStart
    ) async throws(CommandFailure) {
        set { $0.supervised.append(daemons) }
        for daemon in daemons { try await ready(daemon) }
        let end = await body()
        set { $0.ends.append(end) }
    }

    func addPeer(_ request: PeerRequest, home: String?) throws(CommandFailure) -> AddedPeer {
        set { $0.peersAsked.append(request) }
        return AddedPeer(
            name: request.name, role: request.role, endpoint: "tcp://127.0.0.1:5570",
            brokerKey: "B", publicKey: request.publicKey ?? "P",
            secretKey: request.publicKey == nil ? Secret("S") : nil, isBrokerTold: true)
    }

    func removePeer(_ name: String, home: String?) throws(CommandFailure) {}
    func peers(home: String?) throws(CommandFailure) -> [KnownPeer] { [] }

    func readFile(_ path: String) throws(CommandFailure) -> [UInt8] {
        guard let bytes = state.withLock({ $0.files[path] }) else {
            throw CommandFailure("\(path): no such file", next: nil)
        }
        return bytes
    }

    func writePrivateFile(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) {
        set { $0.written[path] = bytes }
    }

    func benchBus(
        _ plan: BusBenchPlan, home: String?, progress: @escaping @Sendable (String) -> Void
    ) async throws(CommandFailure) -> [BenchRow] {
        plan.outstanding.map {
            BenchRow(labels: [("outstanding", "\($0)")], figures: [("callsPerSecond", 1234.5)])
        }
    }

    func benchStore(
        _ plan: StoreBenchPlan, home: String?, progress: @escaping @Sendable (String) -> Void
    ) async throws(CommandFailure) -> [BenchRow] { [] }
}

/// A tool on a fake machine.
struct Tool {
    let machine = FakeMachine()
    let terminal = RecordingTerminal()

    func run(_ words: String...) async -> ExitStatus {
        await Fusionctl(machine: machine, terminal: terminal, version: "1.2.3").run(words)
    }
}

/// Servers of others whose answers a test sets; an unset one cannot be reached.
final class FakeHTTP: HTTPCaller {
    typealias Answer = @Sendable (HTTPCall) async throws(HTTPCallFailure) -> HTTPAnswer
    private let state = Lock<(answer: Answer?, calls: [HTTPCall])>((nil, []))

    var calls: [HTTPCall] { state.withLock(\.calls) }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    func call(_ call: HTTPCall) async throws(HTTPCallFailure) -> HTTPAnswer {
        let answer = state.withLock { state in
            state.calls.append(call)
            return state.answer
        }
        guard let answer else { throw .couldNotConnect }
        return try await answer(call)
    }
}

/// The message itself in front of the key: enough to see what was signed with what.
struct FakeAuthenticator: MessageAuthenticator {
    func hmacSHA256(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8] {
        message + key.reveal()
    }
    func hmacSHA1(_ message: [UInt8], key: Secret<[UInt8]>) -> [UInt8] { message + key.reveal() }
}
