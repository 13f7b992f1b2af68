import Glibc
import Primitives

/// A TCP server that a test makes: it says exactly what the test tells it to, and counts.
final class RawServer: Sendable {
    typealias Behaviour = @Sendable (RawConnection) -> Void

    let port: UInt16
    private let listener: Int32
    private let behaviour: Behaviour
    private let accepted = Lock(0)

    var url: String { "http://127.0.0.1:\(port)" }
    var connectionsCount: Int { accepted.withLock { $0 } }

    init(_ behaviour: @escaping Behaviour) {
        let (listener, port) = RawServer.listen(backlog: 512)
        self.listener = listener
        self.port = port
        self.behaviour = behaviour
        onThread { [self] in accept() }
    }

    /// A port of the loopback address that nobody listens on.
    static func freePort() -> UInt16 {
        let (listener, port) = listen(backlog: 1)
        close(listener)
        return port
    }

    /// Takes no connection any more; those that are open live on.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func accept() {
        while true {
            let socket = Glibc.accept(listener, nil, nil)
            guard socket >= 0 else {
                if errno == EINTR { continue }
                break
            }
            accepted.withLock { $0 += 1 }
            onThread { [behaviour] in
                behaviour(RawConnection(socket))
                close(socket)
            }
        }
        close(listener)
    }

    private static func listen(backlog: Int32) -> (Int32, UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length)
                Glibc.listen(listener, backlog)
                getsockname(listener, $0, &length)
            }
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// One accepted connection, read and written by its own thread.
final class RawConnection: Sendable {
    struct Request: Sendable {
        let head: String
        let body: [UInt8]
        var line: String { String(head.prefix { !$0.isNewline }) }
        /// Lines of the head that begin so, without case.
        func fields(_ name: String) -> [String] {
            head.split(whereSeparator: \.isNewline).map(String.init)
                .filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
        }
    }

    private let socket: Int32
    private let unread = Lock<[UInt8]>([])

    init(_ socket: Int32) { self.socket = socket }

    /// The next request; nil when the other end has closed.
    func read() -> Request? {
        let end = Array("\r\n\r\n".utf8)
        var bytes = unread.withLock { $0 }
        while true {
            if let found = bytes.firstRange(of: end) {
                let request = String(decoding: bytes[..<found.lowerBound], as: UTF8.self)
                let length = Self.length(request)
                let rest = bytes[found.upperBound...]
                if rest.count >= length {
                    unread.withLock { $0 = Array(rest.dropFirst(length)) }
                    return Request(head: request, body: Array(rest.prefix(length)))
                }
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            bytes += chunk.prefix(count)
        }
    }

    /// False when the other end has gone.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(
                    socket, $0.baseAddress?.advanced(by: offset), $0.count - offset,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    @discardableResult
    func answer(_ body: String, status: String = "200 OK", fields: String = "") -> Bool {
        write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    private static func length(_ head: String) -> Int {
        for line in head.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == "content-length" {
                return Int(parts[1].filter { !$0.isWhitespace }) ?? 0
            }
        }
        return 0
    }
}

extension Array where Element == UInt8 {
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard count >= part.count else { return nil }
        for start in 0...(count - part.count)
        where self[start] == part[0] && Array(self[start..<start + part.count]) == part {
            return start..<start + part.count
        }
        return nil
    }
}

func onThread(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    pthread_create(&thread, nil, run, box.toOpaque())
    pthread_detach(thread)
}

private func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}

private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
