import Foundation
import GatewayService
import HTTPTypes
import TestKit
import Testing

@Suite("Client API: its OpenAPI document")
struct ClientAPIDocumentTests {
    private static let file = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Golden/openapi.json")

    private let world: ClientAPIWorld

    init() throws { world = try ClientAPIWorld() }

    private func served() async throws -> [UInt8] {
        let answer = await world.ask("GET", "/client/v1/openapi.json", [:])
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
        return try #require(answer.bytes)
    }

    private func document() async throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(try await served()))
        return try #require(value as? [String: Any])
    }

    @Test("the document on file is the one that is served, without a token")
    func golden() async throws {
        let made = Data(try await served())
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try made.write(to: Self.file, options: .atomic)
        }
        #expect(
            (try? Data(contentsOf: Self.file)) == made,
            "the types changed: write the document with UPDATE_GOLDEN=1 and review it")
    }

    @Test("every path and method of the edge is in it, and no other")
    func complete() async throws {
        let edge = try ClientAPI(bus: world.bus, clock: world.clock, pause: world.clock)
        let served = Set(
            edge.routes.filter { $0.method != "OPTIONS" }
                .map { "\($0.method.lowercased()) \($0.name.dropFirst("client.".count))" })
        let paths = try #require(try await document()["paths"] as? [String: [String: Any]])
        let written = Set(
            paths.values.flatMap { path in
                path.map { "\($0.key) \(($0.value as? [String: Any])?["operationId"] ?? "")" }
            })
        #expect(served == written && served.count == 9)
        for (path, methods) in paths {
            for method in methods.keys {
                let known = edge.routes.filter {
                    $0.pattern == PathPattern(path) && $0.method == method.uppercased()
                }
                #expect(known.count == 1, "\(method) \(path)")
            }
        }
    }

    @Test("bodies are closed, answers open; nothing that only services know is in it")
    func shapes() async throws {
        let components = try #require(try await document()["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        for name in [
            "StartSceneBody", "SubmitInputBody", "AnswerStepBody", "StopSceneBody", "NodeInput",
            "ClientCapabilities",
        ] { #expect(schemas[name]?["additionalProperties"] as? Bool == false, "\(name)") }
        for name in ["SceneView", "NodeView", "SceneEvent", "ClientSession", "Problem"] {
            #expect(schemas[name] != nil && schemas[name]?["additionalProperties"] == nil)
        }
        let text = String(decoding: try await served(), as: UTF8.self)
        #expect(!text.contains("boundNumber") && !text.contains("\"address\""))
    }
}
