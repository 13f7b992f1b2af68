import Primitives

/// One child of a supervisor.
package struct ChildPlan: Hashable, Sendable {
    /// Unique among the children of one supervisor; prefixes its lines.
    package let name: String
    package let executable: String
    package let arguments: [String]
    /// Added to the supervisor's own variables.
    package let environment: [String: String]

    package init(
        name: String, executable: String, arguments: [String] = [],
        environment: [String: String] = [:]
    ) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }
}

package enum ChildEnd: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
    /// The program could not be started; the system's error.
    case notStarted(Int32)
}

package struct SupervisorLimits: Hashable, Sendable {
    /// The first pause before a restart; doubled by every further one.
    package var backoffMin = Duration.milliseconds(100)
    package var backoffMax = Duration.seconds(5)
    /// The pause after a status that another try would not change, once all were ready: time for a
    /// person to mend what it says.
    package var mendingPause = Duration.seconds(30)
    /// A child that lived this long begins with the first pause again.
    package var steadyAfter = Duration.seconds(10)
    /// A child that is not ready by then no longer holds up the next one.
    package var readyMax = Duration.seconds(10)
    /// How long one child may drain before it is killed. Above a daemon's own cap, so that it can
    /// end by itself.
    package var drainMax = Duration.seconds(12)

    package init() {}
}

/// Decides for a supervisor: order of start, restarts with backoff, order of stop. A value; it
/// never waits.
///
/// Moves of a child: waiting → starting → ready → (ended → backing off → starting)… → stopped.
/// Starts in the order of the plans, each after the one before it was ready; drains in reverse
/// order, each after the one behind it has ended.
///
/// An exit status that another try would not change ends the child for good and drains the family
/// while not all have been ready yet: somebody waits for this start. Once all were ready, the others
/// stay, and the child is tried again slowly where its arguments or configuration are at fault
/// (64, 78).
struct SupervisorMachine: Sendable {
    enum Action: Hashable, Sendable {
        case start(Int)
        case terminate(Int)
        case kill(Int)
        case willRestart(Int, after: Duration)
        /// As above, after a status that a person must mend.
        case willRetry(Int, after: Duration)
        case gaveUp(Int)
        /// Every child of the plans has been ready once.
        case allReady
        /// No child is left and none will be started.
        case finished
    }

    private enum State: Hashable, Sendable {
        case waiting
        case starting(since: Duration)
        case running(since: Duration)
        case backingOff(until: Duration)
        case terminating(until: Duration)
        case killed
        case stopped
    }

    private struct Child: Sendable {
        var state = State.waiting
        var restartsInARow = 0
        var startedAt = Duration.zero
        var wasReady = false
    }

    /// Told by the configuration alone.
    private static let refusals: Set<Int32> = [
        DaemonExit.usage.rawValue, DaemonExit.configuration.rawValue,
    ]
    /// A taken port or a missing key will not mend itself at the first start; later it may, as the
    /// process before can hold what this one wants.
    private static let hopelessAtFirst = refusals.union([DaemonExit.cannotStart.rawValue])

    private let limits: SupervisorLimits
    private var children: [Child]
    private var isDraining = false
    private var toldAllReady = false
    private var toldFinished = false

    init(childrenCount: Int, limits: SupervisorLimits) {
        self.limits = limits
        children = Array(repeating: Child(), count: childrenCount)
    }

    /// When `tick` has something to do, if nothing else happens first.
    var nextAt: Duration? {
        children.compactMap { child -> Duration? in
            switch child.state {
            case .starting(let since): isDraining || child.wasReady ? nil : since + limits.readyMax
            case .backingOff(let until), .terminating(let until): until
            case .waiting, .running, .killed, .stopped: nil
            }
        }.min()
    }

    mutating func begin(_ now: Duration) -> [Action] { settle(now) }

    mutating func ready(_ index: Int, _ now: Duration) -> [Action] {
        guard case .starting(let since) = children[index].state else { return [] }
        children[index].state = .running(since: since)
        children[index].wasReady = true
        return settle(now)
    }

    mutating func ended(_ index: Int, _ end: ChildEnd, _ now: Duration) -> [Action] {
        switch children[index].state {
        case .waiting, .stopped, .backingOff:
            return []
        case .terminating, .killed:
            children[index].state = .stopped
            return settle(now)
        case .starting, .running:
            guard !isDraining else {
                children[index].state = .stopped
                return settle(now)
            }
            if case .exited(let status) = end {
                if !toldAllReady, Self.hopelessAtFirst.contains(status) {
                    children[index].state = .stopped
                    isDraining = true
                    return [.gaveUp(index)] + settle(now)
                }
                if Self.refusals.contains(status) {
                    children[index].state = .backingOff(until: now + limits.mendingPause)
                    return [.willRetry(index, after: limits.mendingPause)]
                }
            }
            if now - children[index].startedAt >= limits.steadyAfter {
                children[index].restartsInARow = 0
            }
            let pause = min(
                limits.backoffMax,
                limits.backoffMin * (1 << min(children[index].restartsInARow, 16)))
            children[index].restartsInARow += 1
            children[index].state = .backingOff(until: now + pause)
            return [.willRestart(index, after: pause)]
        }
    }

    mutating func tick(_ now: Duration) -> [Action] {
        var actions: [Action] = []
        for index in children.indices {
            switch children[index].state {
            case .backingOff(let until) where now >= until && !isDraining:
                actions.append(start(index, now))
            case .terminating(let until) where now >= until:
                children[index].state = .killed
                actions.append(.kill(index))
            case .starting(let since) where now >= since + limits.readyMax:
                // It runs, and holds up nobody any longer.
                children[index].state = .running(since: since)
            default: break
            }
        }
        return actions + settle(now)
    }

    /// The second call kills what still drains.
    mutating func drain(_ now: Duration) -> [Action] {
        if isDraining {
            return children.indices.reversed().compactMap { index in
                switch children[index].state {
                case .starting, .running, .terminating:
                    children[index].state = .killed
                    return .kill(index)
                default: return nil
                }
            }
        }
        isDraining = true
        return settle(now)
    }

    private mutating func settle(_ now: Duration) -> [Action] {
        isDraining ? settleDrain(now) : settleStart(now)
    }

    private mutating func settleStart(_ now: Duration) -> [Action] {
        for index in children.indices {
            switch children[index].state {
            case .waiting: return [start(index, now)]
            case .starting, .backingOff:
                // One that was ready before does not hold up the others by its restart.
                if !children[index].wasReady { return [] }
            case .running, .terminating, .killed, .stopped: break
            }
        }
        if children.allSatisfy({ $0.state == .stopped }) { return finish() }
        if !toldAllReady, children.allSatisfy(\.wasReady) {
            toldAllReady = true
            return [.allReady]
        }
        return []
    }

    private mutating func settleDrain(_ now: Duration) -> [Action] {
        for index in children.indices.reversed() {
            switch children[index].state {
            case .waiting, .backingOff:
                children[index].state = .stopped
            case .starting, .running:
                children[index].state = .terminating(until: now + limits.drainMax)
                return [.terminate(index)]
            case .terminating, .killed:
                return []
            case .stopped: break
            }
        }
        return finish()
    }

    private mutating func start(_ index: Int, _ now: Duration) -> Action {
        children[index].state = .starting(since: now)
        children[index].startedAt = now
        return .start(index)
    }

    private mutating func finish() -> [Action] {
        if toldFinished { return [] }
        toldFinished = true
        return [.finished]
    }
}
