import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import VerificationService

/// Rules 1, 8 and 12: one PASS, whatever happens at once or in between.
@Suite("One PASS", .timeLimit(.minutes(1)), .closesBuses)
struct RaceTests {
    private let world = World()

    private func context(
        _ method: Method, _ roles: Roles = .integrator, name: String = "acme",
        key: String? = nil, timeout: Duration = .seconds(6)
    ) throws -> CallContext {
        CallContext(
            peer: try #require(Principal(roles: roles, name: name)),
            requestID: world.random.bytes(16), requestKey: key,
            deadline: world.clock.steadyNow() + timeout, method: method)
    }

    private func opened(
        _ service: VerificationService, _ evidence: Evidence
    ) async throws -> OpenedVerification {
        try await service.open(
            world.open(evidence), try context(OpenVerification.method, .service, name: "scene"))
    }

    @Test(
        "F019 F021 F022 of 64 parallel calls on two instances exactly one passes",
        arguments: TransportUnderTest.allCases, EvidenceKind.allCases)
    func parallel(_ transport: TransportUnderTest, kind: EvidenceKind) async throws {
        let evidence: [EvidenceKind: Evidence] = [
            .carrier: .carrier, .smsCode: .code, .upgoing: .upgoing,
        ]
        let world = World(turns: 30)
        let services = (0..<2).map { _ in
            world.instance(store: world.slowStore(), pause: YieldingPause())
        }
        try await world.serve(services, over: transport) { callers in
            let opened = try await callers.scene.call(
                world.open(try #require(evidence[kind])))
            let request = VerifyMaskToken(maskToken: opened.maskToken)
            let answers = try await withThrowingTaskGroup(of: Verified.self) { group in
                for number in 0..<64 {
                    // Half under keys of their own, half without.
                    let options = CallOptions(
                        requestKey: number.isMultiple(of: 2) ? "k\(number)" : nil)
                    group.addTask { try await callers.owner.call(request, options) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.result == .pass } == 1)
            #expect(answers.count { $0.reason == .alreadyUsed } == 63)
            #expect(answers.count { $0.phoneNumber != nil } == 1)
            let passed = try await callers.scene.call(GetRunStatus(runId: .sample, step: 1))
            #expect(passed.passed && passed.number == World.number)
        }
        #expect(Set(world.references.withLock(\.self)).count <= 1)
    }

    @Test(
        "64 parallel calls under one request key get one and the same PASS",
        arguments: TransportUnderTest.allCases)
    func parallelSameKey(_ transport: TransportUnderTest) async throws {
        let world = World(turns: 30)
        let services = (0..<2).map { _ in
            world.instance(store: world.slowStore(), pause: YieldingPause())
        }
        try await world.serve(services, over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.carrier))
            let request = VerifyMaskToken(maskToken: opened.maskToken)
            let answers = try await withThrowingTaskGroup(of: Verified.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        try await callers.owner.call(request, CallOptions(requestKey: "k"))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers).count == 1 && answers.first?.result == .pass)
        }
    }

