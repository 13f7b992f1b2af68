public import Primitives

/// Messages to one number on one day, newest first.
public struct GetSendDetails: BusRequest {
    public typealias Reply = SendDetails
    public static let method = Method(
        "smscode.details", .read, callers: [.integrator, .gateway, .service, .operator])
    /// Required unless the caller is an operator.
    public let schemeCode: String?
    public let number: String
    /// yyyyMMdd, UTC+0 unless `utcOffsetMinutes` says otherwise; the last 30 days.
    public let day: String
    public let utcOffsetMinutes: Int?
    public let messageId: MessageID?
    /// From 1.
    public let page: Int
    /// 1…100.
    public let pageSize: Int

    public init(
        schemeCode: String? = nil,
        number: String,
        day: String,
        utcOffsetMinutes: Int? = nil,
        messageId: MessageID? = nil,
        page: Int,
        pageSize: Int
    ) {
        self.schemeCode = schemeCode
        self.number = number
        self.day = day
        self.utcOffsetMinutes = utcOffsetMinutes
        self.messageId = messageId
        self.page = page
        self.pageSize = pageSize
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(day, in: 8...8, "day")
        try Check.range(page, in: 1...1000, "page")
        try Check.range(pageSize, in: 1...100, "pageSize")
        try Check.range(utcOffsetMinutes, in: -840...840, "utcOffsetMinutes")
    }
}

/// One message.
public struct SendDetail: Codable, Sendable, Hashable {
    public let messageId: MessageID
    /// The code, and values of `code`, as dots.
    public let content: String
    public let number: PhoneNumber
    public let delivery: DeliveryState
    /// The provider's word.
    public let reason: String?
    public let templateCode: String?
    public let outId: String?
    public let sentAtMilliseconds: Int64?
    public let deliveredAtMilliseconds: Int64?
    public let createdAtMilliseconds: Int64

    public init(
        messageId: MessageID,
        content: String,
        number: PhoneNumber,
        delivery: DeliveryState,
        reason: String? = nil,
        templateCode: String? = nil,
        outId: String? = nil,
        sentAtMilliseconds: Int64? = nil,
        deliveredAtMilliseconds: Int64? = nil,
        createdAtMilliseconds: Int64
    ) {
        self.messageId = messageId
        self.content = content
        self.number = number
        self.delivery = delivery
        self.reason = reason
        self.templateCode = templateCode
        self.outId = outId
        self.sentAtMilliseconds = sentAtMilliseconds
        self.deliveredAtMilliseconds = deliveredAtMilliseconds
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}

/// One page.
public struct SendDetails: Codable, Sendable, Hashable {
    public let total: Int
    public let details: [SendDetail]

    public init(total: Int, details: [SendDetail]) {
        self.total = total
        self.details = details
    }
}

/// Counts by day.
public struct GetSMSStatistics: BusRequest {
    public typealias Reply = SMSStatistics
    public static let method = Method(
        "smscode.statistics", .read, callers: [.integrator, .gateway, .service, .operator])
    /// Required unless the caller is an operator.
    public let schemeCode: String?
    /// yyyyMMdd, UTC.
    public let fromDay: String
    /// Inclusive; at most 31 days.
    public let toDay: String

    public init(schemeCode: String? = nil, fromDay: String, toDay: String) {
        self.schemeCode = schemeCode
        self.fromDay = fromDay
        self.toDay = toDay
    }

    public func validate() throws(ServiceFailure) {
        try Check.length(fromDay, in: 8...8, "fromDay")
        try Check.length(toDay, in: 8...8, "toDay")
    }
}

/// One day.
public struct SMSDay: Codable, Sendable, Hashable {
    public let day: String
    public let sent: Int
    public let delivered: Int
    public let failed: Int
    /// Codes accepted.
    public let accepted: Int
    /// Wrong guesses.
    public let rejected: Int

    public init(day: String, sent: Int, delivered: Int, failed: Int, accepted: Int, rejected: Int) {
        self.day = day
        self.sent = sent
        self.delivered = delivered
        self.failed = failed
        self.accepted = accepted
        self.rejected = rejected
    }
}

/// Days with at least one event, in order.
public struct SMSStatistics: Codable, Sendable, Hashable {
    public let days: [SMSDay]

    public init(days: [SMSDay]) {
        self.days = days
    }
}
