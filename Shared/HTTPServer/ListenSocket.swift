import Glibc

/// A bound and listening TCP socket of one address.
struct ListenSocket: Sendable {
    /// Connections that wait to be accepted.
    private static let backlogMax: Int32 = 1024

    let descriptor: Int32
    /// The one that was asked for, or the one that the system chose.
    let port: Int

    init(host: String, port: Int) throws(HTTPServerProblem) {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // Numbers only: no name service decides where we listen.
        hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let found else {
            throw .notAnAddress(host: host)
        }
        defer { freeaddrinfo(found) }
        let type =
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(found.pointee.ai_family, type, 0)
        guard descriptor >= 0 else { throw Self.fault("socket") }
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if found.pointee.ai_family == AF_INET6 {
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
        }
        do throws(HTTPServerProblem) {
            guard bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
                switch errno {
                case EADDRINUSE: throw .portTaken(host: host, port: port)
                case EADDRNOTAVAIL: throw .notAnAddress(host: host)
                default: throw Self.fault("bind to \(host) port \(port)")
                }
            }
            guard listen(descriptor, Self.backlogMax) == 0 else {
                throw errno == EADDRINUSE
                    ? .portTaken(host: host, port: port) : Self.fault("listen")
            }
            self.port = try Self.port(of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    private static func port(of descriptor: Int32) throws(HTTPServerProblem) -> Int {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0 else { throw fault("getsockname") }
        // The port lies at the same place for both families.
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                Int(UInt16(bigEndian: $0.pointee.sin_port))
            }
        }
    }

    private static func fault(_ call: String) -> HTTPServerProblem {
        .system(call: call, reason: String(cString: strerror(errno)))
    }
}