    @Test(
        "a crash after redeem and before the finish: the retry gives the same PASS, redeemed once")
    func crashAfterRedeem() async throws {
        let store = world.store()
        let first = world.instance(store: store)
        let opened = try await opened(first, .code)
        let request = VerifyMaskToken(maskToken: opened.maskToken)
        let redeemedUnder = Lock<[String?]>([])
        world.bus.on(RedeemGuess.self) { _, options in
            redeemedUnder.withLock { $0.append(options.requestKey) }
            if redeemedUnder.withLock(\.count) == 1 { store.crash() }
            return .sample(.accepted)
        }
        let key = "k"
        await #expect(throws: ServiceFailure.self) {
            try await first.verify(request, try context(VerifyMaskToken.method, key: key))
        }
        let second = world.instance()
        world.clock.advance(.seconds(5))
        let verified = try await second.verify(
            request, try context(VerifyMaskToken.method, key: key))
        #expect(verified.result == .pass && verified.phoneNumber == World.number)
        #expect(
            redeemedUnder.withLock(\.self)
                == [opened.verificationId.text, opened.verificationId.text])
        let replayed = try await second.verify(
            request, try context(VerifyMaskToken.method, key: key))
        #expect(replayed == verified)
        let other = try await second.verify(request, try context(VerifyMaskToken.method))
        #expect(other.reason == .alreadyUsed)
    }

    @Test("a call that died with its process is carried on by a sweep, and its retry gets the PASS")
    func sweptAfterCrash() async throws {
        let store = world.store()
        let first = world.instance(store: store)
        let opened = try await opened(first, .carrier)
        let request = VerifyMaskToken(maskToken: opened.maskToken)
        world.bus.on(ExchangeCarrierToken.self) { _, _ in
            store.crash()
            return ExchangedToken(number: World.number, carrier: .mobile)
        }
        await #expect(throws: ServiceFailure.self) {
            try await first.verify(request, try context(VerifyMaskToken.method, key: "k"))
        }
        let second = world.instance()
        await second.resumeLost()
        let step = GetRunStatus(runId: .sample, step: 1)
        let reads = try context(GetRunStatus.method, .service, name: "scene")
        #expect(try await second.runStatus(step, reads).passed == false, "not yet 5 s old")
        world.clock.advance(.seconds(6))
        await second.resumeLost()
        #expect(try await second.runStatus(step, reads).passed)
        let verified = try await second.verify(
            request, try context(VerifyMaskToken.method, key: "k"))
        #expect(verified.result == .pass && verified.phoneNumber == World.number)
    }

    @Test("a call whose first commit was not confirmed is the same call when it is repeated")
    func unknownCommit() async throws {
        let faults = Lock(Array(repeating: StoreFault.none, count: 1) + [.afterCommit])
        let store = world.store(
            weather: .faulty { faults.withLock { $0.isEmpty ? .none : $0.removeFirst() } })
        let opened = try await opened(world.instance(), .code)
        let service = world.instance(store: store)
        let request = VerifyMaskToken(maskToken: opened.maskToken)
        let failure = await #expect(throws: ServiceFailure.self) {
            try await service.verify(request, try context(VerifyMaskToken.method, key: "k"))
        }
        #expect(failure?.code == .unavailable)
        world.clock.advance(.seconds(5))
        let verified = try await service.verify(
            request, try context(VerifyMaskToken.method, key: "k"))
        #expect(verified.result == .pass)
    }

    @Test("a lease that ends without result means one more exchange with the same reference")
    func leaseEnds() async throws {
        let store = world.store()
        let first = world.instance(store: store)
        let opened = try await opened(first, .carrier)
        let request = VerifyMaskToken(maskToken: opened.maskToken)
        world.bus.on(ExchangeCarrierToken.self) { [world] request, _ in
            if world.references.withLock({
                $0.append(request.reference)
                return $0.count
            }) == 1 {
                store.crash()
            }
            return ExchangedToken(number: World.number, carrier: .mobile)
        }
        await #expect(throws: ServiceFailure.self) {
            try await first.verify(request, try context(VerifyMaskToken.method))
        }
        let second = world.instance()
        let waiting = try context(VerifyMaskToken.method)
        let clock = world.clock
        let verified = try await withThrowingTaskGroup(of: Verified.self) { group in
            group.addTask { try await second.verify(request, waiting) }
            // The lease is carrier time-out and a second: 4 s. Until then the second call only
            // looks.
            for step in 0..<20 {
                await eventually { clock.sleepersCount == 1 }
                #expect(world.references.withLock(\.count) == 1, "\(step)")
                clock.advance(.milliseconds(200))
            }
            return try #require(try await group.next())
        }
        #expect(verified.result == .pass)
        #expect(
            world.references.withLock(\.self)
                == [opened.verificationId.text, opened.verificationId.text])
    }

    @Test("a waiting caller answers from the row")
    func waiting() async throws {
        let service = world.instance()
        let opened = try await opened(service, .carrier)
        let request = VerifyMaskToken(maskToken: opened.maskToken)
        let gate = Gate()
        world.bus.on(ExchangeCarrierToken.self) { [world] request, _ in
            world.references.withLock { $0.append(request.reference) }
            await gate.wait()
            return ExchangedToken(number: World.number, carrier: .mobile)
        }
        let first = try context(VerifyMaskToken.method)
        let second = try context(VerifyMaskToken.method)
        async let passing = service.verify(request, first)
        await eventually { world.references.withLock(\.count) == 1 }
        async let waiting = service.verify(request, second)
        await eventually { world.clock.sleepersCount == 1 }
        gate.open()
        #expect(try await passing.result == .pass)
        world.clock.advance(.milliseconds(200))
        #expect(try await waiting.reason == .alreadyUsed)
        #expect(world.references.withLock(\.count) == 1)
    }

    @Test("a waiting caller takes over the reason of the call it waited for, without asking again")
    func waitingForOpen() async throws {
        let service = world.instance()
        let opened = try await opened(service, .carrier)
        let request = VerifyMaskToken(maskToken: opened.maskToken)
        let gate = Gate()
        world.bus.on(ExchangeCarrierToken.self) { [world] request, _ throws(ServiceFailure) in
            world.references.withLock { $0.append(request.reference) }
            await gate.wait()
            throw ServiceFailure(.deadlinePassed, "no answer within the time")
        }
        let first = try context(VerifyMaskToken.method)
        let second = try context(VerifyMaskToken.method)
        async let asking = service.verify(request, first)
        await eventually { world.references.withLock(\.count) == 1 }
        async let waiting = service.verify(request, second)
        await eventually { world.clock.sleepersCount == 1 }
        gate.open()
        #expect(try await asking.reason == .carrierTimeout)
        world.clock.advance(.milliseconds(200))
        #expect(try await waiting.reason == .carrierTimeout)
        #expect(world.references.withLock(\.count) == 1)
    }

    @Test("a waiting caller whose time runs out gets try_again, no later than its margin")
    func waitingTooLong() async throws {
        let service = world.instance()
        let opened = try await opened(service, .carrier)
        let request = VerifyMaskToken(maskToken: opened.maskToken)
        let gate = Gate()
        world.bus.on(ExchangeCarrierToken.self) { [world] request, _ in
            world.references.withLock { $0.append(request.reference) }
            await gate.wait()
            return ExchangedToken(number: World.number, carrier: .mobile)
        }
        let first = try context(VerifyMaskToken.method)
        let second = try context(VerifyMaskToken.method, timeout: .seconds(1))
        let clock = world.clock
        async let passing = service.verify(request, first)
        await eventually { world.references.withLock(\.count) == 1 }
        let answered = Lock(false)
        async let waiting = {
            defer { answered.withLock { $0 = true } }
            return try await service.verify(request, second)
        }()
        while !answered.withLock(\.self), !Task.isCancelled {
            await eventually { clock.sleepersCount == 1 || answered.withLock(\.self) }
            if clock.sleepersCount == 1 { clock.advance(.milliseconds(10)) }
        }
        let late = try await waiting
        #expect(late.result == .unknown && late.reason == .tryAgain)
        #expect(clock.steadyNow() <= .milliseconds(800))
        gate.open()
        #expect(try await passing.result == .pass)
    }
}

/// Holds callers until it is opened.
private final class Gate: Sendable {
    private let state = Lock((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
