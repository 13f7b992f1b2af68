public import Primitives

/// A method of the bus: `service.verb`. The MDP service is the text before the last dot.
public struct Method: Hashable, Sendable, CustomStringConvertible {
    public enum Effect: Sendable { case read, write }

    /// For example `smscode.internal.redeem`.
    public let name: String
    /// For example `smscode.internal`.
    public let service: String
    /// For example `redeem`.
    public let verb: String
    /// Who may call it; the service judges this, the broker judges the service name.
    public let callers: Roles
    public let effect: Effect
    /// Used when the caller names no timeout.
    public let timeout: Duration

    public static let timeoutDefault = Duration.seconds(2)
    /// For methods that wait for a provider or a carrier.
    public static let timeoutLong = Duration.seconds(6)

    public init(
        _ name: String, _ effect: Effect, callers: Roles,
        timeout: Duration = Method.timeoutDefault
    ) {
        guard let dot = name.lastIndex(of: ".") else {
            preconditionFailure("a method is service.verb")
        }
        self.name = name
        service = String(name[..<dot])
        verb = String(name[name.index(after: dot)...])
        self.callers = callers
        self.effect = effect
        self.timeout = timeout
    }

    public var description: String { name }
}

/// A request of the schema. Its `Reply` is what a success answers; a refusal is a `ServiceFailure`.
public protocol BusRequest: Codable, Sendable {
    associatedtype Reply: Codable & Sendable
    static var method: Method { get }
    /// Judges ranges and shapes that the types do not hold.
    /// - Throws: `invalid_parameters` with the field.
    func validate() throws(ServiceFailure)
    /// What two requests under one request key must share: everything but the auth token.
    var comparisonBody: Self { get }
}

extension BusRequest {
    public func validate() throws(ServiceFailure) {}
    public var comparisonBody: Self { self }
}

/// Nothing to say.
public struct EmptyReply: Codable, Sendable, Hashable {
    public init() {}
}

/// Range checks that name the field.
public enum Check {
    public static func length(
        _ text: String?, in range: ClosedRange<Int>, _ field: String
    ) throws(ServiceFailure) {
        guard let text, !range.contains(text.utf8.count) else { return }
        throw ServiceFailure(
            .invalidParameters,
            "takes \(range.lowerBound) to \(range.upperBound) bytes of UTF-8", field: field)
    }

    public static func range<Value: Comparable & Sendable>(
        _ value: Value?, in range: ClosedRange<Value>, _ field: String
    ) throws(ServiceFailure) {
        guard let value, !range.contains(value) else { return }
        throw ServiceFailure(
            .invalidParameters, "must lie in \(range.lowerBound)…\(range.upperBound)", field: field)
    }

    public static func required(_ isPresent: Bool, _ field: String) throws(ServiceFailure) {
        guard isPresent else {
            throw ServiceFailure(.invalidParameters, "is missing", field: field)
        }
    }
}
