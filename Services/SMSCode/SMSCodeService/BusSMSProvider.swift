package import Bus
import Messages
package import Primitives

/// The development provider: hands texts to `sandbox.submit_sms`.
package struct BusSMSProvider: SMSProvider {
    package let name: String
    private let bus: any BusCaller

    package init(name: String = "sandbox", bus: any BusCaller) {
        self.name = name
        self.bus = bus
    }

    package func submit(
        reference: String, number: PhoneNumber, text: Secret<String>, timeout: Duration
    ) async -> SubmitOutcome {
        do throws(ServiceFailure) {
            let answer = try await bus.call(
                SubmitSMS(reference: reference, number: number, text: text),
                CallOptions(timeout: timeout))
            return answer.accepted ? .accepted : .refused(reason: answer.reason ?? "refused")
        } catch {
            switch error.code {
            case .notAllowed, .invalidParameters, .methodNotFound:
                return .refused(reason: error.code.rawValue)
            default:
                return .unavailable(
                    retryAfter: error.retryAfterMilliseconds.map { .milliseconds($0) })
            }
        }
    }
}
