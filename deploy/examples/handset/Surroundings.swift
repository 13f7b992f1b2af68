import Foundation
package import FusionAuth

/// What the app shows. In a real one these are views.
package protocol Screen: AnyObject, Sendable {
    func show(_ message: String)
    func setLoading(_ isLoading: Bool)
    /// A page of the app's own, or of the web.
    func open(_ page: String)
    func becameActive()
    func gaveUp()
    func finished(_ event: FusionAuthEvent)
}

/// A value behind a lock.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// For callbacks that must return what only comes later. Never on the main thread.
enum Blocking {
    static func wait<Value: Sendable>(_ work: @escaping @Sendable () async -> Value?) -> Value? {
        let found = Locked<Value?>(nil)
        let operation = BlockOperation {}
        Task {
            let value = await work()
            found.with { $0 = value }
            OperationQueue().addOperation(operation)
        }
        operation.waitUntilFinished()
        return found.with { $0 }
    }
}
