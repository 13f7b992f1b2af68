import Foundation
import Testing

@Suite("The house keeps its walls")
struct ArchitectureTests {
    @Test("every source file imports only what its room may")
    func imports() {
        var faults: [String] = []
        for (folder, room) in ImportTable.rooms {
            let files = Sources.swiftFiles(in: folder)
            #expect(!files.isEmpty, "\(folder) has no source file: mend the table")
            faults += files.flatMap { Rules.importFaults($0, room) }
        }
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test("every folder with Swift sources in Shared and Services is a room of the table")
    func completeness() {
        let known = ImportTable.rooms.map(\.folder)
        let homeless = (Sources.swiftFiles(in: "Shared") + Sources.swiftFiles(in: "Services"))
            .map(\.path).filter { path in !known.contains { path.hasPrefix($0 + "/") } }
        #expect(homeless.isEmpty, "\(homeless)")
    }

    @Test("nothing outside Tests imports a test module")
    func testModules() {
        for file in Sources.swiftFiles(in: "Shared") + Sources.swiftFiles(in: "Services") {
            let found = Sources.imports(file.lines).filter(ImportTable.testModules.contains)
            #expect(found.isEmpty, "\(file.path) imports \(found)")
        }
    }

    @Test("the ban list holds in layers 0 to 3")
    func bans() {
        let faults = BanList.folders.flatMap(Sources.swiftFiles(in:)).flatMap(Rules.banFaults)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test("files stay small")
    func sizes() {
        let faults = ["Shared", "Services", "Tests"].flatMap(Sources.swiftFiles(in:))
            .flatMap(Rules.sizeFaults)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    // Each rule has been seen to refuse.

    @Test(
        "a planted import is refused, whatever stands in front of it",
        arguments: [
            "import CZeroMQ", "package import SQLiteStorage", "@testable import TokenService",
            "import struct Foundation.Date", "  internal import Foundation",
        ])
    func plantedImport(_ line: String) throws {
        let room = try #require(
            ImportTable.rooms.first { $0.folder == "Services/SMSCode/SMSCodeService" }?.room)
        let file = Sources.File(path: "x.swift", lines: ["import Bus", Substring(line)])
        #expect(Rules.importFaults(file, room).count == 1)
    }

    @Test(
        "a planted word is refused, in a comment it is not",
        arguments: ["let now = Date()", "Task { work() }", "let x = try! y()", "print(1)"])
    func plantedWord(_ line: String) {
        let planted = Sources.File(path: "x.swift", lines: [Substring(line)])
        let comment = Sources.File(path: "x.swift", lines: ["// " + Substring(line)])
        #expect(Rules.banFaults(planted).count == 1)
        #expect(Rules.banFaults(comment).isEmpty)
    }

    @Test("a planted long file is refused")
    func plantedSize() {
        let lines = [Substring](repeating: "", count: 500)
        #expect(Rules.sizeFaults(Sources.File(path: "Shared/x.swift", lines: lines)).count == 1)
        #expect(Rules.sizeFaults(Sources.File(path: "Tests/x.swift", lines: lines)).isEmpty)
    }
}
