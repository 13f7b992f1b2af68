import Glibc

/// Bounds of one server, each with its unit.
package struct HTTPServerSettings: Sendable {
    /// One address of this machine: `127.0.0.1`, `::1`, or `0.0.0.0` where an operator wants all.
    package var host = "127.0.0.1"
    /// 0 takes any free port.
    package var port = 0
    /// PEM files; nil serves plain HTTP.
    package var identity: IdentityFiles?
    /// Threads that read, begin requests and write; each has its share of the connections.
    package var threadsCount = min(4, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    /// Further ones wait in the system's queue until one has ended.
    package var connectionsMax = 4096
    /// Further ones of that address are closed at once.
    package var connectionsPerAddressMax = 1024
    /// A connection that sends or takes nothing for so long is closed; not while it waits for us.
    package var idleSeconds = 30
    /// Request line and fields, without the empty line, that are always taken. What does not fit
    /// into this and `recordBytesMax` together is answered 431, or 414 when not even the target
    /// ends.
    package var headBytesMax = 32 * 1024
    /// Beside the head's bytes: the library's record of each field and of each part of a query, and
    /// the head of the answer. A head with very many of them is refused earlier.
    package var recordBytesMax = 8 * 1024
    /// A request has arrived, and an answer that is no stream is taken, within so long, however
    /// steadily its bytes drip; else the connection is closed.
    package var transferMax = Duration.seconds(30)
    /// Whole requests whose answer is not sent yet, streams included; one more is refused. Those
    /// whose body is still on its way are bounded by `connectionsMax` alone.
    package var requestsMax = 2048
    /// What is in hand when the server drains has so long.
    package var drainMax = Duration.seconds(8)

    package init() {}

    package struct IdentityFiles: Sendable, Hashable {
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }
}

/// Why a server cannot serve, and what a person does about it.
package enum HTTPServerProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case portTaken(host: String, port: Int)
    case notAnAddress(host: String)
    case identity(file: String, reason: String)
    case system(call: String, reason: String)

    package var description: String {
        switch self {
        case .portTaken(let host, let port):
            "\(host) port \(port) is taken by another program → choose another port, or stop what"
                + " listens there (ss -ltnp)"
        case .notAnAddress(let host):
            "\(host) is no address of this machine → name one, such as 127.0.0.1"
        case .identity(let file, let reason): "\(file): \(reason)"
        case .system(let call, let reason): "\(call): \(reason)"
        }
    }
}
