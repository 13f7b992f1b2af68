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
    /// The page stays as it is: it is for the person to try again or to leave.
    func leavesItToThePerson()
    /// The scene ends here, as it must where mask tokens are checked by hand.
    func leavesItToTheHand()
}

extension Screen {
    package func leavesItToThePerson() {}
    package func leavesItToTheHand() {}
}

/// For callbacks that must return what only comes later. Never on the main thread.
final class Blocking<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var value: Value??

    static func wait(_ work: @escaping @Sendable () async -> Value?) -> Value? {
        let blocking = Blocking()
        Task { blocking.set(await work()) }
        return blocking.get()
    }

    private func set(_ value: Value?) {
        condition.lock()
        defer { condition.unlock() }
        self.value = .some(value)
        condition.signal()
    }

    private func get() -> Value? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let value { return value }
            condition.wait()
        }
    }
}
