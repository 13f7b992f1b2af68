import Glibc

/// Given once, it stays given; threads of the test wait for it.
final class Signal: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isGiven = false

    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func give() {
        pthread_mutex_lock(mutex)
        isGiven = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    func wait() {
        pthread_mutex_lock(mutex)
        while !isGiven { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }

    /// For tasks: no thread of the pool may be held.
    func given() async {
        await withCheckedContinuation { continuation in
            onThread {
                self.wait()
                continuation.resume()
            }
        }
    }
}
