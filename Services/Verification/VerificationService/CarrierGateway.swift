package import Bus
import Messages
package import Primitives

/// What a carrier says about a token.
package enum CarrierAnswer: Sendable, Hashable {
    case number(PhoneNumber)
    /// Definite: the token is unknown, used up or too old, or the carrier will not tell.
    case refused
    /// No answer within the time; it may have taken the token.
    case timedOut
    case unavailable
}

/// Port to the carriers: a token of the handset against the number of its SIM.
package protocol CarrierGateway: Sendable {
    /// Answers within `timeout`.
    /// - Parameter reference: stays the same when the same exchange is asked for again; the carrier
    /// then repeats its answer.
    func exchange(
        _ carrierToken: Secret<String>, reference: String, _ options: CarrierOptions
    ) async -> CarrierAnswer
}

/// How long a carrier may take, and the trace that it belongs to.
package struct CarrierOptions: Sendable {
    package let timeout: Duration
    package let traceID: [UInt8]
    package let spanID: [UInt8]

    package init(timeout: Duration, traceID: [UInt8] = [], spanID: [UInt8] = []) {
        self.timeout = timeout
        self.traceID = traceID
        self.spanID = spanID
    }
}

/// The carrier of the sandbox, over the bus.
package struct BusCarrierGateway: CarrierGateway {
    private let bus: any BusCaller

    package init(bus: any BusCaller) { self.bus = bus }

    package func exchange(
        _ carrierToken: Secret<String>, reference: String, _ options: CarrierOptions
    ) async -> CarrierAnswer {
        do throws(ServiceFailure) {
            let answer = try await bus.call(
                ExchangeCarrierToken(carrierToken: carrierToken, reference: reference),
                CallOptions(
                    timeout: options.timeout, traceID: options.traceID, spanID: options.spanID))
            return .number(answer.number)
        } catch {
            return switch error.code {
            case .tokenInvalid, .providerRefused, .invalidParameters: .refused
            case .deadlinePassed: .timedOut
            default: .unavailable
            }
        }
    }
}
