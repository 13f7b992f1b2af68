import CMicroHTTP
import Glibc
import Primitives
import Synchronization

/// One TCP connection.
final class Link: Sendable {
    /// Belongs to the library, which closes it after it told us.
    let descriptor: Int32
    let peerAddress: String
    /// What the address counts as: of IPv6 the first 64 bits, of which one customer has them all.
    let counted: String
    /// Microseconds of the coarse clock; `Int64.max` for none.
    private let deadline: Atomic<Int64>
    private let refused = Atomic(false)

    init(descriptor: Int32, peerAddress: String, deadline: Duration) {
        self.descriptor = descriptor
        self.peerAddress = peerAddress
        counted = Self.counted(peerAddress)
        self.deadline = Atomic(Self.microseconds(deadline))
    }

    init(connection: UnsafeMutableRawPointer, deadline: Duration) {
        descriptor = fusion_http_socket(connection)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isKnown = fusion_http_address(connection, &text, text.count) != 0
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        peerAddress = isKnown ? String(decoding: bytes, as: UTF8.self) : ""
        counted = Self.counted(peerAddress)
        self.deadline = Atomic(Self.microseconds(deadline))
    }

    /// Whatever goes over this connection next must be through by then.
    func expect(by deadline: Duration?) {
        self.deadline.store(deadline.map(Self.microseconds) ?? .max, ordering: .relaxed)
    }

    /// Nothing that came over it is looked at.
    var isRefused: Bool { refused.load(ordering: .relaxed) }

    /// The library notices and closes it.
    func refuse() {
        refused.store(true, ordering: .relaxed)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func isLate(_ now: Duration) -> Bool {
        deadline.load(ordering: .relaxed) < Self.microseconds(now)
    }

    private static func counted(_ address: String) -> String {
        ClientAddress(address)?.text ?? address
    }

    private static func microseconds(_ span: Duration) -> Int64 {
        let (seconds, attoseconds) = span.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

/// The connections that are open. The library closes a socket only after `remove`, so that whoever
/// holds the lock may use the descriptors in it.
final class LinkTable: Sendable {
    private struct Open {
        var links: [ObjectIdentifier: Link] = [:]
        /// Without those that were refused.
        var byAddress: [String: Int] = [:]
        var tally = Tally()
    }
    private let open = Lock(Open())

    /// Refuses the link when its address has as many as it may. The library has such a bound too,
    /// but tells nobody whom it turned away.
    func add(_ link: Link, perAddressMax: Int) {
        open.withLock { open in
            open.links[ObjectIdentifier(link)] = link
            guard open.byAddress[link.counted, default: 0] < perAddressMax else {
                open.tally.connectionsRefused += 1
                link.refuse()
                return
            }
            open.tally.connectionsOpened += 1
            open.byAddress[link.counted, default: 0] += 1
        }
    }

    func remove(_ link: Link) {
        open.withLock { open in
            open.links[ObjectIdentifier(link)] = nil
            guard !link.isRefused else { return }
            open.tally.connectionsClosed += 1
            let left = open.byAddress[link.counted, default: 1] - 1
            open.byAddress[link.counted] = left > 0 ? left : nil
        }
    }

    var count: Int { open.withLock { $0.links.count } }

    /// `tally` with what is known of connections.
    func counted(into tally: Tally) -> Tally {
        var tally = tally
        let mine = open.withLock { $0.tally }
        tally.connectionsOpened = mine.connectionsOpened
        tally.connectionsClosed = mine.connectionsClosed
        tally.connectionsRefused = mine.connectionsRefused
        return tally
    }

    /// Breaks the connections that are late; the library notices and closes them.
    /// - Returns: how many.
    func breakLate(_ now: Duration) -> Int {
        open.withLock { open in
            var count = 0
            for link in open.links.values where link.isLate(now) {
                shutdown(link.descriptor, Int32(SHUT_RDWR))
                link.expect(by: nil)
                count += 1
            }
            return count
        }
    }
}
