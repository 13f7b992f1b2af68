/// The one place that makes a task per request. A simulated world hands in its own executor.
package struct RequestPump: Sendable {
    private let executor: (any TaskExecutor)?

    package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

    package func start(_ body: @escaping @Sendable () async -> Void) {
        Task(executorPreference: executor) { await body() }
    }
}
