import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing

@testable import VerificationService

@Suite("verification.get_number and match_number", .closesBuses)
struct DirectNumberTests {
    private let world = World()

    private func get(_ token: String = "t", scheme: String = World.schemeCode) -> GetNumber {
        GetNumber(schemeCode: scheme, carrierToken: Secret(token), outId: "order-7")
    }

    private func match(
        _ token: String, number: String? = nil, hash: String? = nil
    ) -> MatchNumber {
        MatchNumber(
            schemeCode: World.schemeCode, carrierToken: Secret(token), number: number,
            hashedNumber: hash, outId: "order-8")
    }

    private func failure<Request: BusRequest>(
        _ caller: any BusCaller, _ request: Request, _ options: CallOptions = CallOptions()
    ) async -> ServiceFailure? {
        do throws(ServiceFailure) {
            _ = try await caller.call(request, options)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a carrier token gives its number once; its own request key gets it again",
        arguments: TransportUnderTest.allCases)
    func getOnce(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let keyed = CallOptions(requestKey: "k")
            let first = try await callers.owner.call(get(), keyed)
            #expect(first.number == World.number && first.outId == "order-7")
            #expect(try await callers.owner.call(get(), keyed) == first)
            #expect(await failure(callers.owner, get())?.code == .tokenInvalid)
            #expect(
                await failure(callers.owner, match("t", number: World.number.e164))?.code
                    == .tokenInvalid)
            #expect(world.references.withLock(\.count) == 1)
        }
    }

    @Test(
        "of 32 parallel calls with one carrier token exactly one gets the number",
        arguments: TransportUnderTest.allCases)
    func parallel(_ transport: TransportUnderTest) async throws {
        let services = [
            world.instance(pause: YieldingPause()), world.instance(pause: YieldingPause()),
        ]
        try await world.serve(services, over: transport) { callers in
            let failures = await withTaskGroup(of: ServiceFailure?.self) { group in
                for _ in 0..<32 {
                    group.addTask { await failure(callers.owner, get()) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(failures.count { $0 == nil } == 1)
            #expect(failures.count { $0?.code == .tokenInvalid } == 31)
        }
    }

    @Test(
        "a carrier that is away may be asked again under the same reference; a refusal is final",
        arguments: TransportUnderTest.allCases)
    func carrier(_ transport: TransportUnderTest) async throws {
        world.carrierAnswer.withLock { $0 = .failure(ServiceFailure(.deadlinePassed, "late")) }
        try await world.serve(over: transport) { callers in
            #expect(await failure(callers.owner, get())?.code == .carrierUnavailable)
            world.carrierAnswer.withLock { $0 = .success(World.number) }
            let got = try await callers.owner.call(get())
            #expect(got.number == World.number)
            #expect(Set(world.references.withLock(\.self)).count == 1)
            world.carrierAnswer.withLock { $0 = .failure(ServiceFailure(.tokenInvalid, "used")) }
            #expect(await failure(callers.owner, get("u"))?.code == .tokenInvalid)
            world.carrierAnswer.withLock { $0 = .success(World.number) }
            #expect(await failure(callers.owner, get("u"))?.code == .tokenInvalid)
        }
    }

    @Test(
        "F089 match compares a number in any form, or its hash in either case",
        arguments: TransportUnderTest.allCases)
    func match(_ transport: TransportUnderTest) async throws {
        let hash = Hex.encode(FakeSigner().sha256(Array(World.number.e164.utf8)))
        let other = Hex.encode(FakeSigner().sha256(Array(World.number.e164.utf8.dropFirst())))
        let cases: [(String?, String?, VerificationResult)] = [
            (World.number.e164, nil, .pass), ("138-0000-0001", nil, .pass),
            (World.otherNumber.e164, nil, .reject), (nil, hash, .pass),
            (nil, hash.uppercased(), .pass), (nil, other, .reject),
        ]
        try await world.serve(over: transport) { callers in
            for (index, (number, hash, result)) in cases.enumerated() {
                let matched = try await callers.owner.call(
                    match("t\(index)", number: number, hash: hash))
                #expect(matched.result == result && matched.outId == "order-8", "\(index)")
                #expect(
                    await failure(callers.owner, match("t\(index)", number: number, hash: hash))?
                        .code == .tokenInvalid)
            }
            for (number, wrong) in [
                (nil, String(hash.dropLast())), (nil, hash + "0"), (nil, nil),
                (World.number.e164, hash),
            ] as [(String?, String?)] {
                #expect(
                    await failure(callers.owner, match("w", number: number, hash: wrong))?.code
                        == .invalidParameters)
            }
            #expect(
                await failure(callers.owner, match("w", number: "12"))?.code == .numberInvalid)
            #expect(try await callers.owner.call(get("w")).number == World.number, "unused so far")
        }
    }

    @Test(
        "a scheme that is unknown, foreign or switched off is refused before the carrier",
        arguments: TransportUnderTest.allCases)
    func schemes(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            #expect(
                await failure(callers.owner, get(scheme: "FA00000000000009"))?.code
                    == .schemeNotFound)
            #expect(await failure(callers.rival, get())?.code == .schemeNotFound)
            world.disabled.withLock { $0 = true }
            #expect(
                await failure(callers.rival, get(scheme: World.otherSchemeCode))?.code
                    == .schemeDisabled)
            #expect(world.references.withLock(\.isEmpty))
        }
    }

    @Test(
        "a carrier token asked under one scheme is no good under another",
        arguments: TransportUnderTest.allCases)
    func otherScheme(_ transport: TransportUnderTest) async throws {
        world.carrierAnswer.withLock { $0 = .failure(ServiceFailure(.deadlinePassed, "late")) }
        try await world.serve(over: transport) { callers in
            #expect(await failure(callers.owner, get())?.code == .carrierUnavailable)
            world.carrierAnswer.withLock { $0 = .success(World.number) }
            #expect(
                await failure(callers.rival, get(scheme: World.otherSchemeCode))?.code
                    == .tokenInvalid)
            let got = try await callers.owner.call(get())
            #expect(got.number == World.number)
        }
    }

    @Test(
        "a direct call that died with its process is carried on",
        arguments: TransportUnderTest.allCases)
    func resumed(_ transport: TransportUnderTest) async throws {
        let store = world.store()
        world.bus.on(ExchangeCarrierToken.self) { [world] request, _ in
            if world.references.withLock({
                $0.append(request.reference)
                return $0.count
            }) == 1 {
                store.crash()
            }
            return ExchangedToken(number: World.number, carrier: .mobile)
        }
        let context = CallContext(
            peer: try #require(Principal(roles: .integrator, name: "acme")),
            requestID: world.random.bytes(16), requestKey: "k",
            deadline: world.clock.steadyNow() + .seconds(6), method: GetNumber.method)
        let first = world.instance(store: store)
        await #expect(throws: ServiceFailure.self) { try await first.getNumber(get(), context) }
        world.clock.advance(.seconds(6))
        let second = world.instance()
        await second.resumeLost()
        #expect(world.references.withLock(\.count) == 2)
        try await world.serve([second], over: transport) { callers in
            let got = try await callers.owner.call(get(), CallOptions(requestKey: "k"))
            #expect(got.number == World.number)
            #expect(Set(world.references.withLock(\.self)).count == 1)
            #expect(world.references.withLock(\.count) == 2)
        }
    }

    @Test(
        "a token used before a key rotation is used after it",
        arguments: TransportUnderTest.allCases)
    func rotation(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let got = try await callers.owner.call(get())
            #expect(got.number == World.number)
        }
        let rotated = FakeCryptography(salt: 1, currentVersion: 2, versions: [1, 2])
        try await world.serve([world.instance(keys: rotated)], over: transport) { callers in
            #expect(await failure(callers.owner, get())?.code == .tokenInvalid)
        }
    }
}

