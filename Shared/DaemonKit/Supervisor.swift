import CLinuxCalls
import Effects
import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package enum SupervisorEvent: Hashable, Sendable {
    case started(String, processID: Int32)
    case ready(String)
    /// Every child has been ready once.
    case allReady
    /// One line of a child's standard output or error.
    case line(String, text: String)
    case ended(String, ChildEnd)
    case willRestart(String, after: Duration)
    /// It refuses its arguments or its configuration, which a person must mend; the others stay.
    case willRetry(String, after: Duration)
    /// Its exit status says that another try would end alike, and not all were ready yet: the family
    /// drains.
    case gaveUp(String)
    /// Killed because its drain took too long, or because of a second `drain`.
    case killed(String)
    /// No child is left. The last event.
    case finished
}

/// Runs a family of daemons: ordered start with readiness, restarts with backoff, ordered stop.
///
/// One thread waits on everything at once (ends, lines, readiness, commands); it costs nothing at
/// rest. Children that follow `--die-with-parent` end when this process ends, however it ends. The
/// thread that starts them lives until the last one has ended, as the kernel's death signal is
/// bound to it.
package final class Supervisor: Sendable {
    package typealias Observer = @Sendable (SupervisorEvent) -> Void

    private let plans: [ChildPlan]
    private let limits: SupervisorLimits
    private let environment: [String: String]
    private let observer: Observer
    /// An eventfd that wakes the thread.
    private let wakeDescriptor: Int32
    private let drainsAsked = Lock(0)

    /// - Parameter observer: called on the supervisor's thread, one event at a time; keep it short.
    package init(
        _ plans: [ChildPlan], limits: SupervisorLimits = SupervisorLimits(),
        environment: [String: String] = Daemon.processEnvironment(),
        observer: @escaping Observer
    ) {
        self.plans = plans
        self.limits = limits
        self.environment = environment
        self.observer = observer
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    }

    deinit { close(wakeDescriptor) }

    /// Begins on a thread of its own and returns at once. Call it once.
    package func start() {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let status = pthread_create(&thread, nil, supervisorThread, box.toOpaque())
        precondition(status == 0, "no thread for the supervisor")
        pthread_detach(thread)
    }

    /// Stops the children in reverse order; `finished` tells the end. A second call kills what is
    /// left.
    package func drain() {
        drainsAsked.withLock { $0 += 1 }
        var one: UInt64 = 1
        _ = write(wakeDescriptor, &one, 8)
    }

    /// All events as a stream that ends with `finished`. Starts the supervisor.
    package static func events(
        _ plans: [ChildPlan], limits: SupervisorLimits = SupervisorLimits(),
        environment: [String: String] = Daemon.processEnvironment()
    ) -> (supervisor: Supervisor, events: AsyncStream<SupervisorEvent>) {
        let (events, inbox) = AsyncStream.makeStream(
            of: SupervisorEvent.self, bufferingPolicy: .bufferingNewest(65_536))
        let supervisor = Supervisor(plans, limits: limits, environment: environment) { event in
            inbox.yield(event)
            if event == .finished { inbox.finish() }
        }
        supervisor.start()
        return (supervisor, events)
    }

    // MARK: The thread

    fileprivate func run() {
        var loop = SupervisorLoop(
            plans: plans, limits: limits, environment: environment, observer: observer)
        loop.perform(loop.machine.begin(loop.now))
        var drainsDone = 0
        while !loop.isFinished {
            loop.wait(wakeDescriptor)
            var count: UInt64 = 0
            _ = read(wakeDescriptor, &count, 8)
            let asked = drainsAsked.withLock { $0 }
            while drainsDone < asked {
                drainsDone += 1
                loop.perform(loop.machine.drain(loop.now))
            }
        }
    }
}

private func supervisorThread(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let box else { return nil }
    Unmanaged<Supervisor>.fromOpaque(box).takeRetainedValue().run()
    return nil
}

