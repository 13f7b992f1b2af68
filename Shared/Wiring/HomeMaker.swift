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
            if try setPort(portBase) { made.append("etc/fusion.toml: tcpPort = \(portBase)") }
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

    /// Changes the one line of the file that holds the port; the rest stays as it was written.
    private func setPort(_ port: Int) throws -> Bool {
        let text = String(decoding: try TextFile.read(home.configurationFile), as: UTF8.self)
        var section = ""
        var found = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("[") { section = String(line) }
            guard section.hasPrefix("[broker]"), line.hasPrefix("tcpPort") else {
                return String(line)
            }
            found = true
            return "tcpPort = \(port)"
        }
        guard found else {
            throw WiringProblem(
                "\(home.configurationFile) has no line that begins with tcpPort in [broker]",
                next: "add tcpPort = \(port) there")
        }
        let changed = lines.joined(separator: "\n")
        guard changed != text else { return false }
        try TextFile.write(home.configurationFile, changed, mode: 0o644)
        return true
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
