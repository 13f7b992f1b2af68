import Foundation
import Testing

@Suite("Field cases point at tests that exist")
struct FieldCaseTests {
    static let rows = [
        "F001", "F002", "F004", "F006", "F007", "F009", "F011", "F012", "F014", "F016",
        "F017", "F019", "F021", "F022", "F024", "F026", "F027", "F029", "F031", "F032",
        "F034", "F036", "F037", "F039", "F041", "F042", "F044", "F046", "F047", "F049",
        "F051", "F052", "F054", "F056", "F057", "F059", "F061", "F062", "F064", "F066",
        "F067", "F069", "F071", "F072", "F074", "F076", "F077", "F079", "F081", "F082",
        "F084", "F086", "F087", "F089", "F091", "F092", "F094", "F096", "F097", "F099",
        "F101", "F102", "F104", "F106", "F107", "F109", "F111", "F112", "F114", "F116",
        "F117", "F119", "F121", "F122", "F126", "F127", "F141", "F142", "F144", "F149",
        "F151", "F152", "F154", "F156", "F164", "F166", "F167",
    ]

    @Test("every row names tests or says why none is needed")
    func everyRow() throws {
        let cases = try FieldCases.read()
        #expect(cases.map(\.row) == Self.rows)
        for one in cases where one.tests.isEmpty {
            #expect(one.text.contains("Does not apply"), "\(one.row)")
        }
    }

    @Test("every test named is in its file")
    func everyTest() throws {
        let missing = try FieldCases.read().flatMap { one in
            one.tests.filter { !FieldCases.isThere($0) }.map { "\(one.row) \($0)" }
        }
        #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
    }

    @Test("a planted name is missed")
    func planted() {
        let line = "| F000 | `ArchitectureTests/FieldCaseTests.swift`: \"no such \" + \"test\" |"
        let planted = FieldCases.row(line.replacing("\" + \"", with: ""))
        #expect(planted?.tests.count == 1)
        #expect(planted?.tests.allSatisfy(FieldCases.isThere) == false)
    }
}

/// `Tests/FIELD-CASES.md` as data.
private enum FieldCases {
    struct Named: CustomStringConvertible {
        /// Below `Tests`.
        let file: String
        let name: String
        var description: String { "\(file): \(name)" }
    }
    struct Row {
        let row: String
        let text: String
        let tests: [Named]
    }

    static func read() throws -> [Row] {
        let path = Sources.root.appending(path: "Tests/FIELD-CASES.md")
        return try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
            .compactMap { row(String($0)) }
    }

    /// nil for a line that is no row of a case.
    static func row(_ line: String) -> Row? {
        let id = line.dropFirst(2).prefix(4)
        guard line.hasPrefix("| F"), id.dropFirst().allSatisfy(\.isNumber) else { return nil }
        let tests = line.matches(of: /`([^`]+)`: "([^"]+)"/).map {
            Named(file: String($0.1), name: String($0.2))
        }
        return Row(row: String(id), text: line, tests: tests)
    }

    /// A Swift test is known by the name it shows, a Python test by its function.
    static func isThere(_ test: Named) -> Bool {
        let path = Sources.root.appending(path: "Tests/\(test.file)")
        guard let text = try? String(contentsOf: path, encoding: .utf8) else { return false }
        return test.file.hasSuffix(".py")
            ? text.contains("def \(test.name)(") : text.contains("\"\(test.name)\"")
    }
}
