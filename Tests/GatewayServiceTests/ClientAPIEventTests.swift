import Bus
import Foundation
import GatewayService
import HTTPTypes
import Messages
import Primitives
import TestKit
import Testing

/// Streams of events, with a clock that the test moves.
@Suite("Client API: events")
struct ClientAPIEventTests {
    private let world: ClientAPIWorld
    private static let path = "\(ClientAPIWorld.run)/events"

    init() throws { world = try ClientAPIWorld() }

    private static func event(_ sequence: Int64, _ name: String = "entered") -> SceneEvent {
        SceneEvent(sequence: sequence, atMilliseconds: 1, step: 1, name: name)
    }

    /// Answers scene.get from a list that the test fills; the last one stays.
    private func script(_ views: Lock<[Result<SceneView, ServiceFailure>]>) {
        world.bus.on(GetScene.self) { request, _ throws(ServiceFailure) in
            let next = views.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            let view = try next.get()
            let newer = view.events?.filter { $0.sequence > request.sinceSequence ?? 0 }
            return ClientAPIWorld.view(step: view.step, state: view.state, events: newer ?? [])
        }
    }

    private func script(_ views: SceneView...) {
        script(Lock(views.map { .success($0) }))
    }

    private typealias Next = @Sendable () async -> [UInt8]?

