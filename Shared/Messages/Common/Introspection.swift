/// Every service answers these three under each of its names: `token.ping`, `token.info`,
/// `token.stats`.
/// Field names follow NATS ADR-32.
public struct PingReply: Codable, Sendable {
    public let name: String
    public let id: String
    public let version: String
    public init(name: String, id: String, version: String) {
        self.name = name
        self.id = id
        self.version = version
    }
}

public struct InfoReply: Codable, Sendable {
    public struct Endpoint: Codable, Sendable {
        public let name: String
        /// `read` or `write`.
        public let effect: String
        public let callers: [String]
        public init(name: String, effect: String, callers: [String]) {
            self.name = name
            self.effect = effect
            self.callers = callers
        }
    }
    public let name: String
    public let id: String
    public let version: String
    public let endpoints: [Endpoint]
    public init(name: String, id: String, version: String, endpoints: [Endpoint]) {
        self.name = name
        self.id = id
        self.version = version
        self.endpoints = endpoints
    }
}

public struct StatsReply: Codable, Sendable {
    public struct Endpoint: Codable, Sendable {
        public let name: String
        public let requestsCount: Int64
        public let errorsCount: Int64
        public let processingMicroseconds: Int64
        public init(
            name: String, requestsCount: Int64, errorsCount: Int64, processingMicroseconds: Int64
        ) {
            self.name = name
            self.requestsCount = requestsCount
            self.errorsCount = errorsCount
            self.processingMicroseconds = processingMicroseconds
        }
    }
    public struct Value: Codable, Sendable {
        public let name: String
        public let value: Double
        public init(name: String, value: Double) {
            self.name = name
            self.value = value
        }
    }
    public let name: String
    public let id: String
    public let startedAtMilliseconds: Int64
    public let endpoints: [Endpoint]
    public let metrics: [Value]
    public init(
        name: String, id: String, startedAtMilliseconds: Int64, endpoints: [Endpoint],
        metrics: [Value]
    ) {
        self.name = name
        self.id = id
        self.startedAtMilliseconds = startedAtMilliseconds
        self.endpoints = endpoints
        self.metrics = metrics
    }
}
