import Broker
package import DaemonKit
import Glibc
package import Primitives
import ZeroMQTransport

/// What the operator's tool does with a home.
package struct HomeControl: Sendable {
    package let home: Home

    package init(home: Home) { self.home = home }

    package func isProduction() throws(WiringProblem) -> Bool {
        let source = ConfigurationSource(
            file: home.configurationFile, isFileRequired: false,
            environment: Daemon.processEnvironment())
        if let first = source.problems.first { throw WiringProblem(first) }
        return source.isProduction
    }

    package func endpoints() -> EndpointsFile.Content? { EndpointsFile(home: home).read() }

    // MARK: The default scheme

    private var defaultSchemeFile: String { "\(home.etc)/default-scheme" }

    package func defaultScheme() -> String? {
        guard let bytes = try? TextFile.read(defaultSchemeFile) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        return text.isEmpty ? nil : text
    }

    package func setDefaultScheme(_ code: String) throws(WiringProblem) {
        try TextFile.write(defaultSchemeFile, code + "\n", mode: 0o644)
    }

    // MARK: Calling

    /// - Parameter peerFile: nil: as this Unix user, the way the home's own daemons do.
    package func access(peerFile: String?) throws -> BusAccess {
        if let peerFile { return try BusAccess([PeerFile(path: peerFile).endpoint()]) }
        let settings = ConfigurationSource(
            file: home.configurationFile, isFileRequired: false,
            environment: Daemon.processEnvironment()
        ).read(BusSettings.self)
        if let first = settings.problems.first { throw WiringProblem(first) }
        let isHere = instances().contains { $0.daemon == "fusion-broker" && $0.content.isAlive }
        if settings.configuration.brokers.isEmpty, !isHere {
            throw WiringProblem(
                "no broker runs in \(home.path)",
                next: "fusionctl up, or name another home with --home")
        }
        return try BusAccess(home: home, settings: settings.configuration)
    }

    // MARK: Processes

    package struct Instance: Sendable {
        package let daemon: String
        package let instance: String
        package let content: PidFile.Content
        /// Resident set; nil when the process is gone.
        package let memoryBytes: Int64?
    }

    /// In order of their file names.
    package func instances() -> [Instance] {
        runFiles(".pid").compactMap { name in
            let words = name.dropLast(4).split(separator: "-")
            guard words.count >= 3, let content = PidFile.read("\(home.run)/\(name)") else {
                return nil
            }
            // `fusion-token-1`: two words name the daemon, the rest the instance.
            return Instance(
                daemon: words.prefix(2).joined(separator: "-"),
                instance: words.dropFirst(2).joined(separator: "-"), content: content,
                memoryBytes: content.isAlive ? Self.memoryBytes(content.processID) : nil)
        }
    }

    /// Daemons that ended and that a living supervisor will start again.
    package func waitingDaemons() -> [String] {
        runFiles(".waiting").compactMap { name in
            let daemon = String(name.dropLast(".waiting".count))
            return PidFile.read(home.waitingFile(daemon))?.isAlive == true ? daemon : nil
        }
    }

    private func runFiles(_ ending: String) -> [String] {
        guard let folder = opendir(home.run) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(ending) { names.append(name) }
        }
        return names.sorted()
    }

    private static func memoryBytes(_ processID: Int32) -> Int64? {
        guard let bytes = try? TextFile.read("/proc/\(processID)/statm") else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return words.dropFirst().first.flatMap { Int64($0) }.map { $0 * Int64(getpagesize()) }
    }

    // MARK: Peers

    package struct NewPeer: Sendable {
        package let publicKey: String
        /// Absent when the peer brought its own public key.
        package let secretKey: Secret<String>?
        package let brokerKey: String
        package let isBrokerTold: Bool
    }

    package func addPeer(
        name: String, role: String, publicKey: String?, serve: [String], call: [String]
    ) throws -> NewPeer {
        var secretKey: Secret<String>?
        var key = publicKey ?? ""
        if publicKey == nil {
            let pair = CurveKeyPair.generate()
            key = Z85.encode(pair.publicKey)
            secretKey = Secret(Z85.encode(pair.secretKey.reveal()))
        }
        let broker = try BrokerKey.read(home)
        var peer = PeersFile.Peer()
        peer.name = name
        peer.role = role
        peer.publicKey = key
        peer.serve = serve
        peer.call = call
        try PolicyBook(home: home).add(peer)
        return NewPeer(
            publicKey: key, secretKey: secretKey, brokerKey: Z85.encode(broker.publicKey),
            isBrokerTold: tellBroker())
    }

    package func removePeer(_ name: String) throws {
        try PolicyBook(home: home).remove(name)
        _ = tellBroker()
    }

    package struct Peer: Sendable {
        package let name: String
        package let role: String
        package let publicKey: String
        package let serve: [String]
        package let call: [String]
    }

    package func peers() throws -> [Peer] {
        try PolicyBook(home: home).peers().peer.map {
            Peer(
                name: $0.name, role: $0.role, publicKey: $0.publicKey, serve: $0.serve,
                call: $0.call)
        }
    }

    /// How long a broker may take to read its policy again, in looks 5 ms apart.
    private static let looksMax = 600

    /// SIGHUP to the broker of this home, then waits until it says that it has read the files.
    /// - Returns: false when none runs, or when it kept its old policy (its log tells why).
    private func tellBroker() -> Bool {
        let brokers = instances().filter { $0.daemon == "fusion-broker" && $0.content.isAlive }
        guard brokers.contains(where: { kill($0.content.processID, SIGHUP) == 0 }) else {
            return false
        }
        let book = PolicyBook(home: home)
        for _ in 0..<Self.looksMax {
            if book.isRead { return true }
            usleep(5_000)
        }
        return false
    }
}
