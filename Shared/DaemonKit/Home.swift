import CLinuxCalls

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

package enum HomeProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case missing(path: String)
    case socketPathTooLong(path: String, bytesCount: Int)
    case keysOpenToOthers(path: String)
    case system(path: String, code: Int32)

    package var description: String {
        switch self {
        case .missing(let path): "no home at \(path); make one with: fusionctl --home \(path) init"
        case .socketPathTooLong(let path, let count):
            "\(path) has \(count) bytes; a Unix socket's path has"
                + " \(Home.socketPathBytesMax) at most."
                + " Choose a home with a shorter path"
        case .keysOpenToOthers(let path): "\(path) must belong to this user with mode 0700"
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
        }
    }
}

/// The folder that a family of daemons lives in. It holds nothing but what is listed here.
package struct Home: Hashable, Sendable {
    /// Bytes, without the closing zero (sockaddr_un).
    package static let socketPathBytesMax = 107

    /// Absolute, without a slash at the end.
    package let path: String

    package init(path: String) { self.path = Self.absolute(path) }

    package var etc: String { "\(path)/etc" }
    package var keys: String { "\(path)/keys" }
    package var data: String { "\(path)/data" }
    package var run: String { "\(path)/run" }
    package var log: String { "\(path)/log" }

    package var configurationFile: String { "\(etc)/fusion.toml" }
    package var policyFile: String { "\(etc)/policy.toml" }
    package var peersFile: String { "\(etc)/peers.toml" }
    package var brokerSocket: String { "\(run)/broker.ipc" }
    package var endpointsFile: String { "\(run)/endpoints.json" }
    /// While the supervisor waits to start `daemon` again.
    package func waitingFile(_ daemon: String) -> String { "\(run)/\(daemon).waiting" }
    /// The last port of instance 1 that was not configured.
    package func portFile(_ daemon: String) -> String { "\(run)/\(daemon).port" }
    package func keyFile(_ name: String) -> String { "\(keys)/\(name)" }
    package func database(_ service: String) -> String { "\(data)/\(service).db" }
    package func pidFile(_ daemon: String, _ instance: String) -> String {
        "\(run)/\(daemon)-\(instance).pid"
    }
    package func logFile(_ daemon: String, _ instance: String) -> String {
        "\(log)/\(daemon)-\(instance).jsonl"
    }

    /// Makes the home with its folders; keys, run and data are the owner's alone. Does no harm to
    /// one that is there.
    package func create() throws(HomeProblem) {
        try make(path, 0o700)
        try makeFolders()
    }

    /// For a daemon: the home must be there; folders that are missing are made.
    package func open() throws(HomeProblem) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .missing(path: path)
        }
        let bytesCount = brokerSocket.utf8.count
        guard bytesCount <= Self.socketPathBytesMax else {
            throw .socketPathTooLong(path: brokerSocket, bytesCount: bytesCount)
        }
        try makeFolders()
        for folder in [keys, run] {
            guard stat(folder, &status) == 0 else { throw .system(path: folder, code: errno) }
            guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
                throw .keysOpenToOthers(path: folder)
            }
        }
    }

    private func makeFolders() throws(HomeProblem) {
        try make(etc, 0o755)
        for folder in [keys, data, run] { try make(folder, 0o700) }
        try make(log, 0o750)
    }

    private func make(_ folder: String, _ mode: mode_t) throws(HomeProblem) {
        if mkdir(folder, mode) != 0, errno != EEXIST { throw .system(path: folder, code: errno) }
    }

    private static func absolute(_ path: String) -> String {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        var whole = path
        if !path.hasPrefix("/"), let here = getcwd(nil, 0) {
            defer { free(here) }
            let rest = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
            whole = "\(String(cString: here))/\(rest)"
        }
        while whole.count > 1, whole.hasSuffix("/") { whole.removeLast() }
        return whole
    }
}

/// Which home: `--home`, else `$FUSION_HOME`, else `./.fusion`.
package enum HomeResolver {
    package static func resolve(flag: String?, environment: [String: String]) -> Home {
        for candidate in [flag, environment["FUSION_HOME"]] {
            if let candidate, !candidate.isEmpty { return Home(path: candidate) }
        }
        return Home(path: "./.fusion")
    }
}