@Suite("verification.status, run_status and statistics", .closesBuses)
struct ReadTests {
    private let world = World()

    @Test(
        "a step has passed once one of its tokens has; else the newest reason is told",
        arguments: TransportUnderTest.allCases)
    func runStatus(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let run = RunID.sample(3)
            func status(_ step: Int) async throws -> RunStatus {
                try await callers.scene.call(GetRunStatus(runId: run, step: step))
            }
            #expect(try await status(1) == RunStatus(passed: false))
            world.codeAnswer.withLock { $0 = .sample(.rejected, run: run) }
            let wrong = try await callers.scene.call(world.open(.code, run: run))
            #expect(
                try await status(1)
                    == RunStatus(passed: false, verificationId: wrong.verificationId))
            _ = try await callers.owner.call(VerifyMaskToken(maskToken: wrong.maskToken))
            #expect(
                try await status(1)
                    == RunStatus(
                        passed: false, verificationId: wrong.verificationId,
                        lastReason: .codeRejected))
            world.clock.advance(.seconds(1))
            let right = try await callers.scene.call(world.open(.carrier, run: run))
            _ = try await callers.owner.call(VerifyMaskToken(maskToken: right.maskToken))
            world.clock.advance(.seconds(1))
            _ = try await callers.scene.call(world.open(.carrier, run: run))
            #expect(
                try await status(1)
                    == RunStatus(
                        passed: true, verificationId: right.verificationId, number: World.number))
            #expect(try await status(2).passed == false)
            let refused = await #expect(throws: ServiceFailure.self) {
                try await callers.owner.call(GetRunStatus(runId: run, step: 1))
            }
            #expect(refused?.code == .notAllowed)
        }
    }

    @Test(
        "a verification is shown to its owner and to operators",
        arguments: TransportUnderTest.allCases)
    func status(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.code))
            let request = GetVerificationStatus(verificationId: opened.verificationId)
            let openedAt = world.clock.now().millisecondsSince1970
            #expect(try await callers.owner.call(request).state == .open)
            _ = try await callers.owner.call(VerifyMaskToken(maskToken: opened.maskToken))
            #expect(
                try await callers.operator.call(request)
                    == VerificationStatus(
                        verificationId: opened.verificationId, state: .passed,
                        schemeCode: World.schemeCode, templateId: World.template, runId: .sample,
                        nodeId: World.node, openedAtMilliseconds: openedAt,
                        decidedAtMilliseconds: openedAt,
                        expiresAtMilliseconds: opened.expiresAtMilliseconds))
            for (caller, id) in [
                (callers.rival, opened.verificationId), (callers.owner, VerificationID.sample(8)),
            ] {
                let failure = await #expect(throws: ServiceFailure.self) {
                    try await caller.call(GetVerificationStatus(verificationId: id))
                }
                #expect(failure?.code == .verificationNotFound)
            }
        }
    }

    @Test(
        "evaluations are counted by scheme, day and kind, replays and late calls are not",
        arguments: TransportUnderTest.allCases)
    func statistics(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let today = UTCDay(world.clock.now())
            let asked = GetVerificationStatistics(
                schemeCode: World.schemeCode, fromDay: today.text, toDay: today.next.text)
            #expect(try await callers.owner.call(asked).days.isEmpty)
            for _ in 0..<2 {
                let opened = try await callers.scene.call(world.open(.carrier))
                for _ in 0..<3 {
                    _ = try await callers.owner.call(VerifyMaskToken(maskToken: opened.maskToken))
                }
            }
            let refused = try await callers.scene.call(world.open(.carrier))
            _ = try await callers.owner.call(
                VerifyMaskToken(maskToken: refused.maskToken, number: World.otherNumber.e164))
            world.codeAnswer.withLock { $0 = .sample(.rejected) }
            let wrong = try await callers.scene.call(world.open(.code))
            _ = try await callers.owner.call(VerifyMaskToken(maskToken: wrong.maskToken))
            world.clock.advance(.seconds(86_400))
            _ = try await callers.owner.call(
                GetNumber(schemeCode: World.schemeCode, carrierToken: Secret("t")))
            _ = try await callers.rival.call(
                GetNumber(schemeCode: World.otherSchemeCode, carrierToken: Secret("u")))
            func day(
                _ day: UTCDay, _ kind: EvidenceKind, _ passed: Int, _ refused: Int, _ unknown: Int
            ) -> VerificationDay {
                VerificationDay(
                    day: day.text, kind: kind, passed: passed, refused: refused, unknown: unknown)
            }
            #expect(
                try await callers.owner.call(asked).days == [
                    day(today, .carrier, 2, 1, 0), day(today, .smsCode, 0, 0, 1),
                    day(today.next, .carrier, 1, 0, 0),
                ])
            let all = GetVerificationStatistics(
                fromDay: today.text, toDay: today.next.text)
            #expect(
                try await callers.operator.call(all).days == [
                    day(today, .carrier, 2, 1, 0), day(today, .smsCode, 0, 0, 1),
                    day(today.next, .carrier, 2, 0, 0),
                ])
            for (caller, request, code) in [
                (callers.owner, all, ErrorCode.invalidParameters),
                (callers.rival, asked, .schemeNotFound),
                (
                    callers.owner,
                    GetVerificationStatistics(
                        schemeCode: World.schemeCode, fromDay: "20270101", toDay: "20270201"),
                    .invalidParameters
                ),
                (
                    callers.owner,
                    GetVerificationStatistics(
                        schemeCode: World.schemeCode, fromDay: "20270102", toDay: "20270101"),
                    .invalidParameters
                ),
            ] {
                let failure = await #expect(throws: ServiceFailure.self) {
                    try await caller.call(request)
                }
                #expect(failure?.code == code)
            }
        }
    }

    @Test(
        "the sum over all schemes reads every row, page by page",
        arguments: TransportUnderTest.allCases)
    func everyScheme(_ transport: TransportUnderTest) async throws {
        let today = UTCDay(world.clock.now())
        let store = world.store()
        for number in 0..<2_500 {
            try await store.decide { rows in
                var count = DayCount(today, schemeCode: "FA\(number)", kind: .upgoing)
                count.count(.pass)
                rows.put(VerificationTables.days, count)
            }
        }
        try await world.serve(over: transport) { callers in
            let all = GetVerificationStatistics(fromDay: today.text, toDay: today.text)
            let days = try await callers.operator.call(all).days
            #expect(days.map(\.passed) == [2_500])
        }
    }

    @Test("F144 31 days on nothing is left but counts", arguments: TransportUnderTest.allCases)
    func sweep(_ transport: TransportUnderTest) async throws {
        try await world.serve(over: transport) { callers in
            let opened = try await callers.scene.call(world.open(.carrier))
            _ = try await callers.owner.call(VerifyMaskToken(maskToken: opened.maskToken))
            let store = world.store()
            world.clock.advance(.seconds(3 * 3600))
            _ = try await store.sweep(now: world.clock.now(), limit: 100)
            #expect(
                try await callers.scene.call(GetRunStatus(runId: .sample, step: 1)).passed,
                "the longest run still finds its PASS")
            world.clock.advance(.seconds(31 * 86_400))
            _ = try await store.sweep(now: world.clock.now(), limit: 100)
            #expect(world.disk.count(in: "verification") == 0)
            #expect(world.disk.count(in: "answer") == 0)
            #expect(world.disk.count(in: "verification_day") == 1)
        }
    }
}
