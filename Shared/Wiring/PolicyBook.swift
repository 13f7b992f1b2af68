package import Broker
package import DaemonKit
import Effects
import Glibc
import Majordomo
import Primitives

/// `etc/policy.toml` and `etc/peers.toml`: who is let in.
package struct PolicyBook: Sendable {
    private let home: Home

    package init(home: Home) { self.home = home }

    func policy() throws -> BrokerPolicy {
        try PolicyReader.read(try file(home.policyFile, PolicyFile.self), try peers())
    }

    package func peers() throws -> PeersFile { try file(home.peersFile, PeersFile.self) }

    private func file<T>(_ path: String, _ type: T.Type) throws -> T
    where T: DefaultedConfiguration {
        guard TextFile.exists(path) else { return T() }
        let text = String(decoding: try TextFile.read(path), as: UTF8.self)
        return try TomlFile.read(type, text, name: path)
    }

    // MARK: Telling that it was read

    private var stampFile: String { "\(home.run)/policy.read" }

    /// Which files these are: they are replaced whole, so another content is another inode or time.
    private var stamp: String {
        [home.policyFile, home.peersFile].map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return "none" }
            return "\(status.st_ino) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        }.joined(separator: "\n")
    }

    /// The broker calls it with what `stamp` was before it read.
    func readAndMark(_ use: (BrokerPolicy) -> Void) throws {
        let before = stamp
        use(try policy())
        try TextFile.write(stampFile, before, mode: 0o644)
    }

    /// Whether the broker has read the files as they are now.
    var isRead: Bool {
        guard let bytes = try? TextFile.read(stampFile) else { return false }
        return String(decoding: bytes, as: UTF8.self) == stamp
    }

    // MARK: Changing peers

    /// Refuses a second peer of one name or key.
    package func add(_ peer: PeersFile.Peer) throws {
        try change { peers in
            guard !peers.peer.contains(where: { $0.name == peer.name }) else {
                throw WiringProblem(
                    "there is a peer \(peer.name) already",
                    next: "fusionctl peer remove \(peer.name)")
            }
            peers.peer.append(peer)
        }
    }

    package func remove(_ name: String) throws {
        try change { peers in
            guard peers.peer.contains(where: { $0.name == name }) else {
                throw WiringProblem("there is no peer \(name)", next: "fusionctl peer list")
            }
            peers.peer.removeAll { $0.name == name }
        }
    }

    /// Reads, changes, judges and replaces the file while holding its lock, so that two commands at
    /// once both count.
    private func change(_ body: (inout PeersFile) throws -> Void) throws {
        let gate = open(home.peersFile + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard gate >= 0 else {
            throw WiringProblem("\(home.peersFile): \(String(cString: strerror(errno)))")
        }
        defer { close(gate) }
        while flock(gate, LOCK_EX) != 0, errno == EINTR {}
        var peers = try peers()
        try body(&peers)
        _ = try PolicyReader.read(try file(home.policyFile, PolicyFile.self), peers)
        try TextFile.write(home.peersFile, Self.text(peers), mode: 0o600)
    }

    static func text(_ peers: PeersFile) -> String {
        var text = """
            # Who may connect over tcp: one CURVE public key (Z85) and one role each. Written by
            # `fusionctl peer add` and `peer remove`; the broker reads it at SIGHUP.

            """
        for peer in peers.peer {
            let serve = peer.serve.map { quoted($0) }.joined(separator: ", ")
            let call = peer.call.map { quoted($0) }.joined(separator: ", ")
            text += """

                [[peer]]
                name = \(quoted(peer.name))
                role = \(quoted(peer.role))
                publicKey = \(quoted(peer.publicKey))
                serve = [\(serve)]
                call = [\(call)]

                """
        }
        return text
    }

    /// A basic string of TOML.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
