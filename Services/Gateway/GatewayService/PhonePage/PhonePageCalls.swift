import Bus
import HTTPTypes
import Messages
import Primitives

/// The app's server: asks as the owner of the scheme, and so can do what that integrator can.
extension PhonePage {
    static let tokenLifetimeSeconds: Int64 = 1_800

    @Sendable func config(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        _ = try shapes.nothing.read(http)
        let scheme = try await schemes.scheme(scope)
        let app = try played(scheme, http)
        return JSONAnswer.make(
            200,
            PhonePageConfig(
                schemeCode: scheme.schemeCode, schemeName: scheme.name, platform: app.platform,
                app: app.name, tokenLifetimeSeconds: Self.tokenLifetimeSeconds))
    }

    @Sendable func token(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let body = try shapes.token.read(http)
        let scheme = try await schemes.scheme(scope)
        let app = try played(scheme, http)
        let isAndroid = app.platform == .android
        let issued = try await bus.call(
            IssueAuthToken(
                schemeCode: scheme.schemeCode, platform: app.platform,
                bundleId: app.platform == .ios ? app.name : nil,
                packageName: isAndroid ? app.name : nil,
                packageSign: isAndroid ? scheme.app.androidPackageSign : nil,
                origin: app.platform == .web ? app.name : nil,
                durationSeconds: Self.tokenLifetimeSeconds, boundNumber: body.boundNumber),
            scope.options(for: .integrator(scheme.owner)))
        return JSONAnswer.make(200, issued)
    }

    @Sendable func verify(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let body = try shapes.verify.read(http)
        let scheme = try await schemes.scheme(scope)
        let verified = try await bus.call(
            VerifyMaskToken(maskToken: body.maskToken, schemeCode: scheme.schemeCode),
            scope.options(for: .integrator(scheme.owner)))
        return JSONAnswer.make(200, verified)
    }

    private func played(
        _ scheme: Scheme, _ http: HTTPRequest
    ) throws(ServiceFailure) -> PlayedApp {
        guard let app = scheme.app.identity(at: http.headers["origin"]) else {
            throw ServiceFailure(
                .appMismatch, "the scheme admits neither an app nor this page's origin")
        }
        return app
    }
}

/// The phone and its network: the sandbox, asked as the gateway.
extension PhonePage {
    /// The carrier of a slow phone answers after up to 2.5 s; the page itself waits 3 s.
    static let carrierMax = Duration.seconds(4)

    @Sendable func sim(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let body = try shapes.sim.read(http)
        return JSONAnswer.make(200, try await bus.call(body, asGateway(scope)))
    }

    @Sendable func carrierToken(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let body = try shapes.carrierToken.read(http)
        let token = try await bus.call(
            FetchCarrierToken(simId: body.simId), asGateway(scope, timeout: Self.carrierMax))
        return JSONAnswer.make(200, token)
    }

    @Sendable func inbox(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let body = try shapes.inbox.read(http)
        try Check.range(body.numbers.count, in: 1...InboxBody.numbersMax, "numbers")
        var messages: [InboxMessage] = []
        for number in Set(body.numbers).sorted() {
            let inbox = try await bus.call(
                ReadInbox(number: number, afterSequence: body.afterSequence), asGateway(scope))
            messages += inbox.messages
        }
        return JSONAnswer.make(
            200, Inbox(messages: messages.sorted { $0.sequence < $1.sequence }))
    }

    @Sendable func sendMobileOriginated(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let body = try shapes.text.read(http)
        try Check.length(body.text, in: 1...TextBody.textBytesMax, "text")
        let received = try await bus.call(
            SendMobileOriginated(
                sender: body.sender, receiver: body.receiver, text: body.text),
            asGateway(scope))
        return JSONAnswer.make(200, received)
    }

    @Sendable func fault(
        _ http: HTTPRequest, _ scope: RequestScope
    ) async throws(ServiceFailure) -> HTTPResponse {
        let body = try shapes.fault.read(http)
        let done = try await bus.call(
            PutFault(number: body.number, fault: body.fault), asGateway(scope))
        return JSONAnswer.make(200, done)
    }

    /// Narrower than the gateway's account may be.
    func asGateway(_ scope: RequestScope, timeout: Duration? = nil) -> CallOptions {
        scope.options(
            for: OnBehalfOf(role: Roles.gateway.description, name: "phone-page"), timeout: timeout)
    }
}
