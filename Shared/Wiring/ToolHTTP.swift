import HTTPClient
package import HTTPTypes

/// HTTP calls of tools.
package enum ToolHTTP {
    /// A benchmark keeps as many calls under way, each on a connection of its own.
    package static let connectionsMax = 1024

    package static func caller() throws -> any HTTPCaller {
        var limits = HTTPClientLimits()
        limits.callsMax = connectionsMax
        limits.connectionsMax = connectionsMax
        limits.connectionsPerHostMax = connectionsMax
        return try HTTPClient(limits)
    }
}
