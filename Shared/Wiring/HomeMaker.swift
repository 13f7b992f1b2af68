import Cryptography
package import DaemonKit
import Glibc

/// `fusionctl init`: a home with everything that a daemon expects.
package struct HomeMaker: Sendable {
    package static let portBaseStandard = 5570

    private let home: Home

    package init(home: Home) { self.home = home }

    package var isComplete: Bool {
        let files = [home.configurationFile, home.policyFile, BrokerKey.file(home)]
        let rings = KeyRings.services.map { KeyRings.file(of: $0, in: home) }
        return (files + rings).allSatisfy(TextFile.exists)
    }

    /// Makes what is missing, and changes nothing that is there but the ports when they are given.
    /// - Returns: what was made, relative to the home.
    package func make(portBase: Int?) throws -> [String] {
        do throws(HomeProblem) {
            try makeParents()
            try home.create()
            try home.open()
        } catch {
            throw WiringProblem("\(error)")
        }
        var made: [String] = []
        func file(_ path: String, _ write: () throws -> Void) throws {
            guard !TextFile.exists(path) else { return }
            try write()
            made.append(String(path.dropFirst(home.path.count + 1)))
        }
        try file(home.configurationFile) {
            let text = StandardFiles.configuration(portBase: portBase ?? Self.portBaseStandard)
            try TextFile.write(home.configurationFile, text, mode: 0o644)
        }
        if let portBase, !made.contains("etc/fusion.toml") {
            made += try setPorts(portBase)
        }
        try file(home.policyFile) {
            let text = StandardFiles.policy(uid: geteuid())
            try TextFile.write(home.policyFile, text, mode: 0o644)
        }
        try file(home.peersFile) {
            try TextFile.write(home.peersFile, StandardFiles.peers, mode: 0o600)
        }
        try file(BrokerKey.file(home)) { try BrokerKey.create(home) }
        for service in KeyRings.services {
            let path = KeyRings.file(of: service, in: home)
            try file(path) { try KeyRingFile(path: path).create() }
        }
        return made
    }

    /// Changes the lines of the file that hold the ports; the rest stays as it was written.
    /// - Returns: what was changed.
    private func setPorts(_ portBase: Int) throws(WiringProblem) -> [String] {
        let bytes = try TextFile.read(home.configurationFile)
        let text = String(decoding: bytes, as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var changed: [String] = []
        for (section, field, port) in [
            ("[broker]", "tcpPort", portBase),
            ("[gateway]", "httpPort", StandardFiles.httpPort(portBase: portBase)),
        ] {
            guard let index = Self.line(of: field, in: section, lines) else {
                throw WiringProblem(
                    "\(home.configurationFile) has no line that begins with \(field) in \(section)",
                    next: "add \(field) = \(port) there")
            }
            guard lines[index] != "\(field) = \(port)" else { continue }
            lines[index] = "\(field) = \(port)"
            changed.append("etc/fusion.toml: \(field) = \(port)")
        }
        guard !changed.isEmpty else { return [] }
        try TextFile.write(
            home.configurationFile, lines.joined(separator: "\n"), mode: 0o644)
        return changed
    }

    private static func line(of field: String, in wanted: String, _ lines: [String]) -> Int? {
        var section = ""
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("[") { section = line }
            if section.hasPrefix(wanted), line.hasPrefix(field) { return index }
        }
        return nil
    }

    /// Folders above the home, as `mkdir -p` makes them.
    private func makeParents() throws(HomeProblem) {
        var path = ""
        for part in home.path.split(separator: "/").dropLast() {
            path += "/\(part)"
            if mkdir(path, 0o755) != 0, errno != EEXIST {
                throw .system(path: path, code: errno)
            }
        }
    }
}
