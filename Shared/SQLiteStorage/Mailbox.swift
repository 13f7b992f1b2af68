import Primitives

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A bounded queue that one thread sleeps on.
final class Mailbox<Item: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>
    private var items: BoundedQueue<Item>
    private var isClosed = false
    private var isWaiting = false

    enum Taken {
        case accepted, full, closed
    }

    init(countMax: Int) {
        items = BoundedQueue(countMax: countMax)
        mutex = .allocate(capacity: 1)
        arrival = .allocate(capacity: 1)
        let isReady =
            pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(arrival, nil) == 0
        precondition(isReady, "no mutex")
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(mutex)
        arrival.deallocate()
        mutex.deallocate()
    }

    func push(_ item: Item) -> Taken {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if isClosed { return .closed }
        guard items.push(item) else { return .full }
        if isWaiting { pthread_cond_signal(arrival) }
        return .accepted
    }

    /// Takes nothing new; what is inside is still handed out.
    func close() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        isClosed = true
        pthread_cond_signal(arrival)
    }

    /// Sleeps until something is inside; false once closed and empty.
    func waitForItems() -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while items.isEmpty, !isClosed {
            isWaiting = true
            pthread_cond_wait(arrival, mutex)
            isWaiting = false
        }
        return !items.isEmpty
    }

    /// What is inside now, at most `limit`.
    func take(_ limit: Int) -> [Item] {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var taken: [Item] = []
        while taken.count < limit, let item = items.pop() { taken.append(item) }
        return taken
    }
}