    private func open(_ headers: HTTPHeaders = ClientAPIWorld.known) async throws -> Next {
        let answer = await world.ask("GET", Self.path, headers)
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "text/event-stream")
        #expect(answer.headers["cache-control"] == "no-store")
        guard case .stream(let next) = answer.body else {
            throw ServiceFailure(.internalFault, "no stream")
        }
        return next
    }

    /// The next piece, with time moving as fast as the stream asks for it.
    private func piece(_ next: @escaping Next) async -> String? {
        let clock = world.clock
        let bytes = await withTaskGroup(of: [UInt8]??.self) { group in
            group.addTask { await next() }
            group.addTask {
                while !Task.isCancelled {
                    if clock.sleepersCount > 0 { clock.advance(.milliseconds(500)) }
                    await Task.yield()
                }
                return .some(.none)
            }
            let first = await group.next()
            group.cancelAll()
            return first.flatMap(\.self).flatMap(\.self)
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("events come once each, in order, and the end with the run's last view")
    func whole() async throws {
        script(
            ClientAPIWorld.view(events: [Self.event(1), Self.event(2, "code_sent")]),
            ClientAPIWorld.view(events: [Self.event(2)]),
            ClientAPIWorld.view(step: 2, state: .passed, events: [Self.event(3, "ended")]))
        let next = try await open()
        let first = try #require(await piece(next))
        #expect(first.hasPrefix(": open\n\nid: 1\nevent: entered\ndata: {"))
        #expect(first.contains("\n\nid: 2\nevent: code_sent\ndata: {"))
        let second = try #require(await piece(next))
        #expect(second.hasPrefix("id: 3\nevent: ended\ndata: {") && second.hasSuffix("}\n\n"))
        let end = try #require(await piece(next))
        #expect(end.hasPrefix("event: end\ndata: {"))
        let data = Data(end.dropFirst("event: end\ndata: ".count).utf8)
        let view = try JSONDecoder().decode(SceneView.self, from: data)
        #expect(view.state == .passed && view.step == 2 && view.events == nil)
        #expect(await next() == nil)
        #expect(await next() == nil)
    }

    @Test("a stream resumes after the event that the client saw last")
    func resume() async throws {
        script(ClientAPIWorld.view(state: .failed, events: [Self.event(1), Self.event(2)]))
        var headers = ClientAPIWorld.known
        headers.set("Last-Event-ID", "1")
        let next = try await open(headers)
        let first = try #require(await piece(next))
        #expect(!first.contains("id: 1\n") && first.contains("id: 2\n"))
        headers.set("Last-Event-ID", "2")
        let ended = try await open(headers)
        #expect(await piece(ended)?.contains("event: end\n") == true)
        #expect(await piece(ended) == nil)
        #expect(world.bus.requests(GetScene.self).map(\.sinceSequence) == [1, 2])
    }

    @Test(
        "a last id that is none is refused",
        arguments: ["-1", "x", "1.0", "1, 2", "99999999999999999999"])
    func lastIDs(_ id: String) async throws {
        var headers = ClientAPIWorld.known
        headers.set("Last-Event-ID", id)
        let answer = await world.ask("GET", Self.path, headers)
        #expect(try ClientAPIWorld.problem(answer).field == "Last-Event-ID")
        #expect(answer.status == 400)
    }

    @Test("the bus is asked once a second, with token and key; a silence is broken after 15 s")
    func pace() async throws {
        script(ClientAPIWorld.view(events: []))
        let next = try await open()
        #expect(await piece(next) == ": open\n\n")
        let before = world.clock.steadyNow()
        #expect(await piece(next) == ": still here\n\n")
        #expect(world.clock.steadyNow() - before == .seconds(15))
        #expect(await piece(next) == ": still here\n\n")
        let asked = world.bus.requests(GetScene.self)
        #expect(asked.count == 31)
        #expect(asked.allSatisfy { $0.authToken?.reveal() == ClientAPIWorld.token })
        #expect(asked.allSatisfy { $0.runKey?.reveal() == ClientAPIWorld.runKey })
    }

    @Test("more events than one answer holds are all told before the end")
    func pages() async throws {
        let all = (1...250).map { Self.event(Int64($0)) }
        world.bus.on(GetScene.self) { request, _ in
            let newer = all.filter { $0.sequence > request.sinceSequence ?? 0 }.prefix(100)
            return ClientAPIWorld.view(state: .passed, events: Array(newer))
        }
        let next = try await open()
        var text = ""
        while let piece = await next() { text += String(decoding: piece, as: UTF8.self) }
        #expect(text.components(separatedBy: "\nevent: entered").count == 251)
        #expect(text.contains("id: 250\n") && text.contains("event: end\n"))
        #expect(world.clock.steadyNow() == .zero)
    }

    @Test(
        "an expired or revoked token ends a stream, as does a run that is gone",
        arguments: [ErrorCode.tokenExpired, .tokenRevoked, .schemeDisabled, .runNotFound])
    func refusals(_ code: ErrorCode) async throws {
        script(
            Lock([
                .success(ClientAPIWorld.view(events: [])), .failure(ServiceFailure(code, "why")),
            ]))
        let next = try await open()
        #expect(await piece(next) == ": open\n\n")
        #expect(await piece(next) == ": \(code)\n\n")
        #expect(await piece(next) == nil)
    }

    @Test("what passes is borne for half a minute, and forgotten with the next answer")
    func weather() async throws {
        let away = ServiceFailure(.workerLost, "away")
        var views: [Result<SceneView, ServiceFailure>] = [
            .success(ClientAPIWorld.view(events: []))
        ]
        views += Array(repeating: .failure(away), count: 29)
        views += [.success(ClientAPIWorld.view(events: [Self.event(1)])), .failure(away)]
        script(Lock(views))
        let next = try await open()
        var pieces: [String] = []
        while let piece = await piece(next) { pieces.append(piece) }
        #expect(pieces.contains { $0.hasPrefix("id: 1\n") })
        #expect(pieces.last == ": worker_lost\n\n")
        // The first, those it bore, the answer between, those that ended it.
        let expected = [1, 29, 1, 30].reduce(0, +)
        #expect(world.bus.requests(GetScene.self).count == expected)
    }

    @Test("a wrong key, another token and an unknown run open no stream")
    func strangers() async throws {
        world.bus.on(GetScene.self) { _, _ throws(ServiceFailure) in
            throw ServiceFailure(.runNotFound, "there is no such run", field: "runId")
        }
        let answer = await world.ask("GET", Self.path)
        #expect(answer.status == 404)
        #expect(try ClientAPIWorld.problem(answer).code == "run_not_found")
        let bare = await world.ask("GET", Self.path, ClientAPIWorld.bearer)
        #expect(bare.status == 400)
    }

    @Test("a stream ends after two hours, whatever happens")
    func lifetime() async throws {
        script(ClientAPIWorld.view(events: []))
        let next = try await open()
        let before = world.clock.steadyNow()
        while await piece(next) != nil {}
        #expect(world.clock.steadyNow() - before == .seconds(7_200))
    }

    @Test("a run has four streams at once; a place is free when a stream is over or dropped")
    func places() async throws {
        script(ClientAPIWorld.view(events: []))
        var streams: [Next] = []
        for _ in 0..<4 { streams.append(try await open()) }
        let refused = await world.ask("GET", Self.path)
        #expect(refused.status == 429 && refused.headers["retry-after"] == "5")
        #expect(try ClientAPIWorld.problem(refused).code == "too_many")
        streams.removeLast()
        streams.append(try await open())
        script(ClientAPIWorld.view(state: .stopped, events: []))
        let next = streams[0]
        while await piece(next) != nil {}
        script(ClientAPIWorld.view(events: []))
        let again = try await open()
        #expect(await again() == Array(": open\n\n".utf8))
    }

    @Test("a gateway has a thousand streams at once")
    func gatewayPlaces() async throws {
        script(ClientAPIWorld.view(events: []))
        var streams: [HTTPResponse] = []
        for number in 0..<1_000 {
            let run = RunID(
                random: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 2 * 8)) })
            let peer = "192.0.2.\(number % 200)"
            streams.append(
                await world.ask("GET", "/client/v1/scenes/\(run)/events", peer: peer))
        }
        #expect(streams.map(\.status) == Array(repeating: 200, count: 1_000))
        let refused = await world.ask("GET", Self.path)
        #expect(refused.status == 503 && refused.headers["retry-after"] == "5")
        #expect(try ClientAPIWorld.problem(refused).code == "overloaded")
    }

    @Test("an address has sixty-four streams at once, and leaves room for others")
    func addressPlaces() async throws {
        script(ClientAPIWorld.view(events: []))
        func open(_ number: UInt8, _ peer: String) async -> HTTPResponse {
            let run = RunID(random: Array(repeating: number, count: 16))
            return await world.ask("GET", "/client/v1/scenes/\(run)/events", peer: peer)
        }
        var streams: [HTTPResponse] = []
        for number in 0..<64 {
            streams.append(await open(UInt8(number), "2001:db8::\(number)"))
        }
        #expect(streams.map(\.status) == Array(repeating: 200, count: 64))
        let refused = await open(64, "2001:db8::ffff")
        #expect(refused.status == 429 && refused.headers["retry-after"] == "5")
        #expect(try ClientAPIWorld.problem(refused).code == "too_many")
        #expect(await open(64, "2001:db8:0:1::1").status == 200)
        #expect(await open(64, "127.0.0.1").status == 200)
        streams.removeLast()
        #expect(await open(64, "2001:db8::ffff").status == 200)
    }

    @Test("a reader that goes is not waited for, and its place is free")
    func gone() async throws {
        script(ClientAPIWorld.view(events: []))
        let next = try await open()
        _ = await next()
        let clock = world.clock
        let last = await withTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { await next() }
            while clock.sleepersCount == 0 { await Task.yield() }
            group.cancelAll()
            return await group.next() ?? nil
        }
        #expect(last == nil && clock.sleepersCount == 0)
        #expect(await next() == nil)
        for _ in 0..<4 { _ = try await open() }
    }

    @Test("HEAD opens no stream")
    func head() async throws {
        script(ClientAPIWorld.view(events: []))
        var kept: [HTTPResponse] = []
        for _ in 0..<9 { kept.append(await world.ask("HEAD", Self.path)) }
        #expect(kept.allSatisfy { $0.status == 200 && $0.bytes == [] })
    }
}
