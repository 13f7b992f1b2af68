import Foundation
import Messages

/// The files that older peers still send and expect: one per method, with every field set.
///
/// `UPDATE_GOLDEN=1 swift test --filter ContractTests` writes what is missing and adds new optional
/// fields. It never replaces a file that the current types cannot read and write unchanged: such a
/// change breaks running peers and needs a method of its own.
enum Golden {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let folder = root.appending(path: "Tests/Golden")
    static let documentName = "asyncapi.json"
    /// The gateway's tests hold it.
    static let clientDocumentName = "openapi.json"

    static var isUpdating: Bool {
        ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1"
    }

    static func read(_ name: String) -> Data? {
        try? Data(contentsOf: folder.appending(path: name))
    }

    static func write(_ data: Data, _ name: String) throws {
        try data.write(to: folder.appending(path: name), options: .atomic)
    }

    static var names: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }
}

struct GoldenFile<Request: BusRequest>: Codable {
    let method: String
    let request: Request
    let reply: Request.Reply

    static var name: String { "\(Request.method.name).json" }

    static func sample() throws -> Self {
        let (request, reply) = try MessageSchema.samples(of: Request.self)
        return Self(method: Request.method.name, request: request, reply: reply)
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }

    enum Fault: Error, CustomStringConvertible {
        case missing(String)
        case incompatible(String, String)
        case incomplete(String)

        var description: String {
            switch self {
            case .missing(let name):
                "Tests/Golden/\(name) is missing: write it with UPDATE_GOLDEN=1 and review it"
            case .incompatible(let name, let why):
                "Tests/Golden/\(name) is of running peers and cannot be read and written unchanged "
                    + "(\(why)): make a method .v2 instead"
            case .incomplete(let name):
                "Tests/Golden/\(name) lacks a new field: add it with UPDATE_GOLDEN=1"
            }
        }
    }

    /// What is wrong with the bytes of an existing file; nil when the current types read and write
    /// it.
    static func fault(_ data: Data?, complete: Data) -> Fault? {
        guard let data else { return .missing(name) }
        do {
            let read = try JSONDecoder().decode(Self.self, from: data)
            guard try read.encoded() == data else {
                return .incompatible(name, "written again it has other bytes")
            }
        } catch {
            return .incompatible(name, "\(error)")
        }
        return data == complete ? nil : .incomplete(name)
    }

    static func check() throws {
        let complete = try sample().encoded()
        guard let fault = fault(Golden.read(name), complete: complete) else { return }
        guard Golden.isUpdating else { throw fault }
        if case .incompatible = fault { throw fault }
        try Golden.write(complete, name)
    }
}
