package import Bus
package import Effects
package import HTTPTypes
import Primitives

/// CAMARA's One-Time-Password SMS v1 and Number Verification v2, for API clients with an access token
/// of a configured issuer. Its answers follow the two OpenAPI definitions and CAMARA's API Design
/// Guide, errors and refusals of the gateway included.
package struct CamaraEdge: Edge {
    static let mediaType = "application/json"

    package let prefixes = [OneTimePasswordSMS.base, NumberVerification.base]
    private let tokens: AccessTokenVerifier
    private let passwords: OneTimePasswordSMS
    private let numbers: NumberVerification
    private let metrics: any Metrics

    /// - Parameter signer: for SHA-256.
    package init(
        bus: any BusCaller, tokens: AccessTokenVerifier, phoneNumbers: any PhoneNumberParser,
        signer: any TokenSigner, pause: any Pause, metrics: any Metrics
    ) {
        self.tokens = tokens
        self.metrics = metrics
        let bus = NotedBus(bus)
        passwords = OneTimePasswordSMS(
            bus: bus, phoneNumbers: phoneNumbers, signer: signer, pause: pause)
        numbers = NumberVerification(bus: bus, phoneNumbers: phoneNumbers, signer: signer)
    }

    package var routes: [Route] {
        [
            route("send-code", "POST", OneTimePasswordSMS.base, OneTimePasswordSMS.scope) {
                call throws(CamaraError) in try await passwords.sendCode(call)
            },
            route("validate-code", "POST", OneTimePasswordSMS.base, OneTimePasswordSMS.scope) {
                call throws(CamaraError) in try await passwords.validateCode(call)
            },
            route("verify", "POST", NumberVerification.base, NumberVerification.verifyScope) {
                call throws(CamaraError) in try await numbers.verify(call)
            },
            route(
                "device-phone-number", "GET", NumberVerification.base,
                NumberVerification.readScope
            ) { call throws(CamaraError) in try await numbers.devicePhoneNumber(call) },
        ]
    }

    package func refuse(_ refusal: EdgeRefusal, _ scope: RequestScope) -> HTTPResponse {
        let error: CamaraError =
            switch refusal {
            case .notFound: .notFound
            case .methodNotAllowed: .methodNotAllowed
            case .badRequest: .invalid("The request is not well-formed HTTP.")
            case .bodyTooLarge: .bodyTooLarge
            case .unavailable: .unavailable
            }
        return correlated(error.response, Correlator(scope))
    }

    // MARK: -

    /// Every operation: correlator, token, scope, then its own rules.
    private func route(
        _ name: String, _ method: String, _ base: String, _ scopeWord: String,
        _ answer: @escaping @Sendable (CamaraCall) async throws(CamaraError) -> HTTPResponse
    ) -> Route {
        // A token of Number Verification is good for one call: HEAD would use it up for nothing.
        Route(
            "camara.\(name)", method, "\(base)/\(name)", bodyBytesMax: CamaraBody.bytesMax,
            answersHead: false
        ) { request, scope in
            let correlator = Correlator(scope)
            do throws(CamaraError) {
                guard correlator.isValid else {
                    throw .invalid("x-correlator does not fit its pattern.")
                }
                let token = try await token(of: request)
                guard token.claims.scopes.contains(scopeWord) else {
                    throw .scopeMissing(scopeWord)
                }
                let call = CamaraCall(request: request, scope: scope, token: token)
                return correlated(try await answer(call), correlator)
            } catch {
                return correlated(error.response, correlator)
            }
        }
    }

    private func correlated(_ response: HTTPResponse, _ correlator: Correlator) -> HTTPResponse {
        var response = response
        response.headers.set(Correlator.field, correlator.text)
        return response
    }

    private func token(of request: HTTPRequest) async throws(CamaraError) -> AccessToken {
        let given: Secret<String>
        do throws(ServiceFailure) {
            given = try BearerToken.read(
                request.headers, bytesMax: AccessTokenText.bytesMax)
        } catch {
            guard error != BearerToken.missing else { throw .tokenMissing }
            note(.malformed)
            throw .tokenRefused
        }
        do throws(AccessTokenProblem) {
            let token = try await tokens.admit(given.reveal())
            metrics.count(GatewaySignals.accessTokens, ("result", "ok"))
            return token
        } catch {
            note(error)
            throw error == .keysUnavailable ? .unavailable : .tokenRefused
        }
    }

    private func note(_ problem: AccessTokenProblem) {
        metrics.count(GatewaySignals.accessTokens, ("result", problem.rawValue))
    }
}

/// One call of an API client that was let in.
struct CamaraCall: Sendable {
    let request: HTTPRequest
    let scope: RequestScope
    let token: AccessToken

    /// For calls in the client's name.
    var options: CallOptions { scope.options(for: .integrator(token.owner)) }

    func json(_ status: Int, _ value: some Encodable) -> HTTPResponse {
        JSONAnswer.make(status, value, type: CamaraEdge.mediaType)
    }
}
