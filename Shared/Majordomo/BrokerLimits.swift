/// Every bound of a broker, with its unit. The defaults are those of the bus's published behaviour.
package struct BrokerLimits: Hashable, Sendable {
    /// Requests waiting for workers, per service name.
    package var queuedPerServiceMax = 10_000
    /// Bytes of bodies waiting, per service name.
    package var queuedBytesPerServiceMax = 64 << 20
    /// Requests of one client that have no final reply yet.
    package var inFlightPerClientMax = 1_024
    /// Requests of all clients that have no final reply yet.
    package var requestsMax = 100_000
    /// Bytes of all bodies held, waiting or kept for a requeue.
    package var heldBytesMax = 512 << 20
    package var clientsMax = 65_536
    package var servicesMax = 4_096
    package var workersMax = 4_096
    /// Deliveries of one request, the first included.
    package var attemptsMax: UInt8 = 2
    /// How long a request for a name without workers waits.
    package var unknownServiceWait = Duration.seconds(5)
    /// The deadline of a request that names none, and how long a plain worker may take.
    package var requestTime = Duration.seconds(30)
    /// No deadline is further away than this.
    package var requestTimeMax = Duration.seconds(600)
    /// Silence towards a plain worker, at most.
    package var plainHeartbeat = Duration.seconds(2)
    /// Silence of an idle plain worker after which it is dead.
    package var plainSilence = Duration.seconds(10)
    /// A credit worker is dead after this many of its own heartbeat intervals.
    package var silentIntervalsMax = 4
    /// How long a credit worker's credit stays taken after its request's deadline, if it never
    /// answers.
    package var overrunMax = Duration.seconds(60)
    /// A client without requests is forgotten after this.
    package var clientIdle = Duration.seconds(10)
    /// A name without workers and requests is forgotten after this.
    package var serviceIdle = Duration.seconds(60)
    /// What an overloaded peer is told to wait.
    package var retryAfterMilliseconds: UInt32 = 100

    package init() {}
}

/// What a broker counted since it started.
package struct BrokerCounters: Hashable, Sendable {
    package var requests: Int64 = 0
    package var replies: Int64 = 0
    package var partials: Int64 = 0
    package var requeued: Int64 = 0
    package var workersLost: Int64 = 0
    package var workersLeft: Int64 = 0
    package var disconnectsSent: Int64 = 0
    /// Replies with a token of the past, or a second reply.
    package var repliesLate: Int64 = 0
    /// Replies with a token that was given to another worker.
    package var repliesForeign: Int64 = 0
    package var clientsUnreachable: Int64 = 0
    package var malformed = [Int64](repeating: 0, count: FrameProblem.allCases.count)
    package var failedDeadline: Int64 = 0
    package var failedNoService: Int64 = 0
    package var failedNotAllowed: Int64 = 0
    package var failedOverloaded: Int64 = 0
    package var failedWorkerLost: Int64 = 0

    package init() {}

    mutating func count(_ problem: FrameProblem) {
        for (index, each) in FrameProblem.allCases.enumerated() where each == problem {
            malformed[index] += 1
        }
    }
}
