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
    /// By descriptor. An entry goes before its descriptor is closed.
    private let exchanges = Lock<[Int32: Exchange]>([:])

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
        var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: wakeup))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event)
    }

    deinit {
        close(epoll)
        close(wakeup)
    }

    /// On the connection's thread, as `remove`.
    func add(_ exchange: Exchange) {
        guard !exchange.isWatched else { return }
        exchange.isWatched = true
        let descriptor = exchange.link.descriptor
        exchanges.withLock { $0[descriptor] = exchange }
        // Once: what was seen is acted on, and a client that only stopped sending is gone too, since
        // it would not learn of a stream's end.
        var event = epoll_event(
            events: EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue,
            data: epoll_data_t(fd: descriptor))
        epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
    }

    func remove(_ exchange: Exchange) {
        let descriptor = exchange.link.descriptor
        exchanges.withLock { $0[descriptor] = nil }
        var event = epoll_event()
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
    }

    /// Makes a `wait` return.
    func wake() {
        var one: UInt64 = 1
        _ = write(wakeup, &one, 8)
    }

    /// Ends the exchanges whose client has gone; returns after `span`, or after `wake`.
    func wait(_ span: Duration) {
        var events = [epoll_event](repeating: epoll_event(), count: Self.eventsMax)
        let milliseconds = max(1, Int32(clamping: Int64(span / .milliseconds(1))))
        let count = epoll_wait(epoll, &events, Int32(events.count), milliseconds)
        for event in events.prefix(Int(max(count, 0))) {
            let descriptor = event.data.fd
            if descriptor == wakeup {
                var value: UInt64 = 0
                _ = read(wakeup, &value, 8)
            } else {
                exchanges.withLock { $0[descriptor] }?.abort()
            }
        }
    }
}