/// The shell around the machine: starts, signals, waits.
private struct SupervisorLoop {
    let plans: [ChildPlan]
    let environment: [String: String]
    let observer: Supervisor.Observer
    var machine: SupervisorMachine
    var processes: [ChildProcess?]
    var isFinished = false
    private let pause = SystemPause()

    init(
        plans: [ChildPlan], limits: SupervisorLimits, environment: [String: String],
        observer: @escaping Supervisor.Observer
    ) {
        self.plans = plans
        self.environment = environment
        self.observer = observer
        machine = SupervisorMachine(childrenCount: plans.count, limits: limits)
        processes = Array(repeating: nil, count: plans.count)
    }

    var now: Duration { pause.steadyNow() }

    mutating func perform(_ actions: [SupervisorMachine.Action]) {
        var queue = actions[...]
        while let action = queue.popFirst() {
            switch action {
            case .start(let index): queue += start(index)
            case .terminate(let index): processes[index]?.signal(SIGTERM)
            case .kill(let index):
                processes[index]?.signal(SIGKILL)
                observer(.killed(plans[index].name))
            case .willRestart(let index, let pause):
                observer(.willRestart(plans[index].name, after: pause))
            case .willRetry(let index, let pause):
                observer(.willRetry(plans[index].name, after: pause))
            case .gaveUp(let index): observer(.gaveUp(plans[index].name))
            case .allReady: observer(.allReady)
            case .finished:
                isFinished = true
                observer(.finished)
            }
        }
    }

    private mutating func start(_ index: Int) -> [SupervisorMachine.Action] {
        let plan = plans[index]
        let variables = environment.merging(plan.environment) { _, own in own }
        do throws(ChildProcess.StartFault) {
            let process = try ChildProcess.start(plan, environment: variables)
            processes[index] = process
            observer(.started(plan.name, processID: process.processID))
            return []
        } catch {
            observer(.ended(plan.name, .notStarted(error.code)))
            return machine.ended(index, .notStarted(error.code), now)
        }
    }

    private enum Source {
        case wake
        case end(Int)
        case output(Int)
        case ready(Int)
    }

    /// Waits for the next thing to happen, and handles everything that has.
    mutating func wait(_ wakeDescriptor: Int32) {
        var sources: [Source] = [.wake]
        var polled = [pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)]
        for (index, process) in processes.enumerated() {
            guard let process else { continue }
            for (descriptor, source) in [
                (process.readyDescriptor, Source.ready(index)),
                (process.outputDescriptor, .output(index)), (process.endDescriptor, .end(index)),
            ] where descriptor >= 0 {
                sources.append(source)
                polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            }
        }
        poll(&polled, nfds_t(polled.count), timeoutMilliseconds())
        for (source, descriptor) in zip(sources, polled) where descriptor.revents != 0 {
            handle(source)
        }
        perform(machine.tick(now))
    }

    /// -1 for no end. Rounded up, so that the time has come when the wait is over.
    private func timeoutMilliseconds() -> Int32 {
        guard let next = machine.nextAt else { return -1 }
        return Int32(clamping: max(0, (next - now).wholeMilliseconds + 1))
    }

    private mutating func handle(_ source: Source) {
        switch source {
        case .wake: break
        case .ready(let index):
            if processes[index]?.readReady() == true {
                observer(.ready(plans[index].name))
                perform(machine.ready(index, now))
            }
        case .output(let index):
            tell(index, processes[index]?.readLines() ?? [])
        case .end(let index):
            guard var process = processes[index] else { return }
            let (end, lines) = process.collect()
            processes[index] = nil
            tell(index, lines)
            observer(.ended(plans[index].name, end))
            perform(machine.ended(index, end, now))
        }
    }

    private func tell(_ index: Int, _ lines: [String]) {
        for line in lines { observer(.line(plans[index].name, text: line)) }
    }
}
