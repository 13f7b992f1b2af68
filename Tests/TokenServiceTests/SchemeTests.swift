import Bus
import Effects
import Messages
import Primitives
import ServiceTestKit
import Storage
import TestKit
import Testing
import TokenService

@Suite("Schemes over the bus", .closesBuses)
struct SchemeTests {
    @Test(
        "a code is FA and 14 digits, the first version is 1, the caller owns it",
        arguments: TransportUnderTest.allCases)
    func create(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let scheme = try await world.caller(TokenWorld.alice).call(
                CreateScheme(name: "My app", app: exampleApp))
            #expect(scheme.schemeCode.hasPrefix("FA") && scheme.schemeCode.count == 16)
            #expect(Int64(scheme.schemeCode.dropFirst(2)) != nil)
            #expect(scheme.version == 1 && scheme.owner == "alice" && !scheme.disabled)
            #expect(scheme.policy == .standard && scheme.app == exampleApp)
            let forBob = try await world.caller(TokenWorld.olga).call(
                CreateScheme(name: "x", owner: "bob", app: exampleApp))
            #expect(forBob.owner == "bob" && forBob.schemeCode != scheme.schemeCode)
            let refused = await failure { () async throws(ServiceFailure) in
                try await world.caller(TokenWorld.alice).call(
                    CreateScheme(name: "x", owner: "bob", app: exampleApp))
            }
            #expect(refused?.code == .notAllowed && refused?.field == "owner")
        }
    }

    @Test(
        "owners see and change their own only; services read; operators may everything",
        arguments: TransportUnderTest.allCases)
    func owners(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            func codes(_ principal: Principal) async -> [ErrorCode?] {
                let caller = world.caller(principal)
                return [
                    await failure { () async throws(ServiceFailure) in
                        try await caller.call(GetScheme(schemeCode: code))
                    }?.code,
                    await failure { () async throws(ServiceFailure) in
                        try await caller.call(UpdateScheme(schemeCode: code, name: "y"))
                    }?.code,
                    await failure { () async throws(ServiceFailure) in
                        try await caller.call(DisableScheme(schemeCode: code, disabled: false))
                    }?.code,
                ]
            }
            #expect(
                await codes(TokenWorld.bob) == [.schemeNotFound, .schemeNotFound, .schemeNotFound])
            #expect(await codes(TokenWorld.scene) == [nil, .notAllowed, .notAllowed])
            #expect(await codes(TokenWorld.gateway) == [nil, .schemeNotFound, .schemeNotFound])
            #expect(await codes(TokenWorld.olga) == [nil, nil, nil])
            #expect(await codes(TokenWorld.alice) == [nil, nil, nil])
            let onBehalf = CallOptions(onBehalfOf: OnBehalfOf(role: "integrator", name: "bob"))
            let asBob = await failure { () async throws(ServiceFailure) in
                try await world.caller(TokenWorld.gateway).call(
                    GetScheme(schemeCode: code), onBehalf)
            }
            #expect(asBob?.code == .schemeNotFound)
        }
    }

    @Test(
        "an update makes a version; earlier ones stay readable with the present switch",
        arguments: TransportUnderTest.allCases)
    func versions(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let first = try await alice.call(
                CreateScheme(
                    name: "app", app: exampleApp, policy: SchemePolicy(codeLength: 4)))
            let code = first.schemeCode
            world.clock.advance(.seconds(60))
            let second = try await alice.call(
                UpdateScheme(
                    schemeCode: code, expectedVersion: 1, policy: SchemePolicy(codeLength: 8)))
            #expect(second.version == 2 && second.policy.codeLength == 8 && second.name == "app")
            #expect(second.updatedAtMilliseconds > second.createdAtMilliseconds)
            _ = try await alice.call(DisableScheme(schemeCode: code))
            let old = try await alice.call(GetScheme(schemeCode: code, version: 1))
            #expect(old.version == 1 && old.policy.codeLength == 4 && old.disabled)
            #expect(try await alice.call(GetScheme(schemeCode: code)).version == 2)
            for version in [0, 3, -1] as [Int64] {
                let absent = await failure { () async throws(ServiceFailure) in
                    try await alice.call(GetScheme(schemeCode: code, version: version))
                }
                #expect(absent?.code == .schemeNotFound && absent?.field == "version")
            }
            let stale = await failure { () async throws(ServiceFailure) in
                try await alice.call(
                    UpdateScheme(schemeCode: code, expectedVersion: 1, name: "z"))
            }
            #expect(stale?.code == .versionConflict && stale?.field == "expectedVersion")
            let same = try await alice.call(UpdateScheme(schemeCode: code, name: "app"))
            #expect(same.version == 2)
        }
    }

    @Test(
        "a version is gone 30 days after it was superseded, the present one never",
        arguments: TransportUnderTest.allCases)
    func versionRetention(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            _ = try await alice.call(UpdateScheme(schemeCode: code, name: "b"))
            world.clock.advance(.seconds(29 * 24 * 3600))
            _ = try await world.store().sweep(now: world.clock.now(), limit: 100)
            #expect(try await alice.call(GetScheme(schemeCode: code, version: 1)).name == "app")
            world.clock.advance(.seconds(2 * 24 * 3600))
            _ = try await world.store().sweep(now: world.clock.now(), limit: 100)
            #expect(try await alice.call(GetScheme(schemeCode: code)).name == "b")
            #expect(world.disk.count(in: "scheme_version") == 1)
        }
    }

    @Test(
        "of parallel updates of one version exactly one wins",
        arguments: TransportUnderTest.allCases)
    func parallelUpdates(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving(instances: 2) {
            let alice = world.caller(TokenWorld.alice)
            let code = try await alice.call(CreateScheme(name: "app", app: exampleApp)).schemeCode
            let outcomes = await withTaskGroup(of: ErrorCode?.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        await failure { () async throws(ServiceFailure) in
                            try await world.caller(TokenWorld.alice, seed: UInt64(number)).call(
                                UpdateScheme(
                                    schemeCode: code, expectedVersion: 1, name: "n\(number)"))
                        }?.code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == nil } == 1)
            #expect(outcomes.count { $0 == .versionConflict } == 15)
            #expect(try await alice.call(GetScheme(schemeCode: code)).version == 2)
        }
    }

    @Test(
        "a list is paged in order of the codes, each owner's own; operators see all",
        arguments: TransportUnderTest.allCases)
    func list(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            var made: [String] = []
            for owner in ["alice", "bob"] {
                for number in 0..<5 {
                    made.append(
                        try await world.caller(TokenWorld.olga).call(
                            CreateScheme(name: "s\(number)", owner: owner, app: exampleApp)
                        ).schemeCode)
                }
            }
            func pages(_ caller: any BusCaller, owner: String?) async throws -> [[String]] {
                var (pages, after) = ([[String]](), String?.none)
                repeat {
                    let page = try await caller.call(
                        ListSchemes(owner: owner, after: after, limit: 2))
                    pages.append(page.schemes.map(\.schemeCode))
                    after = page.next
                } while after != nil
                return pages
            }
            let alices = try await pages(world.caller(TokenWorld.alice), owner: nil)
            #expect(alices.map(\.count) == [2, 2, 1])
            #expect(alices.flatMap(\.self) == made.prefix(5).sorted())
            let all = try await pages(world.caller(TokenWorld.olga), owner: nil)
            #expect(all.flatMap(\.self) == made.sorted())
            let bobs = try await pages(world.caller(TokenWorld.olga), owner: "bob")
            #expect(bobs.flatMap(\.self) == made.suffix(5).sorted())
            let refused = await failure { () async throws(ServiceFailure) in
                try await world.caller(TokenWorld.alice).call(ListSchemes(owner: "bob"))
            }
            #expect(refused?.code == .notAllowed)
        }
    }

    @Test(
        "an owner registers so many schemes and no more; operators may add for it",
        arguments: TransportUnderTest.allCases)
    func ownersLimit(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        var configuration = TokenConfiguration()
        configuration.schemesPerOwnerMax = 2
        try await world.serving(configuration: configuration) {
            let alice = world.caller(TokenWorld.alice)
            for _ in 0..<2 { _ = try await alice.call(CreateScheme(name: "a", app: exampleApp)) }
            let refused = await failure { () async throws(ServiceFailure) in
                try await alice.call(CreateScheme(name: "a", app: exampleApp))
            }
            #expect(refused?.code == .tooMany)
            _ = try await world.caller(TokenWorld.olga).call(
                CreateScheme(name: "a", owner: "alice", app: exampleApp))
            #expect(world.disk.count(in: "scheme") == 3)
        }
    }

    @Test(
        "one request key registers one scheme; another body under it is a conflict",
        arguments: TransportUnderTest.allCases)
    func sameKey(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving(instances: 2) {
            let alice = world.caller(TokenWorld.alice)
            let options = CallOptions(requestKey: "init")
            let first = try await alice.call(CreateScheme(name: "a", app: exampleApp), options)
            #expect(
                try await alice.call(CreateScheme(name: "a", app: exampleApp), options) == first)
            let conflict = await failure { () async throws(ServiceFailure) in
                try await alice.call(CreateScheme(name: "b", app: exampleApp), options)
            }
            #expect(conflict?.code == .conflict)
            #expect(world.disk.count(in: "scheme") == 1)
        }
    }

    @Test(
        "F114 a policy that cannot be met is refused by name, and nothing is registered",
        arguments: TransportUnderTest.allCases)
    func refusedPolicy(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let refused = await failure { () async throws(ServiceFailure) in
                try await alice.call(
                    CreateScheme(
                        name: "a", app: exampleApp, policy: SchemePolicy(codeLength: 2)))
            }
            #expect(refused?.code == .policyRefused && refused?.field == "policy.codeLength")
            #expect(refused?.message.contains("⌊10⁻³ × 10^2⌋ = 0 charges") == true)
            let badApp = await failure { () async throws(ServiceFailure) in
                try await alice.call(
                    CreateScheme(name: "a", app: AppIdentity(androidPackageName: "com.a")))
            }
            #expect(badApp?.code == .invalidParameters && badApp?.field == "app.androidPackageSign")
            #expect(world.disk.count(in: "scheme") == 0)
        }
    }

    @Test(
        "F097 the answer of a save warns; reading the scheme does not repeat it",
        arguments: TransportUnderTest.allCases)
    func warnings(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        try await world.serving {
            let alice = world.caller(TokenWorld.alice)
            let body = "您的验证码是 ${code}" + String(repeating: "，请勿泄露", count: 14)
            let policy = SchemePolicy(wordings: [
                MessageWording(templateId: "100001", locale: "zh", body: body)
            ])
            let scheme = try await alice.call(
                CreateScheme(name: "a", app: exampleApp, policy: policy))
            #expect(scheme.warnings?.first?.contains("goes out in 2 parts") == true)
            let read = try await alice.call(GetScheme(schemeCode: scheme.schemeCode))
            #expect(read.warnings == nil && read.policy == policy)
        }
    }

    @Test("schemes outlive a restart", arguments: TransportUnderTest.allCases)
    func restart(_ transport: TransportUnderTest) async throws {
        let world = TokenWorld(transport)
        let scheme = try await world.serving {
            try await world.caller(TokenWorld.alice).call(CreateScheme(name: "a", app: exampleApp))
        }
        let again = TokenWorld(transport, disk: world.disk)
        try await again.serving {
            let alice = again.caller(TokenWorld.alice)
            let found = try await alice.call(GetScheme(schemeCode: scheme.schemeCode))
            #expect(found == scheme)
        }
    }
}
