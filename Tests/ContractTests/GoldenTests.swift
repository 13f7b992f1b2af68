import Foundation
import Messages
import Primitives
import Testing

@Suite("Golden messages")
struct GoldenTests {
    @Test("every method's golden file is read and written unchanged, with every field")
    func golden() {
        func check<Request: BusRequest>(_ type: Request.Type) {
            do { try GoldenFile<Request>.check() } catch { Issue.record("\(error)") }
        }
        for request in MessageCatalog.requests { check(request) }
    }

    @Test("no golden file is left without its method")
    func orphans() {
        let known =
            MessageCatalog.methods.map { "\($0.name).json" }
            + [Golden.documentName, Golden.clientDocumentName]
        #expect(Golden.names.filter { !known.contains($0) } == [])
    }

    @Test("a missing file, a lost field, another type and a new field are each told apart")
    func faults() throws {
        typealias File = GoldenFile<VerifyMaskToken>
        let complete = try File.sample().encoded()
        let text = String(decoding: complete, as: UTF8.self)
        func fault(_ text: String?) -> String? {
            File.fault(text.map { Data($0.utf8) }, complete: complete).map { "\($0)" }
        }
        #expect(fault(text) == nil)
        #expect(fault(nil)?.contains("is missing") == true)
        let extra = text.replacing(
            "\"maskToken\"", with: "\"extra\" : 1,\n    \"maskToken\"")
        #expect(fault(extra)?.contains("other bytes") == true)
        let retyped = text.replacing("\"phoneScore\" : 1", with: "\"phoneScore\" : \"1\"")
        #expect(retyped != text && fault(retyped)?.contains("cannot be read") == true)
        let shorter = text.replacing(",\n    \"phoneScore\" : 1", with: "")
        #expect(shorter != text && fault(shorter)?.contains("lacks a new field") == true)
    }
}

@Suite("Message catalogue")
struct CatalogTests {
    /// Who serves what; the daemons of the design.
    private static let owners: [String: String] = [
        "token": "fusion-token", "scheme": "fusion-token", "key": "fusion-token",
        "key.internal": "fusion-token",
        "verification": "fusion-verification", "verification.internal": "fusion-verification",
        "smscode": "fusion-smscode", "upgoing": "fusion-smscode",
        "smscode.internal": "fusion-smscode",
        "scene": "fusion-scene", "sandbox": "fusion-sandbox", "echo": "fusion-echo",
    ]

    @Test("a method has one name, an owner, a caller and a timeout")
    func methods() {
        let methods = MessageCatalog.methods
        #expect(Set(methods.map(\.name)).count == methods.count)
        for method in methods {
            #expect(Self.owners[method.service] != nil, "\(method) has no owner")
            #expect(!method.callers.isEmpty && method.timeout > .zero, "\(method)")
            let shape = method.name.wholeMatch(of: /[a-z]+(\.[a-z_]+)*(\.v[0-9]+)?/)
            #expect(shape != nil, "\(method) is not service.verb")
            #expect(!["ping", "info", "stats"].contains(method.verb), "\(method) is everybody's")
        }
    }

    @Test("every request of the sources is in the catalogue, and says what it is for")
    func sources() throws {
        let catalogued = Set(MessageCatalog.requests.map { String(describing: $0) })
        var found: [String] = []
        let folder = Golden.root.appending(path: "Shared/Messages")
        let walker = try #require(FileManager.default.enumerator(atPath: folder.path))
        for case let path as String in walker where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() {
                guard let match = line.firstMatch(of: /^public struct (\w+): BusRequest/) else {
                    continue
                }
                let name = String(match.1)
                found.append(name)
                #expect(catalogued.contains(name), "\(name) is not in MessageCatalog")
                let above = number > 0 ? lines[number - 1] : ""
                #expect(above.hasPrefix("///"), "\(path): \(name) has no doc comment")
            }
        }
        #expect(found.count == catalogued.count)
    }
}
