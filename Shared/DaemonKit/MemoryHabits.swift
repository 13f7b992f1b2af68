#if canImport(Glibc)
    import CLinuxCalls
#endif

/// How this process takes memory from the system and gives it back.
///
/// Left to itself glibc raises its threshold to the largest block ever freed (up to 32 MiB) and
/// keeps a heap for every thread; after a burst of large frames a daemon then holds tens of
/// megabytes for good (mallopt(3), M_MMAP_THRESHOLD and M_ARENA_MAX).
enum MemoryHabits {
    /// Blocks of this size and above are mapped, and returned when they are freed.
    private static let mappedBytesMin: Int32 = 256 * 1024
    /// Free memory at the end of the heap beyond this is returned.
    private static let keptBytesMax: Int32 = 512 * 1024
    /// One for the thread that owns sockets or files, one for the rest.
    private static let heapsMax: Int32 = 2

    /// Before the first thread is made.
    static func apply() {
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, mappedBytesMin)
            mallopt(M_TRIM_THRESHOLD, keptBytesMax)
            mallopt(M_ARENA_MAX, heapsMax)
        #endif
    }
}
