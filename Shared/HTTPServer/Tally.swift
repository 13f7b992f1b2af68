import Effects

/// What began and ended since the server began. What is open is the difference of two of them.
struct Tally: Sendable, Hashable {
    var connectionsOpened: Int64 = 0
    var connectionsClosed: Int64 = 0
    /// Of addresses that had `connectionsPerAddressMax` open.
    var connectionsRefused: Int64 = 0
    var requestsBegun: Int64 = 0
    var requestsEnded: Int64 = 0
    var streamsBegun: Int64 = 0
    var streamsEnded: Int64 = 0

    /// The parts by the names of their counters.
    private var parts: KeyValuePairs<String, Int64> {
        [
            "http_connections_opened": connectionsOpened,
            "http_connections_closed": connectionsClosed,
            "http_connections_refused": connectionsRefused,
            "http_requests_begun": requestsBegun, "http_requests_ended": requestsEnded,
            "http_streams_begun": streamsBegun, "http_streams_ended": streamsEnded,
        ]
    }

    /// Counts what came since `told`, also where that is nothing: a counter that is missing and one
    /// that stands at 0 are not the same to who reads them.
    func tell(since told: Tally, _ metrics: any Metrics) {
        for (now, before) in zip(parts, told.parts) {
            metrics.add(now.value - before.value, to: now.key, labels: [])
        }
    }
}
