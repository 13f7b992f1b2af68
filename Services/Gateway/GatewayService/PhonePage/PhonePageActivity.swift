import Bus
import HTTPTypes
package import Messages
import Primitives

/// A service whose counters are shown.
package protocol ShownService: Sendable { static var name: String { get } }

package enum ShownServices {
    package enum Token: ShownService { package static let name = "token" }
    package enum Scene: ShownService { package static let name = "scene" }
    package enum Verification: ShownService { package static let name = "verification" }
    package enum SMSCode: ShownService { package static let name = "smscode" }
    package enum Sandbox: ShownService { package static let name = "sandbox" }
}

/// `<service>.stats`, which every worker answers.
package struct ReadCounters<Service: ShownService>: BusRequest {
    package typealias Reply = StatsReply
    package static var method: Method {
        Method("\(Service.name).stats", .read, callers: [.operator, .service, .gateway])
    }
}

/// Which daemon did what: the counters of each, as they stand. Whoever asks twice sees what was
/// done in between.
extension PhonePage {
    /// A daemon that takes longer is shown as one that does not answer.
    static let activityMax = Duration.milliseconds(500)

    @Sendable func activity(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        _ = try shapes.nothing.read(http)
        let options = asGateway(scope, timeout: Self.activityMax)
        async let token = counters(ShownServices.Token.self, options)
        async let scene = counters(ShownServices.Scene.self, options)
        async let verification = counters(ShownServices.Verification.self, options)
        async let smsCode = counters(ShownServices.SMSCode.self, options)
        async let sandbox = counters(ShownServices.Sandbox.self, options)
        return JSONAnswer.make(
            200, Activity(daemons: await [token, scene, verification, smsCode, sandbox]))
    }

    /// Whether anything plays carriers and phones here.
    func isSandboxThere(_ scope: RequestScope) async -> Bool {
        await counters(ShownServices.Sandbox.self, asGateway(scope, timeout: Self.activityMax))
            .answers
    }

    private func counters<Service: ShownService>(
        _ service: Service.Type, _ options: CallOptions
    ) async -> DaemonActivity {
        do throws(ServiceFailure) {
            let stats = try await bus.call(ReadCounters<Service>(), options)
            return DaemonActivity(
                service: Service.name, answers: true, instance: stats.id,
                methods: stats.endpoints.map {
                    DaemonActivity.Calls(
                        name: $0.name, requests: $0.requestsCount, errors: $0.errorsCount,
                        microseconds: $0.processingMicroseconds)
                })
        } catch {
            return DaemonActivity(
                service: Service.name, answers: false, instance: nil, methods: [])
        }
    }
}
