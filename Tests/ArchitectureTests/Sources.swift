import Foundation

/// The tree as it is on disk.
enum Sources {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct File {
        /// Below the root, with `/`.
        let path: String
        let lines: [Substring]
        var name: String { String(path.split(separator: "/").last ?? "") }
    }

    static func swiftFiles(in folder: String) -> [File] {
        let base = root.appending(path: folder)
        guard let walker = FileManager.default.enumerator(atPath: base.path) else { return [] }
        return walker.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
            .compactMap { relative in
                guard
                    let text = try? String(
                        contentsOf: base.appending(path: relative), encoding: .utf8)
                else { return nil }
                return File(
                    path: "\(folder)/\(relative)",
                    lines: text.split(separator: "\n", omittingEmptySubsequences: false))
            }
    }

    /// Modules that a text imports, whatever the access level or attribute in front.
    static func imports(_ lines: [Substring]) -> [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard let position = words.firstIndex(of: "import"), position <= 2,
                words[..<position].allSatisfy({
                    ["public", "package", "internal", "private", "fileprivate"].contains($0)
                        || $0.hasPrefix("@")
                }), position + 1 < words.count
            else { return nil }
            let kinds = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
            let rest = words[(position + 1)...].filter { !kinds.contains($0) }
            return rest.first.map { String($0.prefix { $0 != "." }) }
        }
    }
}

/// The rules as functions over text, so that each can be seen to refuse.
enum Rules {
    static func importFaults(_ file: Sources.File, _ room: ImportTable.Room) -> [String] {
        Sources.imports(file.lines)
            .filter { !room.modules.contains($0) && !room.system.contains($0) }
            .map { "\(file.path) may not import \($0): \(room.advice)" }
    }

    static func banFaults(_ file: Sources.File) -> [String] {
        var faults: [String] = []
        for (number, line) in file.lines.enumerated() {
            let code = line.prefix(while: { _ in true }).components(separatedBy: "//")[0]
            for entry in BanList.entries where !entry.exceptFiles.contains(file.name) {
                guard let range = code.range(of: entry.text) else { continue }
                let before =
                    range.lowerBound == code.startIndex
                    ? " " : code[code.index(before: range.lowerBound)]
                let isWhole =
                    !entry.text.first!.isLetter
                    || !(before.isLetter || before.isNumber || before == "_")
                if isWhole {
                    faults.append(
                        "\(file.path):\(number + 1) uses `\(entry.text)`; use \(entry.instead)")
                }
            }
        }
        return faults
    }

    static let fileLinesMax = 400
    static let testFileLinesMax = 800

    static func sizeFaults(_ file: Sources.File) -> [String] {
        let bound = file.path.hasPrefix("Tests/") ? testFileLinesMax : fileLinesMax
        return file.lines.count > bound + 1
            ? ["\(file.path) has \(file.lines.count) lines, \(bound) are allowed"] : []
    }
}
