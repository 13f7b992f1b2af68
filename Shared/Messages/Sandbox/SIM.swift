public import Primitives

/// How a simulated SIM fails, if it does.
public enum SIMFault: String, Codable, Sendable, Hashable, CaseIterable {
    case none
    /// 1600007
    case noSIM = "no_sim"
    /// 1600008
    case noCellularData = "no_cellular_data"
    /// 1600011, carrier code 80801: Wi-Fi and mobile data could not be switched.
    case wifiSwitch = "wifi_switch"
    /// 1600025, carrier code 80006
    case permission
    /// 1600015
    case slow
    /// The token is fetched, the exchange is refused.
    case exchangeRefused = "exchange_refused"
    /// The token is fetched, the exchange does not answer in time.
    case exchangeSlow = "exchange_slow"
}

public enum Carrier: String, Codable, Sendable, Hashable, CaseIterable {
    case mobile, unicom, telecom, other
}

/// Makes or changes a simulated phone.
public struct PutSIM: BusRequest {
    public typealias Reply = SIM
    public static let method = Method(
        "sandbox.sim", .write, callers: [.operator, .service, .gateway])
    /// nil makes a new one.
    public let simId: SIMID?
    /// One per slot; two for dual SIM.
    public let numbers: [String]
    /// Which slot carries data; default 0.
    public let dataSlot: Int?
    public let carrier: Carrier?
    public let fault: SIMFault?
    /// Slow answers; at most 60000.
    public let delayMilliseconds: Int64?

    public init(
        simId: SIMID? = nil,
        numbers: [String],
        dataSlot: Int? = nil,
        carrier: Carrier? = nil,
        fault: SIMFault? = nil,
        delayMilliseconds: Int64? = nil
    ) {
        self.simId = simId
        self.numbers = numbers
        self.dataSlot = dataSlot
        self.carrier = carrier
        self.fault = fault
        self.delayMilliseconds = delayMilliseconds
    }

    public func validate() throws(ServiceFailure) {
        try Check.range(numbers.count, in: 1...4, "numbers")
        try Check.range(delayMilliseconds, in: 0...60_000, "delayMilliseconds")
    }
}

/// A simulated phone.
public struct SIM: Codable, Sendable, Hashable {
    public let simId: SIMID
    public let numbers: [PhoneNumber]
    public let dataSlot: Int
    public let carrier: Carrier
    public let fault: SIMFault
    public let delayMilliseconds: Int64

    public init(
        simId: SIMID,
        numbers: [PhoneNumber],
        dataSlot: Int,
        carrier: Carrier,
        fault: SIMFault,
        delayMilliseconds: Int64
    ) {
        self.simId = simId
        self.numbers = numbers
        self.dataSlot = dataSlot
        self.carrier = carrier
        self.fault = fault
        self.delayMilliseconds = delayMilliseconds
    }
}

/// What the carrier's client library does on the handset. Errors: `sim_not_found`.
public struct FetchCarrierToken: BusRequest {
    public typealias Reply = CarrierToken
    public static let method = Method(
        "sandbox.carrier_token", .write, callers: [.operator, .service, .gateway])
    /// One of the two.
    public let simId: SIMID?
    public let number: String?

    public init(simId: SIMID? = nil, number: String? = nil) {
        self.simId = simId
        self.number = number
    }
}

/// The token, or why there is none.
public struct CarrierToken: Codable, Sendable {
    /// Absent when it failed.
    public let carrierToken: Secret<String>?
    /// 1600000 success, else the documented failure.
    public let innerCode: Int
    public let carrierCode: Int?
    public let maskedNumber: String?
    public let carrier: Carrier

    public init(
        carrierToken: Secret<String>? = nil,
        innerCode: Int,
        carrierCode: Int? = nil,
        maskedNumber: String? = nil,
        carrier: Carrier
    ) {
        self.carrierToken = carrierToken
        self.innerCode = innerCode
        self.carrierCode = carrierCode
        self.maskedNumber = maskedNumber
        self.carrier = carrier
    }
}

/// The carrier's server side: token to number, once. Errors: `token_invalid`,
/// `carrier_unavailable`, `provider_refused`.
public struct ExchangeCarrierToken: BusRequest {
    public typealias Reply = ExchangedToken
    public static let method = Method(
        "sandbox.exchange", .write, callers: [.service])
    public let carrierToken: Secret<String>
    /// The same reference repeats the same answer.
    public let reference: String

    public init(carrierToken: Secret<String>, reference: String) {
        self.carrierToken = carrierToken
        self.reference = reference
    }
}

/// The number.
public struct ExchangedToken: Codable, Sendable, Hashable {
    public let number: PhoneNumber
    public let carrier: Carrier

    public init(number: PhoneNumber, carrier: Carrier) {
        self.number = number
        self.carrier = carrier
    }
}
