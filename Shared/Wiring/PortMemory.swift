import DaemonKit

/// The port that instance 1 of a daemon had last, for the one that follows it where any port will do:
/// an address that was printed or handed on stays good over a restart. It outlives the daemon, unlike
/// `run/endpoints.json`, which tells where somebody listens now.
struct PortMemory: Sendable {
    private let path: String

    init(home: Home, daemon: String) { path = home.portFile(daemon) }

    /// nil when there was none, or the file holds something else.
    var port: Int? {
        guard let bytes = try? TextFile.read(path),
            let port = Int(String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }),
            (1...65_535).contains(port)
        else { return nil }
        return port
    }

    func keep(_ port: Int) throws(WiringProblem) {
        guard port != self.port else { return }
        try TextFile.write(path, "\(port)\n", mode: 0o644)
    }
}
