import CMicroHTTP
import Glibc
import Primitives
import Synchronization

/// One TCP connection.
final class Link: Sendable {
    /// Belongs to the library, which closes it after it told us.
    let descriptor: Int32
    let peerAddress: String
    /// Microseconds of the coarse clock; `Int64.max` for none.
    private let deadline: Atomic<Int64>

    init(connection: UnsafeMutableRawPointer, deadline: Duration) {
        descriptor = fusion_http_socket(connection)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isKnown = fusion_http_address(connection, &text, text.count) != 0
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        peerAddress = isKnown ? String(decoding: bytes, as: UTF8.self) : ""
        self.deadline = Atomic(Self.microseconds(deadline))
    }

    /// Whatever goes over this connection next must be through by then.
    func expect(by deadline: Duration?) {
        self.deadline.store(deadline.map(Self.microseconds) ?? .max, ordering: .relaxed)
    }

    func isLate(_ now: Duration) -> Bool {
        deadline.load(ordering: .relaxed) < Self.microseconds(now)
    }

    private static func microseconds(_ span: Duration) -> Int64 {
        let (seconds, attoseconds) = span.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

/// The connections that are open. The library closes a socket only after `remove`, so that whoever
/// holds the lock may use the descriptors in it.
final class LinkTable: Sendable {
    private let links = Lock<[ObjectIdentifier: Link]>([:])

    func add(_ link: Link) { links.withLock { $0[ObjectIdentifier(link)] = link } }
    func remove(_ link: Link) { links.withLock { $0[ObjectIdentifier(link)] = nil } }
    var count: Int { links.withLock { $0.count } }

    /// Breaks the connections that are late; the library notices and closes them.
    /// - Returns: how many.
    func breakLate(_ now: Duration) -> Int {
        links.withLock { links in
            var count = 0
            for link in links.values where link.isLate(now) {
                shutdown(link.descriptor, Int32(SHUT_RDWR))
                link.expect(by: nil)
                count += 1
            }
            return count
        }
    }
}
