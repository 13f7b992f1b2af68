import Bus
import Effects
import Messages
import Primitives

/// Whether the services behind the gateway answer. However often it is asked, the bus sees one round
/// of pings in `keptFor`, and one round at a time.
final class Readiness: Sendable {
    static let services = ["token", "verification", "smscode", "scene"]
    static let pingMax = Duration.seconds(1)
    static let keptFor = Duration.milliseconds(900)

    private struct State {
        var silent: [String] = []
        var askedAt: Duration?
        var isAsking = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private enum Turn {
        case known([String])
        case ask
        case wait
    }

    private let bus: LinkCaller
    private let pause: any Pause
    private let state = Lock(State())

    init(bus: LinkCaller, pause: any Pause) {
        self.bus = bus
        self.pause = pause
    }

    /// In the order of `services`; empty when all of them answered.
    func silentServices() async -> [String] {
        while true {
            switch turn() {
            case .known(let silent): return silent
            case .wait: await waitForOther()
            case .ask:
                let silent = await ask()
                // Someone who left does not tell the others that all is silent.
                finish(Task.isCancelled ? nil : silent)
                return silent
            }
        }
    }

    private func turn() -> Turn {
        let now = pause.steadyNow()
        return state.withLock { state in
            if let askedAt = state.askedAt, now - askedAt < Self.keptFor {
                return .known(state.silent)
            }
            if state.isAsking { return .wait }
            state.isAsking = true
            return .ask
        }
    }

    private func waitForOther() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.isAsking { state.waiting.append(continuation) }
                return !state.isAsking
            }
            if isOver { continuation.resume() }
        }
    }

    private func finish(_ silent: [String]?) {
        let now = pause.steadyNow()
        let waiting = state.withLock { state in
            if let silent {
                state.silent = silent
                state.askedAt = now
            }
            state.isAsking = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func ask() async -> [String] {
        let answered = await withTaskGroup(of: (String, Bool).self) { group in
            for service in Self.services {
                group.addTask { [bus] in (service, await Self.ping(service, bus)) }
            }
            return await group.reduce(into: Set<String>()) { known, answer in
                if answer.1 { known.insert(answer.0) }
            }
        }
        return Self.services.filter { !answered.contains($0) }
    }

    private static func ping(_ service: String, _ bus: LinkCaller) async -> Bool {
        let request = RequestEnvelope(
            id: .text("ready"), method: "\(service).ping", params: EmptyReply(), meta: nil)
        guard let body = try? BusCoding.encode(request) else { return false }
        let reply = await bus.callRaw(
            method: "\(service).ping", service: service, body: body,
            CallOptions(timeout: pingMax))
        return reply.status == .ok
    }
}
