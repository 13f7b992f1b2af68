import CLinuxCalls
import Glibc
import Primitives

/// Notices clients that leave a stream while nothing is sent: the library does not look at a
/// connection that is suspended.
final class GoneWatch: Sendable {
    /// Of one wait.
    private static let eventsMax = 64

    private let epoll: Int32
    private let wakeup: Int32
    /// The ticket of `wakeup`; streams count from the next.
    private static let wakeupTicket: UInt64 = 0

    private struct Watched {
        /// By ticket, never by descriptor: the system gives a number to the next connection while an
        /// event of the last one may still be on its way. An entry goes before its descriptor is
        /// closed.
        var exchanges: [UInt64: Exchange] = [:]
        var lastTicket = GoneWatch.wakeupTicket
    }
    private let watched = Lock(Watched())

    init() throws(HTTPServerProblem) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else {
            throw .system(call: "epoll_create1", reason: String(cString: strerror(errno)))
        }
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeup >= 0 else {
            close(epoll)
            throw .system(call: "eventfd", reason: String(cString: strerror(errno)))
        }
        var event = epoll_event(
            events: EPOLLIN.rawValue, data: epoll_data_t(u64: Self.wakeupTicket))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event)
    }

    deinit {
        close(epoll)
        close(wakeup)
    }

    /// On the connection's thread, as `remove`.
    func add(_ exchange: Exchange) {
        guard exchange.watchTicket == nil else { return }
        let ticket = watched.withLock { watched in
            watched.lastTicket += 1
            watched.exchanges[watched.lastTicket] = exchange
            return watched.lastTicket
        }
        exchange.watchTicket = ticket
        // Once: what was seen is acted on, and a client that only stopped sending is gone too, since
        // it would not learn of a stream's end.
        var event = epoll_event(
            events: EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue,
            data: epoll_data_t(u64: ticket))
        epoll_ctl(epoll, EPOLL_CTL_ADD, exchange.link.descriptor, &event)
    }

    func remove(_ exchange: Exchange) {
        guard let ticket = exchange.watchTicket else { return }
        watched.withLock { $0.exchanges[ticket] = nil }
        exchange.watchTicket = nil
        var event = epoll_event()
        epoll_ctl(epoll, EPOLL_CTL_DEL, exchange.link.descriptor, &event)
    }

    /// Makes a `wait` return.
    func wake() {
        var one: UInt64 = 1
        _ = write(wakeup, &one, 8)
    }

    /// Ends the exchanges whose client has gone; returns after `span`, or after `wake`.
    func wait(_ span: Duration) { end(gone(span)) }

    /// The tickets of streams whose client has gone.
    func gone(_ span: Duration) -> [UInt64] {
        var events = [epoll_event](repeating: epoll_event(), count: Self.eventsMax)
        let milliseconds = max(1, Int32(clamping: Int64(span / .milliseconds(1))))
        let count = epoll_wait(epoll, &events, Int32(events.count), milliseconds)
        let tickets = events.prefix(Int(max(count, 0))).map(\.data.u64)
        if tickets.contains(Self.wakeupTicket) {
            var value: UInt64 = 0
            _ = read(wakeup, &value, 8)
        }
        return tickets.filter { $0 != Self.wakeupTicket }
    }

    func end(_ tickets: [UInt64]) {
        for ticket in tickets { watched.withLock { $0.exchanges[ticket] }?.abort() }
    }
}
