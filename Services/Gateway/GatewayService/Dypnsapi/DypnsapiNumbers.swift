import Messages
import Primitives

/// Number authentication by a token that the carrier gave the handset: in an app, and in a page.
extension DypnsapiCall {
    /// How long the token of a page is good.
    static let pageTokenSeconds: Int64 = 3_600

    func getMobile() async throws(DypnsapiError) -> DypnsapiAnswer {
        ["GetMobileResultDTO": ["Mobile": .text(try await mobile("AccessToken"))]]
    }

    func getPhoneWithToken() async throws(DypnsapiError) -> DypnsapiAnswer {
        ["Data": ["Mobile": .text(try await mobile("SpToken"))]]
    }

    func verifyMobile() async throws(DypnsapiError) -> DypnsapiAnswer {
        ["GateVerifyResultDTO": try await match("AccessCode")]
    }

    func verifyPhoneWithToken() async throws(DypnsapiError) -> DypnsapiAnswer {
        ["GateVerify": try await match("SpToken")]
    }

    /// What a page begins with. Our client API takes one token; both fields carry it.
    func getAuthToken() async throws(DypnsapiError) -> DypnsapiAnswer {
        var origin = try parameters.required("Origin")
        if origin.hasSuffix("/") { origin.removeLast() }
        let request = IssueAuthToken(
            schemeCode: try scheme(parameters["SceneCode"] ?? parameters["SchemeCode"]),
            platform: .web, origin: origin, durationSeconds: Self.pageTokenSeconds)
        do throws(ServiceFailure) {
            let token = DypnsapiValue.text(try await ask(request).authToken)
            return ["TokenInfo": ["AccessToken": token, "JwtToken": token]]
        } catch {
            throw DypnsapiFailure.ofFusion(error)
        }
    }

    // MARK: -

    private func mobile(_ tokenParameter: String) async throws(DypnsapiError) -> String {
        let request = GetNumber(
            schemeCode: try scheme(parameters["SchemeCode"]),
            carrierToken: Secret(try parameters.required(tokenParameter)),
            outId: parameters["OutId"])
        do throws(ServiceFailure) {
            return DypnsapiNumber.shown(try await ask(request).number)
        } catch {
            throw DypnsapiFailure.ofNumber(error, tokenParameter: tokenParameter)
        }
    }

    /// A carrier that does not answer leaves it UNKNOWN, and the token good.
    private func match(_ tokenParameter: String) async throws(DypnsapiError) -> DypnsapiValue {
        let request = MatchNumber(
            schemeCode: try scheme(parameters["SchemeCode"]),
            carrierToken: Secret(try parameters.required(tokenParameter)),
            number: try DypnsapiNumber.typed(
                try parameters.required("PhoneNumber"), countryCode: parameters["CountryCode"]),
            outId: parameters["OutId"])
        do throws(ServiceFailure) {
            let matched = try await ask(request)
            return [
                "VerifyResult": .text(matched.result.rawValue),
                "VerifyId": .text(matched.verificationId.text),
            ]
        } catch {
            guard error.code != .carrierUnavailable else { return ["VerifyResult": "UNKNOWN"] }
            throw DypnsapiFailure.ofNumber(error, tokenParameter: tokenParameter)
        }
    }
}
